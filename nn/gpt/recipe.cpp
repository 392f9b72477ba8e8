#include "nn/gpt/recipe.h"

#include "engine/autograd.h"
#include "nn/gpt/language_model.h"

namespace fledge {

namespace {

using Columns = HeldParameters::Columns;

// All columns of each parameter.
std::vector<Columns> columns_of(const auto& module) {
  std::vector<Columns> columns;
  for (const Tensor& p : parameters(module)) columns.push_back({p, 0, p.dim(-1)});
  return columns;
}

enum class Part { query, key, value };  // of c_attn

// The columns of c_attn's weight and bias that compute this part.
std::vector<Columns> columns_of(const Attention& attn, Part part) {
  const Dim C = attn.c_proj.weight.dim(0), own = attn.key_width();
  std::vector<Columns> columns = columns_of(attn.c_attn);
  for (Columns& of : columns) {
    of.first = part == Part::query ? 0 : part == Part::key ? C : C + own;
    of.count = part == Part::query ? C : own;
  }
  return columns;
}

void append(std::vector<Columns>& to, const std::vector<Columns>& columns) {
  to.insert(to.end(), columns.begin(), columns.end());
}

// What is 0 without positions, attention or MLP.
std::vector<Columns> zeros_of(const LanguageModel& model) {
  const Recipe& recipe = model.sizes.recipe;
  std::vector<Columns> zeros;
  if (recipe.position == Position::none) append(zeros, columns_of(model.wpe));
  for (const Block& block : model.h) {
    if (recipe.heads == Heads::none) append(zeros, columns_of(block.attn.c_proj));
    if (recipe.mlp == FeedForward::none) append(zeros, columns_of(block.mlp.c_proj));
  }
  return zeros;
}

// Calls f(begin) for each row: its numbers are those of the parameter from `begin` on.
void each_row(const Columns& columns, auto f) {
  const Tensor& p = columns.parameter;
  for (Dim row = 0; row < p.size(); row += p.dim(-1)) f(row + columns.first);
}

void fill(const Columns& columns, Real* numbers, double number) {
  each_row(columns, [&](Dim begin) { std::fill_n(numbers + begin, columns.count, Real(number)); });
}

// The gradient is replaced: another Array may share its numbers.
void change_gradient(const Tensor& parameter, auto f) {
  if (!parameter.has_grad()) return;
  Array gradient = parameter.grad().clone();
  f(gradient.write());
  parameter.set_grad(gradient);
}

}  // namespace

void set_held_values(const LanguageModel& model) {
  for (const Columns& zeros : zeros_of(model)) fill(zeros, zeros.parameter.write(), 0);
  const Recipe& recipe = model.sizes.recipe;
  for (const Block& block : model.h) {
    const Dim C = model.sizes.width;  // also the columns of keys, where parts of c_attn are held
    if (recipe.values == ValueMatrix::none) {
      for (const Columns& values : columns_of(block.attn, Part::value))
        fill(values, values.parameter.write(), 0);
      Real* const numbers = block.attn.c_attn.weight.write();
      for (Dim c = 0; c < C; ++c) numbers[c * 3 * C + 2 * C + c] = Real(1);
    }
    if (!recipe.tie_qk) continue;
    for (const Columns& q : columns_of(block.attn, Part::query)) {
      Real* const numbers = q.parameter.write();
      each_row(q, [&](Dim begin) { std::copy_n(numbers + begin, C, numbers + begin + C); });
    }
  }
}

HeldParameters::HeldParameters(const LanguageModel& model) : held_(zeros_of(model)) {
  const Recipe& recipe = model.sizes.recipe;
  const bool q = recipe.learned.q == Learning::none, k = recipe.learned.k == Learning::none;
  const bool v = recipe.learned.v == Learning::none || recipe.values == ValueMatrix::none;
  const bool both = recipe.tie_qk && (q || k);
  for (const Block& block : model.h) {
    if (q || both) append(held_, columns_of(block.attn, Part::query));
    if (k || both) append(held_, columns_of(block.attn, Part::key));
    if (v) append(held_, columns_of(block.attn, Part::value));
    if (recipe.tie_qk) append(tied_, columns_of(block.attn, Part::query));
  }
}

void HeldParameters::change_gradients() const {
  for (const Columns& q : tied_)
    change_gradient(q.parameter, [&](Real* gradient) {
      each_row(q, [&](Dim begin) {
        for (Dim i = begin; i < begin + q.count; ++i)
          gradient[i] = gradient[i + q.count] = gradient[i] + gradient[i + q.count];
      });
    });
  for (const Columns& columns : held_)
    change_gradient(columns.parameter, [&](Real* gradient) { fill(columns, gradient, 0); });
}

void HeldParameters::keep_during(const std::function<void()>& step) const {
  std::vector<Array> before;
  for (const Columns& columns : held_) before.push_back(columns.parameter.value().clone());
  step();
  for (std::size_t i = 0; i < held_.size(); ++i) {
    Real* const numbers = held_[i].parameter.write();
    each_row(held_[i], [&](Dim begin) {
      std::copy_n(before[i].data() + begin, held_[i].count, numbers + begin);
    });
  }
}

}  // namespace fledge
