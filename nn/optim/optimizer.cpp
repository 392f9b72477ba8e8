#include "nn/optim/optimizer.h"

#include <numeric>

#include "engine/autograd.h"
#include "engine/kernels/simd.h"
#include "engine/kernels/sums.h"

namespace fledge {

void require_parameters(const char* op, const std::vector<Tensor>& parameters) {
  for (std::size_t q = 0; q < parameters.size(); ++q) {
    if (!parameters[q].is_parameter())
      require<ValueError>(false, op, "tensor ", q, " of shape ", parameters[q].shape(),
                          " is no parameter: make it with parameter()");
    for (std::size_t p = 0; p < q; ++p)
      if (parameters[p].node() == parameters[q].node())
        require<ValueError>(false, op, "parameters ", p, " and ", q,
                            " are the same tensor: list it once");
  }
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

void require_finite(const char* op, const std::vector<Tensor>& parameters,
                    const GradientParts& parts, Finite what) {
  if (isfinite(Real(parts.sum_of_squares()))) return;  // then each square is finite, too
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

Moments copy_of(const Moments& moments) {
  Moments copy = moments;
  copy.m = copy.v = {};
  if (moments.t > 0) copy.m = moments.m.clone();
  if (moments.t > 0 && !moments.is_muon) copy.v = moments.v.clone();
  return copy;
}

void require_moments(const char* op, const std::vector<Tensor>& parameters,
                     const std::vector<Moments>& moments) {
  require<ValueError>(moments.size() == parameters.size(), op, "has ", parameters.size(),
                      " parameters: got the moments of ", moments.size());
  for (std::size_t p = 0; p < moments.size(); ++p) {
    const auto& [m, v, t, is_muon] = moments[p];
    require<ValueError>(t >= 0 && m.exists() == (t > 0) && v.exists() == (t > 0 && !is_muon), op,
                        "parameter ", p, " has had ", t,
                        " gradients, and its moments do not fit that number");
    if (t == 0) continue;
    const Shape& shape = parameters[p].shape();
    require(m.shape() == shape && (is_muon || v.shape() == shape), op, "the moments of parameter ",
            p, " of shape ", shape, " have shapes ", m.shape(), " and ",
            is_muon ? m.shape() : v.shape());
  }
}

double clip_gradients(const std::vector<Tensor>& parameters, double max_norm) {
  using Limits = std::numeric_limits<Real>;
  // Gradients of a smaller norm would be subnormal numbers, which have fewer digits.
  const double least = Limits::min() / Limits::epsilon();
  require<ValueError>(max_norm >= least, "clip_gradients", "max_norm must be at least ", least,
                      ": got ", max_norm);
  require_parameters("clip_gradients", parameters);
  const GradientParts gradients(parameters);
  const double squares = gradients.sum_of_squares();
  if (!std::isfinite(squares))
    require_finite("clip_gradients", parameters, gradients, Finite::gradients);
  const double norm = std::sqrt(squares);
  require<NumericError>(std::isfinite(norm), "clip_gradients", "the norm of the gradients is ",
                        norm);
  if (norm <= max_norm) return norm;
  // A little less than max_norm / norm, so that rounding each product cannot carry the norm over
  // it.
  const double factor = max_norm / norm * (1 - 4 * Limits::epsilon());
  const bool tiny = factor < Limits::min();  // then its root is taken twice
  const double root = std::sqrt(max_norm) / std::sqrt(norm) * (1 - 4 * Limits::epsilon());
  // The gradients are scaled in place if no other Array shares their numbers. For a tiny model, new
  // arrays would take half of the time of clipping.
  PoolVector<Real*> numbers(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p].has_grad()) continue;
    Array& gradient = parameters[p].node()->grad;
    if (!gradient.is_unique()) gradient = gradient.clone();
    numbers[p] = gradient.write();
  }
  const InterruptScope no_interrupt(nullptr);  // from here on all gradients are scaled
  gradients.each(1, [&](const GradientParts::Part& part) {
    Real* const g = numbers[part.parameter] + part.begin;
    const Real by = Real(tiny ? root : factor);
    kernels::by_vectors(part.count, [=](Dim i, Dim count) {
      const kernels::Vec y = kernels::load(g + i, count) * by;
      kernels::store(g + i, tiny ? y * by : y, count);
    });
  });
  return norm;
}

}  // namespace fledge
