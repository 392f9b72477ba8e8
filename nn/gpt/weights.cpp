#include "nn/gpt/weights.h"

#include <algorithm>

#include "nn/gpt/config.h"
#include "nn/io/checksum.h"

namespace fledge {

namespace {

// GPT-2's models with an output head put "transformer." before all names.
std::string_view without_prefix(std::string_view name) {
  constexpr std::string_view prefix = "transformer.";
  return name.substr(0, prefix.size()) == prefix ? name.substr(prefix.size()) : name;
}

// h.N.attn.bias and h.N.attn.masked_bias hold the causal mask and its minus infinity.
bool is_mask(std::string_view name) {
  if (name.substr(0, 2) != "h.") return false;
  const std::size_t digits = name.find_first_not_of("0123456789", 2);
  if (digits == 2 || digits == std::string_view::npos) return false;
  const std::string_view rest = name.substr(digits);
  return rest == ".attn.bias" || rest == ".attn.masked_bias";
}

constexpr const char* rule = "its tensors must be those of the model that config.json describes";

// The tensors of a file that belong to the parameters of a model, in the order of the parameters.
struct Match {
  std::vector<const StoredTensor*> tensors;
  const StoredTensor* head = nullptr;  // lm_head.weight, if the file has it
};

Match match(const StoredHeader& header, const LanguageModelSizes& sizes) {
  Match result;
  TensorDifferences differences;
  std::map<std::string_view, const StoredTensor*> stored;
  for (const StoredTensor& tensor : header.tensors) {
    const std::string_view name = without_prefix(tensor.name);
    if (name == "lm_head.weight")
      result.head = &tensor;
    else if (!is_mask(name) && !stored.emplace(name, &tensor).second)
      differences.add(in_quotes(name) + " stands twice, once behind 'transformer.'");
  }
  result.tensors = find_tensors(std::move(stored), weight_shapes(sizes), differences);
  if (result.head != nullptr)
    find_tensors({{result.head->name, result.head}},
                 {{result.head->name, {sizes.vocabulary, sizes.width}}}, differences);
  differences.require_none(rule);
  return result;
}

// All numbers must be finite, and the output projection must be equal to the word table.
void require_numbers(std::string_view file, const Match& match) {
  TensorDifferences differences;
  for (const StoredTensor* tensor : match.tensors) try {
      if (const auto at = first_not_finite(file, *tensor))
        differences.add(in_quotes(tensor->name) + " holds a number that is not finite, at " +
                        std::to_string(*at));
    } catch (const FormatError& error) {
      differences.add(error.what());
    }
  differences.require_none(rule);
  if (match.head == nullptr) return;
  const Array head = stored_array(file, *match.head), table = stored_array(file, *match.tensors[0]);
  for (Dim i = 0; i < head.size(); ++i)
    if (!(head[i] == table[i])) {
      differences.add(in_quotes(match.head->name) +
                      " is not wte.weight, as it must be here: they differ at " +
                      std::to_string(i));
      break;
    }
  differences.require_none(rule);
}

}  // namespace

void TensorDifferences::add(const std::string& difference) {
  constexpr int most = 20;
  if (++count_ <= most) list_ += (count_ == 1 ? ": " : "; ") + difference;
  more_ = count_ > most ? "; and " + std::to_string(count_ - most) + " more differences" : "";
}

void TensorDifferences::require_none(const std::string& requirement) const {
  if (count_ > 0) throw FormatError(requirement + list_ + more_);
}

std::vector<const StoredTensor*> find_tensors(
    std::map<std::string_view, const StoredTensor*> stored, const NamedShapes& expected,
    TensorDifferences& differences) {
  std::vector<const StoredTensor*> result;
  for (const auto& [name, shape] : expected) {
    const auto found = stored.find(name);
    result.push_back(found == stored.end() ? nullptr : found->second);
    if (found == stored.end()) {
      differences.add(in_quotes(name) + " of shape " + to_string(shape) + " is missing");
      continue;
    }
    const Shape& stored_shape = found->second->shape;
    if (stored_shape != shape)
      differences.add(in_quotes(name) + " has shape " + to_string(stored_shape) +
                      ", in the model " + to_string(shape));
    stored.erase(found);
  }
  for (const auto& [name, tensor] : stored)
    differences.add(in_quotes(name) + " of shape " + to_string(tensor->shape) +
                    " is not in the model");
  return result;
}

std::string weights_bytes(const LanguageModel& model,
                          const std::map<std::string, std::string>& metadata) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : named_parameters(model))
    arrays.push_back({name, tensor.value()});
  return bytes_with_checksum(std::move(arrays), metadata);
}

NamedShapes weight_shapes(const LanguageModelSizes& sizes) {
  const Dim C = sizes.width, hidden = sizes.hidden > 0 ? sizes.hidden : 4 * C;
  NamedShapes shapes{{"wte.weight", {sizes.vocabulary, C}}, {"wpe.weight", {sizes.context, C}}};
  const auto linear = [&](const std::string& name, Dim in, Dim out) {
    shapes.emplace_back(name + ".weight", Shape{in, out});
    if (sizes.bias == Bias::with) shapes.emplace_back(name + ".bias", Shape{out});
  };
  const auto norm = [&](const std::string& name) {
    shapes.emplace_back(name + ".weight", Shape{C});
    shapes.emplace_back(name + ".bias", Shape{C});
  };
  for (Dim layer = 0; layer < sizes.layers; ++layer) {
    const std::string block = "h." + std::to_string(layer);
    norm(block + ".ln_1");
    linear(block + ".attn.c_attn", C, 3 * C);
    linear(block + ".attn.c_proj", C, C);
    norm(block + ".ln_2");
    linear(block + ".mlp.c_fc", C, hidden);
    linear(block + ".mlp.c_proj", hidden, C);
  }
  norm("ln_f");
  return shapes;
}

void require_weights(const StoredHeader& header, const LanguageModelSizes& sizes) {
  match(header, sizes);
}

std::uint64_t most_weights_bytes(const LanguageModelSizes& sizes) {
  const auto number = [](Dim size) { return static_cast<double>(size); };
  const double V = number(sizes.vocabulary), C = number(sizes.width), T = number(sizes.context);
  const double bytes = 8 * (parameter_count(sizes) + V * C + number(sizes.layers) * (T * T + 1)) +
                       static_cast<double>(most_header_bytes);
  return static_cast<std::uint64_t>(std::min(bytes, 1e15));
}

void load_weights(const LanguageModel& model, std::string_view file, const StoredHeader& header) {
  const Match found = match(header, model.sizes);
  require_numbers(file, found);
  std::vector<Real*> places;  // write() may throw, so it is called for all before any is changed
  for (const Tensor& parameter : parameters(model)) places.push_back(parameter.write());
  for (std::size_t i = 0; i < places.size(); ++i) read_numbers(file, *found.tensors[i], places[i]);
}

Bias bias_in(const StoredHeader& header) {
  const bool found =
      std::any_of(header.tensors.begin(), header.tensors.end(), [](const StoredTensor& tensor) {
        return without_prefix(tensor.name) == "h.0.attn.c_attn.bias";
      });
  return found ? Bias::with : Bias::without;
}

}  // namespace fledge
