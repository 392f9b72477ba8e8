#include "nn/gpt/held_parameters.h"

#include <algorithm>

#include "engine/autograd.h"

namespace fledge {

namespace {

using Runs = HeldParameters::Runs;
using RunsOfParameters = std::vector<Runs>;

constexpr Dim query_third = 0, key_third = 1, value_third = 2;  // the thirds of c_attn

Runs all_of(const Tensor& parameter) { return {parameter, 1, 0, 0, parameter.size()}; }

// A third of the columns of c_attn's weight, and of its bias if there is one.
RunsOfParameters third_of(const Linear& c_attn, Dim third) {
  const Dim C = c_attn.weight.dim(0);
  RunsOfParameters parts{{c_attn.weight, C, 3 * C, third * C, C}};
  if (c_attn.bias.exists()) parts.push_back({c_attn.bias, 1, 0, third * C, C});
  return parts;
}

// The parameters that are 0 without positions, attention or MLP.
RunsOfParameters zeros_of(const LanguageModel& model) {
  const Without& without = model.sizes.variant.without;
  std::vector<Tensor> zeros;
  if (without.positions) zeros.push_back(model.wpe.weight);
  const auto silence = [&](const Linear& layer) {
    zeros.push_back(layer.weight);
    if (layer.bias.exists()) zeros.push_back(layer.bias);
  };
  for (const Block& block : model.h) {
    if (without.attention) silence(block.attn.c_proj);
    if (without.mlp) silence(block.mlp.c_proj);
  }
  RunsOfParameters parts;
  for (const Tensor& parameter : zeros) parts.push_back(all_of(parameter));
  return parts;
}

// Calls f(begin) for each run.
void each_run(const Runs& runs, auto f) {
  for (Dim run = 0; run < runs.count; ++run) f(run * runs.step + runs.first);
}

void fill(const Runs& runs, Real* numbers, double number) {
  each_run(runs, [&](Dim begin) { std::fill_n(numbers + begin, runs.length, Real(number)); });
}

void set(const Runs& runs, double number) { fill(runs, runs.parameter.write(), number); }

void set_to_identity(const Linear& c_attn) {
  for (const Runs& runs : third_of(c_attn, value_third)) set(runs, 0);
  const Dim C = c_attn.weight.dim(0);
  Real* const numbers = c_attn.weight.write();
  for (Dim c = 0; c < C; ++c) numbers[c * 3 * C + value_third * C + c] = Real(1);
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
  for (const Runs& runs : zeros_of(model)) set(runs, 0);
  const Variant& variant = model.sizes.variant;
  for (const Block& block : model.h) {
    const Linear& c_attn = block.attn.c_attn;
    if (variant.without.value) set_to_identity(c_attn);
    if (!variant.tie_qk) continue;
    for (const Runs& q : third_of(c_attn, query_third)) {
      Real* const numbers = q.parameter.write();
      each_run(q, [&](Dim begin) {
        std::copy_n(numbers + begin, q.length, numbers + begin + q.length);
      });
    }
  }
}

HeldParameters::HeldParameters(const LanguageModel& model) : held_(zeros_of(model)) {
  const Variant& variant = model.sizes.variant;
  const bool both = variant.tie_qk && (variant.freeze.q || variant.freeze.k);
  const auto hold = [&](const Linear& c_attn, Dim third) {
    for (const Runs& runs : third_of(c_attn, third)) held_.push_back(runs);
  };
  for (const Block& block : model.h) {
    const Linear& c_attn = block.attn.c_attn;
    if (variant.freeze.q || both) hold(c_attn, query_third);
    if (variant.freeze.k || both) hold(c_attn, key_third);
    if (variant.freeze.v || variant.without.value) hold(c_attn, value_third);
    if (!variant.tie_qk) continue;
    for (const Runs& runs : third_of(c_attn, query_third)) tied_.push_back(runs);
  }
}

void HeldParameters::change_gradients() const {
  for (const Runs& q : tied_)
    change_gradient(q.parameter, [&](Real* gradient) {
      each_run(q, [&](Dim begin) {
        for (Dim i = begin; i < begin + q.length; ++i)
          gradient[i] = gradient[i + q.length] = gradient[i] + gradient[i + q.length];
      });
    });
  for (const Runs& runs : held_)
    change_gradient(runs.parameter, [&](Real* gradient) { fill(runs, gradient, 0); });
}

void HeldParameters::keep_during(const std::function<void()>& step) const {
  std::vector<Real> before;
  for (const Runs& runs : held_) {
    const Real* const numbers = runs.parameter.value().data();
    each_run(runs, [&](Dim begin) {
      before.insert(before.end(), numbers + begin, numbers + begin + runs.length);
    });
  }
  step();
  auto next = before.begin();
  for (const Runs& runs : held_) {
    Real* const numbers = runs.parameter.write();
    each_run(runs, [&](Dim begin) {
      std::copy_n(next, runs.length, numbers + begin);
      next += runs.length;
    });
  }
}

}  // namespace fledge
