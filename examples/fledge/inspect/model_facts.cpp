#include "examples/fledge/inspect/model_facts.h"

#include <algorithm>
#include <cmath>

namespace fledge {

namespace {

/// √Σw² of the rows and columns of a matrix.
double norm_of_part(const Array& matrix, Dim first_row, Dim rows, Dim first_column, Dim columns) {
  double sum = 0;
  for (Dim row = first_row; row < first_row + rows; ++row)
    for (Dim column = first_column; column < first_column + columns; ++column) {
      const double w = value_of(matrix[row * matrix.dim(1) + column]);
      sum += w * w;
    }
  return std::sqrt(sum);
}

}  // namespace

ModelFacts facts_of(const LanguageModel& model) {
  ModelFacts facts{model.sizes, count_parameters(model), {}, {}};
  for (const auto& [name, tensor] : named_parameters(model)) {
    TensorFacts one{name, tensor.shape(), 0, 0};
    for (const double w : to_vector(tensor.value())) {
      one.norm += w * w;
      one.largest = std::max(one.largest, std::abs(w));
    }
    one.norm = std::sqrt(one.norm);
    facts.tensors.push_back(one);
  }
  const Dim C = model.sizes.width, H = model.sizes.heads, D = C / H;
  for (Dim layer = 0; layer < model.sizes.layers; ++layer) {
    const Attention& attn = model.h[static_cast<std::size_t>(layer)].attn;
    const Array qkv = attn.c_attn.weight.value(), output = attn.c_proj.weight.value();
    for (Dim head = 0; head < H; ++head)
      facts.heads.push_back({layer, head, norm_of_part(qkv, 0, C, head * D, D),
                             norm_of_part(qkv, 0, C, C + head * D, D),
                             norm_of_part(qkv, 0, C, 2 * C + head * D, D),
                             norm_of_part(output, head * D, D, 0, C)});
  }
  return facts;
}

}  // namespace fledge
