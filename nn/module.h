// A module is a value that lists its parts by name. No base class, nothing to register:
//
//     void visit(auto&& f) const { f("weight", weight); f("bias", bias); }
//
// A Tensor is a handle. So an optimiser can change the weights of a const module, a copy of a
// module shares its parameters, and two weights are tied by one assignment.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
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

/// Whether dropout is active in a forward pass. It does not control whether gradients are recorded:
/// NoGrad does.
class Mode {
 public:
  static Mode evaluation() { return Mode(nullptr); }
  static Mode training(Rng& dropout) { return Mode(&dropout); }
  /// The generator for dropout; null in evaluation.
  Rng* dropout() const { return dropout_; }

 private:
  explicit Mode(Rng* dropout) : dropout_(dropout) {}
  Rng* dropout_;
};

/// Calls f("h.0.attn.c_attn.weight", tensor) for every tensor, in the order of declaration. A
/// tensor with two names (tied weights) is visited twice.
template <class M, class F>
void for_each_name(const M& module, F&& f, const std::string& path = "") {
  if constexpr (std::same_as<M, Tensor>) {
    if (module.exists()) f(path, module);
  } else if constexpr (Module<M>) {
    const std::string before = path.empty() ? "" : path + ".";
    module.visit([&](std::string_view name, const auto& part) {
      for_each_name(part, f, before + std::string(name));
    });
  } else if constexpr (requires { module.size(), module[0]; }) {  // a list of modules
    for (std::size_t i = 0; i < module.size(); ++i)
      for_each_name(module[i], f, (path.empty() ? "" : path + ".") + std::to_string(i));
  } else {
    static_assert(Module<M>,
                  "a module must list its parts (tensors, modules, vectors of modules) by name: "
                  "void visit(auto&& f) const { f(\"weight\", weight); }");
  }
}

/// Every parameter once, with its first name. Constant tensors are left out. Throws ValueError if two
/// parameters have one name.
template <class M>
std::vector<NamedTensor> named_parameters(const M& module) {
  std::vector<NamedTensor> found;
  for_each_name(module, [&](const std::string& name, const Tensor& tensor) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const auto& entry) {
      const bool is_same = entry.tensor.node() == tensor.node();
      require<ValueError>(is_same || entry.name != name, "visit",
                          "each part must have a name of its own: two are '", name, "'");
      return is_same;
    });
    if (!known && tensor.needs_grad()) found.push_back({name, tensor});
  });
  return found;
}

template <class M>
std::vector<Tensor> parameters(const M& module) {
  std::vector<Tensor> found;
  for (const auto& [name, tensor] : named_parameters(module)) found.push_back(tensor);
  return found;
}

/// How many numbers the module learns. Tied weights count once.
template <class M>
Dim count_parameters(const M& module) {
  Dim count = 0;
  for (const Tensor& tensor : parameters(module)) count += tensor.size();
  return count;
}

template <class M>
void zero_grad(const M& module) {
  for (const Tensor& tensor : parameters(module)) tensor.zero_grad();
}

}  // namespace fledge
