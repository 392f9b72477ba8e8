// A module is a value that lists its parts by name. No base class, nothing to register:
//
//     void visit(auto&& f) const { f("weight", weight); f("bias", bias); }
//
// Not here: layers. A Tensor is a handle, so a const module still lets an optimiser move its
// numbers, and copying a module shares its parameters; tied weights are one assignment.
// Next: layers/linear.h.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ops.h"

namespace fledge {

namespace detail {
struct AnyPart {
  void operator()(std::string_view, const auto&) const {}
};
}  // namespace detail

template <class M>
concept Module = requires(const M& module) {
  module.visit(detail::AnyPart{});
};

/// Whether a forward pass trains (dropout draws from a generator) or evaluates (dropout does
/// nothing). It says nothing about recording: that is NoGrad.
class Mode {
 public:
  static Mode evaluation() { return Mode(nullptr); }
  static Mode training(Rng& dropout) { return Mode(&dropout); }
  /// The generator for dropout; null when evaluating.
  Rng* dropout() const { return dropout_; }

 private:
  explicit Mode(Rng* dropout) : dropout_(dropout) {}
  Rng* dropout_;
};

/// f("h.0.attn.c_attn.weight", tensor) for every parameter, in the order of declaration. A tensor
/// that has two names (tied weights) is visited under both.
template <Module M, class F>
void for_each_name(const M& module, F&& f, const std::string& path = "") {
  module.visit([&]<class Part>(std::string_view name, const Part& part) {
    const std::string here = path + std::string(name);
    if constexpr (std::same_as<Part, Tensor>) {
      if (part.exists()) f(here, part);
    } else if constexpr (Module<Part>) {
      for_each_name(part, f, here + ".");
    } else {  // a list of modules
      for (std::size_t i = 0; i < part.size(); ++i)
        for_each_name(part[i], f, here + "." + std::to_string(i) + ".");
    }
  });
}

/// Every parameter once, with its first name; a constant tensor is none.
template <Module M>
std::vector<std::pair<std::string, Tensor>> named_parameters(const M& module) {
  std::vector<std::pair<std::string, Tensor>> found;
  for_each_name(module, [&](const std::string& name, const Tensor& tensor) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const auto& entry) {
      return entry.second.node() == tensor.node();
    });
    if (!known && tensor.needs_grad()) found.emplace_back(name, tensor);
  });
  return found;
}

template <Module M>
std::vector<Tensor> parameters(const M& module) {
  std::vector<Tensor> found;
  for (const auto& [name, tensor] : named_parameters(module)) found.push_back(tensor);
  return found;
}

/// How many numbers the module learns; tied ones count once.
template <Module M>
Dim count_parameters(const M& module) {
  Dim count = 0;
  for (const Tensor& tensor : parameters(module)) count += tensor.size();
  return count;
}

template <Module M>
void zero_grad(const M& module) {
  for (const Tensor& tensor : parameters(module)) tensor.zero_grad();
}

}  // namespace fledge
