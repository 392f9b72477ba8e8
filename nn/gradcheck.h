// Gradient checks of whole modules: every element of every parameter, under its dotted name.
#pragma once

#include <functional>
#include <vector>

#include "engine/gradcheck/gradcheck.h"
#include "nn/module.h"

namespace fledge {

template <class T>
concept ModuleInput = std::same_as<T, Array> || std::same_as<T, Indices>;

/// Checks f() with respect to all parameters of the module, for instance
///     gradcheck(model, [&] { return cross_entropy(model(ids), targets); })
/// Other parameters may take part in f, and are not checked.
template <Module M>
GradcheckReport gradcheck(const M& module, const std::function<Tensor()>& f,
                          const GradcheckOptions& options = {}) {
  return gradcheck(f, named_parameters(module), options);
}

/// Checks module(input) with respect to all parameters, and to the input itself if it is an array,
/// not ids. A parameter that takes part and that visit() does not list is a problem: no optimiser
/// would change it, and save() would leave it out.
template <Module M, ModuleInput Input>
GradcheckReport gradcheck(const M& module, const Input& input,
                          const GradcheckOptions& options = {}) {
  std::conditional_t<std::same_as<Input, Array>, Tensor, Input> x = input;
  std::vector<NamedTensor> named = named_parameters(module);
  if constexpr (std::same_as<Input, Array>)
    named.insert(named.begin(), {"input", x = parameter(input.clone())});
  const auto f = [&] { return module(x); };
  GradcheckReport report = gradcheck(f, named, options);
  const std::vector<Shape> others = other_parameters(f, named);
  if (!report.ok || others.empty()) return report;
  report.ok = false;
  report.problem = "visit() does not list a parameter of shape " + to_string(others[0]);
  return report;
}

}  // namespace fledge
