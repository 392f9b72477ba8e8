#include "engine/gradcheck/backward_consistency.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/array.h"
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"

namespace fledge {

Array random_cotangent(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  Array v(shape);
  Real* to = v.write();
  for (Dim i = 0; i < v.size(); ++i) {
    const double magnitude = 0.5 + rng.uniform();
    to[i] = Real(rng.uniform() < 0.5 ? -magnitude : magnitude);
  }
  return v;
}

Gradients gradients_of(const Tensor& y, const std::vector<NamedTensor>& parameters,
                       const Array& v) {
  for (const NamedTensor& p : parameters) p.tensor.zero_grad();
  if (y.needs_grad()) backward(y, v, Graph::keep);
  Gradients gradients;
  for (const NamedTensor& p : parameters) {
    gradients.push_back(p.tensor.has_grad()
                            ? to_vector(p.tensor.grad())
                            : std::vector<double>(static_cast<std::size_t>(p.tensor.size()), 0.0));
    p.tensor.zero_grad();
  }
  return gradients;
}

namespace {

class ConsistencyCheck {
 public:
  ConsistencyCheck(const std::function<Tensor()>& f, const std::vector<NamedTensor>& parameters,
                   const Array& v, std::uint64_t seed)
      : f_(f), parameters_(parameters), v_(v), seed_(seed) {}

  BackwardConsistency run() {
    const Tensor y = f_();
    result_.gradients = gradients_with(y, v_);
    if (repeats(y) && y.needs_grad() && follows_scale(y)) adds_to_others();
    return result_;
  }

 private:
  bool fail(std::size_t p, std::size_t j, double found, double expected, std::string problem) {
    result_.inconsistency = {std::move(problem), p, j, found, expected};
    return false;
  }

  Gradients gradients_with(const Tensor& y, const Array& v) const {
    return gradients_of(y, parameters_, v);
  }

  // The same bits twice, and exact zeros for v = 0.
  bool repeats(const Tensor& y) {
    const Gradients& first = result_.gradients;
    const Gradients again = gradients_with(y, v_);
    const Gradients zeros = gradients_with(y, Array::zeros(v_.shape()));
    for (std::size_t p = 0; p < first.size(); ++p)
      for (std::size_t j = 0; j < first[p].size(); ++j) {
        const bool same =
            first[p][j] == again[p][j] || (std::isnan(first[p][j]) && std::isnan(again[p][j]));
        if (!same)
          return fail(p, j, first[p][j], again[p][j],
                      "a second backward pass gives another gradient");
        if (zeros[p][j] != 0 && std::isfinite(first[p][j]))
          return fail(p, j, zeros[p][j], 0, "a zero cotangent gives a gradient that is not zero");
      }
    return true;
  }

  // Rules are linear in dy: one that clips it is right only where dy is small. Powers of two scale
  // every product and every sum without rounding.
  bool follows_scale(const Tensor& y) {
    const Gradients& first = result_.gradients;
    for (const double factor : {-1024.0, 1.0 / 1024}) {
      const Gradients scaled = gradients_with(y, v_ * Real(factor));
      for (std::size_t p = 0; p < first.size(); ++p)
        for (std::size_t j = 0; j < first[p].size(); ++j) {
          const double expected = factor * first[p][j];
          const double allowed = 1e-9 * std::abs(factor) * largest(first[p]) +
                                 std::numeric_limits<double>::min();  // below it numbers do round
          if (std::isfinite(expected) && !(std::abs(scaled[p][j] - expected) <= allowed))
            return fail(p, j, scaled[p][j], expected,
                        "a cotangent scaled by a factor gives a gradient that is not scaled by the "
                        "same factor: a rule must be linear in dy");
        }
    }
    return true;
  }

  // Once more with another user c·p of each parameter. It is recorded last, so c has arrived when
  // the rules of f run. A rule that overwrites what it should add to loses c. The size of c, and of
  // the difference allowed, is that of the numbers that f adds up: a gradient that cancels to zero
  // is rounding, and beside rounding every right rule looks wrong.
  bool adds_to_others() {
    const Gradients& first = result_.gradients;
    const Tensor y = f_();
    const std::vector<double> sizes = sizes_of_others(y.value());
    Tensor total = sum(y * Tensor(v_));
    std::vector<Array> others;
    for (std::size_t p = 0; p < first.size(); ++p) {
      const Tensor& x = parameters_[p].tensor;
      others.push_back(random_cotangent(x.shape(), seed_ + p + 1) * Real(sizes[p]));
      total = total + sum(x * Tensor(others.back()));
    }
    const Gradients shared = gradients_with(total, Array::ones({}));
    for (std::size_t p = 0; p < first.size(); ++p)
      for (std::size_t j = 0; j < first[p].size(); ++j) {
        const double both = first[p][j] + value_of(others[p][static_cast<Dim>(j)]);
        if (std::abs(shared[p][j] - both) > 1e-6 * sizes[p])
          return fail(p, j, shared[p][j], both,
                      "a rule overwrites the contribution of another user of the tensor: it must "
                      "add its own");
      }
    return true;
  }

  // |dp| at its largest, but at least 1 % of the largest gradient of the check and of
  // Σ_i |v_i·y_i| / |p|: where dp is zero, its rounding errors have the size of these. 1 where all
  // are zero or one is not finite.
  std::vector<double> sizes_of_others(const Array& y) const {
    double output = 0, largest_of_all = 0;
    for (Dim i = 0; i < y.size(); ++i) output += std::abs(value_of(v_[i]) * value_of(y[i]));
    for (const std::vector<double>& g : result_.gradients)
      largest_of_all = std::max(largest_of_all, largest(g));
    std::vector<double> sizes;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const double x = largest(to_vector(parameters_[p].tensor.value()));
      const double beside = x > 0 ? output / std::min(1.0, x) : output;
      const double size =
          std::max({largest(result_.gradients[p]), 0.01 * largest_of_all, 0.01 * beside});
      sizes.push_back(std::isfinite(size) && size > 0 ? size : 1);
    }
    return sizes;
  }

  static double largest(const std::vector<double>& numbers) {
    double most = 0;
    for (const double x : numbers) most = std::max(most, std::abs(x));
    return most;
  }

  const std::function<Tensor()>& f_;
  const std::vector<NamedTensor>& parameters_;
  const Array& v_;
  std::uint64_t seed_;
  BackwardConsistency result_;
};

}  // namespace

BackwardConsistency check_backward(const std::function<Tensor()>& f,
                                   const std::vector<NamedTensor>& parameters, const Array& v,
                                   std::uint64_t seed) {
  return ConsistencyCheck(f, parameters, v, seed).run();
}

}  // namespace fledge
