// What all optimisers share: their parameters, and steps that move everything or nothing.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/errors.h"
#include "engine/base/memory.h"
#include "engine/kernels/sums.h"
#include "engine/tensor.h"

namespace fledge {

/// Forgets all gradients.
inline void zero_grad(const std::vector<Tensor>& parameters) {
  for (const Tensor& p : parameters) p.zero_grad();
}

/// Throws ValueError for a tensor that is no parameter, which would never move, and for a parameter
/// named twice, which would move, or count, twice.
inline void require_parameters(const char* who, const std::vector<Tensor>& parameters) {
  PoolVector<std::pair<const Node*, std::size_t>> places;
  places.reserve(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    require<ValueError>(parameters[p].is_parameter(), who, "tensor ", p, " of shape ",
                        parameters[p].shape(), " is no parameter: make it with parameter()");
    places.emplace_back(parameters[p].node().get(), p);
  }
  std::sort(places.begin(), places.end());
  const auto twice =
      std::adjacent_find(places.begin(), places.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != places.end())
    require<ValueError>(false, who, "parameters ", twice->second, " and ", (twice + 1)->second,
                        " are the same tensor: name it once");
}

/// Throws NumericError unless f(g), g or g², is finite for every number g of every gradient, naming
/// the parameter by its place: a step then leaves every parameter as it was.
template <class F>
void require_finite(const char* who, const std::vector<Tensor>& parameters, const char* what, F f) {
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p].has_grad()) continue;
    const Array& g = parameters[p].grad();
    if (isfinite(kernels::dot(g.data(), g.data(), g.size()))) continue;  // then so is each g and g²
    for (Dim i = 0; i < g.size(); ++i)
      require<NumericError>(isfinite(f(g[i])), who, "the gradient of parameter ", p, " of shape ",
                            g.shape(), " is ", value_of(g[i]), " at element ", i,
                            isfinite(g[i]) ? what : "",
                            "; no parameter was changed; a smaller rate or clipping may help");
  }
}
inline void require_finite_gradients(const char* who, const std::vector<Tensor>& parameters) {
  require_finite(who, parameters, "", [](Real g) { return g; });
}

/// Zeros for each parameter that has its first gradient: before any is moved, as memory may run
/// out.
inline void start(std::vector<Array>& moments, const std::vector<Tensor>& parameters) {
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (parameters[p].has_grad() && !moments[p].exists())
      moments[p] = Array::zeros(parameters[p].shape());
}

/// Where the numbers of each parameter are to be written; null for one without a gradient. Throws
/// GraphError, before any is written, when a graph still needs the old numbers of one of them.
inline PoolVector<Real*> writable(const std::vector<Tensor>& parameters) {
  PoolVector<Real*> numbers;
  numbers.reserve(parameters.size());
  for (const Tensor& p : parameters) numbers.push_back(p.has_grad() ? p.write() : nullptr);
  return numbers;
}

}  // namespace fledge
