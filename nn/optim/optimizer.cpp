#include "nn/optim/optimizer.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "engine/autograd.h"
#include "engine/kernels/sums.h"

namespace fledge {

namespace {

// Throws ValueError, as one parameter is listed twice.
void refuse_repetition(const char* op, const std::vector<Tensor>& parameters) {
  for (std::size_t q = 0; q < parameters.size(); ++q)
    for (std::size_t p = 0; p < q; ++p)
      require<ValueError>(parameters[p].node() != parameters[q].node(), op, "parameters ", p,
                          " and ", q, " are the same tensor: list it once");
}

}  // namespace

void require_parameters(const char* op, const std::vector<Tensor>& parameters) {
  PoolVector<std::uint64_t> ids;
  ids.reserve(parameters.size());
  for (const Tensor& p : parameters) {
    if (!p.is_parameter())
      require<ValueError>(false, op, "tensor ", ids.size(), " of shape ", p.shape(),
                          " is no parameter: make it with parameter()");
    ids.push_back(p.node()->id);
  }
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) refuse_repetition(op, parameters);
}

GradientParts::GradientParts(const std::vector<Tensor>& parameters) {
  parts_.reserve(parameters.size());
  const Dim most = kernels::blocking.task_numbers;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Array& g = parameters[p].node()->grad;
    if (!g.exists()) continue;
    const Real* const numbers = g.data();
    const Dim size = g.size();
    numbers_ += size;
    for (Dim begin = 0; begin < size; begin += most)
      parts_.push_back({p, begin, std::min(most, size - begin), numbers + begin});
  }
}

double GradientParts::sum_of_squares() const {
  PoolVector<double> sums(parts_.size());
  each(2, [&](const Part& part) {
    sums[static_cast<std::size_t>(&part - parts_.data())] =
        kernels::sum_of_squares(part.numbers, part.count);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

bool GradientParts::are_finite() const {
  std::atomic<bool> finite{true};
  each(2, [&](const Part& part) {
    if (!isfinite(kernels::dot(part.numbers, part.numbers, part.count)))
      finite.store(false, std::memory_order_relaxed);
  });
  return finite;
}

void require_finite(const char* op, const std::vector<Tensor>& parameters,
                    const GradientParts& parts, Finite what) {
  if (parts.are_finite()) return;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p].has_grad()) continue;
    const Array& g = parameters[p].grad();
    for (Dim i = 0; i < g.size(); ++i)
      require<NumericError>(isfinite(what == Finite::squares ? g[i] * g[i] : g[i]), op,
                            "the gradient of parameter ", p, " of shape ", g.shape(), " is ",
                            value_of(g[i]), " at element ", i,
                            isfinite(g[i]) ? ", and its square overflows" : "",
                            "; no parameter was changed; a smaller rate or clipping may help");
  }
}

PoolVector<Real*> writable_numbers(const std::vector<Tensor>& parameters) {
  PoolVector<Real*> numbers;
  numbers.reserve(parameters.size());
  for (const Tensor& p : parameters)
    numbers.push_back(p.node()->grad.exists() ? p.node()->value.write() : nullptr);
  return numbers;
}

}  // namespace fledge
