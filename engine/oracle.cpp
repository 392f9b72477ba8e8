#if defined(FLEDGE_DOUBLE) || defined(FLEDGE_DUAL)
#include "engine/oracle.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/gradcheck.h"

namespace fledge::inline FLEDGE_BUILD {

#if defined(FLEDGE_DUAL)

const char* const gradcheck_oracle = "dual";
const double gradcheck_tolerance = 1e-12;

/// x_j moves at speed 1; the outputs' speeds are column j of J, exact to rounding.
Derivative Oracle::at(const Tensor& parameter, Dim j, double) const {
  NoGrad no_grad;
  parameter.write()[j].tangent = 1;
  const Array y = f_().value();
  parameter.write()[j].tangent = 0;
  Derivative result;
  for (Dim i = 0; i < y.size(); ++i) {
    const double term = v_[i].value * y[i].tangent;
    result.value += term;
    result.scale += std::abs(term);
  }
  return result;
}

#else

const char* const gradcheck_oracle = "differences";
const double gradcheck_tolerance = 1e-8;

// Note [Six points]: f' = (45·(f₁ − f₋₁) − 9·(f₂ − f₋₂) + (f₃ − f₋₃)) / 60h + O(h⁶), f_k = f(x + kh).
// With h = ε^(1/7)·max(1, |x|) truncation and rounding balance near 4e-14 (de Levie 2009; the step is
// Stan's). Two points would reach 4e-11.
Derivative Oracle::difference(const Tensor& parameter, Dim j, double h) const {
  constexpr double weights[] = {45, -9, 1};
  const double x = parameter.value()[j];
  Derivative result;
  std::vector<double> slopes(static_cast<std::size_t>(v_.size()), 0.0);
  for (int k = -3; k <= 3; ++k) {
    if (k == 0) continue;
    parameter.write()[j] = x + k * h;
    const Array y = f_().value();
    const double weight = k > 0 ? weights[k - 1] : -weights[-k - 1];
    for (Dim i = 0; i < y.size(); ++i) {
      slopes[static_cast<std::size_t>(i)] += weight * y[i];
      if (k == 1) result.size += std::abs(v_[i] * y[i]);
    }
  }
  parameter.write()[j] = x;
  for (Dim i = 0; i < v_.size(); ++i) {
    const double term = v_[i] * slopes[static_cast<std::size_t>(i)] / (60 * h);
    result.value += term;
    result.scale += std::abs(term);
  }
  return result;
}

// A kink within 3h spoils the answer for that h, and rounding, of size ε·|f|/h, spoils it where the
// gradient is small beside f. Steps from 8h downwards are therefore tried, and the answer is taken
// whose gap to the one before it, plus its rounding, is smallest. What backward() claims decides only
// whether to look closer, never which answer is taken.
Derivative Oracle::at(const Tensor& parameter, Dim j, double claimed) const {
  NoGrad no_grad;
  const double x = parameter.value()[j];
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const double step = std::pow(epsilon, 1.0 / 7) * std::max(1.0, std::abs(x));
  const Derivative first = difference(parameter, j, step);
  if (std::abs(first.value - claimed) <= 0.1 * tolerance_ * first.scale) return first;

  Derivative coarse = difference(parameter, j, 8 * step), best = coarse;
  double least_doubt = infinity;
  for (double h = 4 * step; h > step / 4096; h /= 2) {
    const Derivative fine = difference(parameter, j, h);
    const double doubt = std::abs(fine.value - coarse.value) + 2 * epsilon * fine.size / h;
    if (doubt < least_doubt) {
      best = fine;
      least_doubt = doubt;
    }
    coarse = fine;
  }
  best.settled = least_doubt <= 1e-6 * best.scale + 1e-9 * best.size;
  return best;
}

#endif

}  // namespace fledge::inline FLEDGE_BUILD
#endif
