// Functions that all optimisers share. A step changes all parameters or none.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/errors.h"
#include "engine/base/memory.h"
#include "engine/kernels/sums.h"
#include "engine/tensor.h"

namespace fledge {

/// Removes all gradients.
inline void zero_grad(const std::vector<Tensor>& parameters) {
  for (const Tensor& p : parameters) p.zero_grad();
}

/// Throws ValueError for a tensor that is no parameter, and for a parameter that is listed twice:
/// it would be updated twice.
inline void require_parameters(const char* op, const std::vector<Tensor>& parameters) {
  PoolVector<std::pair<const Node*, std::size_t>> places;
  places.reserve(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    require<ValueError>(parameters[p].is_parameter(), op, "tensor ", p, " of shape ",
                        parameters[p].shape(), " is no parameter: make it with parameter()");
    places.emplace_back(parameters[p].node().get(), p);
  }
  std::sort(places.begin(), places.end());
  const auto twice =
      std::adjacent_find(places.begin(), places.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != places.end())
    require<ValueError>(false, op, "parameters ", twice->second, " and ", (twice + 1)->second,
                        " are the same tensor: list it once");
}

/// Throws NumericError unless f(g), which is g or g², is finite for every number g of every
/// gradient. The message has the index of the parameter.
template <class F>
void require_finite(const char* op, const std::vector<Tensor>& parameters, const char* what, F f) {
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p].has_grad()) continue;
    const Array& g = parameters[p].grad();
    if (isfinite(kernels::dot(g.data(), g.data(), g.size())))
      continue;  // then all g and g² are finite
    for (Dim i = 0; i < g.size(); ++i)
      require<NumericError>(isfinite(f(g[i])), op, "the gradient of parameter ", p, " of shape ",
                            g.shape(), " is ", value_of(g[i]), " at element ", i,
                            isfinite(g[i]) ? what : "",
                            "; no parameter was changed; a smaller rate or clipping may help");
  }
}
inline void require_finite_gradients(const char* op, const std::vector<Tensor>& parameters) {
  require_finite(op, parameters, "", [](Real g) { return g; });
}

/// Makes a moment of zeros for a parameter that has its first gradient. It is called before any
/// parameter changes, because memory may run out.
inline void allocate_moment(Array& moment, const Tensor& p) {
  if (p.has_grad() && !moment.exists()) moment = Array::zeros(p.shape());
}

/// Pointers to the numbers of each parameter; null for a parameter without a gradient. Throws
/// GraphError if a graph still needs the old numbers of one of them.
inline PoolVector<Real*> writable_numbers(const std::vector<Tensor>& parameters) {
  PoolVector<Real*> numbers;
  numbers.reserve(parameters.size());
  for (const Tensor& p : parameters) numbers.push_back(p.has_grad() ? p.write() : nullptr);
  return numbers;
}

}  // namespace fledge
