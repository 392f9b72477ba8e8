#include "engine/gradcheck/oracle.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>

#include "engine/autograd.h"
#include "engine/base/interrupt.h"
#include "engine/gradcheck/gradcheck.h"

namespace fledge {

const double gradcheck_tolerance_dual = 1e-12;
const double gradcheck_tolerance_differences = 1e-8;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// The outputs for x = `place`. They are a copy: f may return the parameter's own block.
std::vector<double> outputs_at(const Oracle& oracle, Real& x, double place) {
  x = place;
  return to_vector(oracle.f().value());
}

// Σ_i v_i·∂y_i/∂x_j
Derivative by_dual(const Oracle& oracle, const Tensor& parameter, Dim j) {
  const Array y = forward_derivatives(oracle.f, parameter, j), &v = oracle.v;
  Derivative result;
  for (Dim i = 0; i < y.size(); ++i) {
    const double term = v[i].value * y[i].tangent;
    result.value += term;
    result.scale += std::abs(term);
    result.size += std::abs(v[i].value * y[i].value);
  }
  result.noise = 4 * epsilon * result.size;
  return result;
}

// Note [Six points]: f' = (45·(f₁ − f₋₁) − 9·(f₂ − f₋₂) + (f₃ − f₋₃)) / 60h + O(h⁶), f_k = f(x +
// kh). With h = ε^(1/7)·max(1, |x|) truncation and rounding balance near 4e-14 (de Levie 2009; the
// step is Stan's). Two points would reach 4e-11.
Derivative six_point_difference(const Oracle& oracle, Real& x, double h) {
  constexpr double weights[] = {45, -9, 1};
  const double place = x.value;
  const std::vector<double> v = to_vector(oracle.v);
  std::vector<double> slopes(v.size(), 0.0);
  Derivative result;
  for (int k = 1; k <= 3; ++k) {
    const std::vector<double> above = outputs_at(oracle, x, place + k * h),
                              below = outputs_at(oracle, x, place - k * h);
    for (std::size_t i = 0; i < v.size(); ++i) {
      slopes[i] += weights[k - 1] * (above[i] - below[i]);
      if (k == 1) result.size += std::abs(v[i] * above[i]);
    }
  }
  x = place;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double term = v[i] * slopes[i] / (60 * h);
    result.value += term;
    result.scale += std::abs(term);
  }
  result.rounding = result.noise = 2 * epsilon * result.size / h;
  return result;
}

// Σ_i |v_i|·|slope to the right − slope to the left| over h. It halves with h where f is smooth. It
// stays at a kink, where symmetric differences converge to the mean of the two slopes.
double one_sided_gap(const Oracle& oracle, Real& x, double h) {
  const double place = x.value;
  const std::vector<double> v = to_vector(oracle.v), here = outputs_at(oracle, x, place),
                            above = outputs_at(oracle, x, place + h),
                            below = outputs_at(oracle, x, place - h);
  x = place;
  double total = 0;
  for (std::size_t i = 0; i < v.size(); ++i)
    total += std::abs(v[i] * (above[i] - 2 * here[i] + below[i])) / h;
  return total;
}

// The derivative from the best of several steps h. If h is too large, a kink within 3h makes the
// result wrong. If h is too small, rounding errors of size ε·|f|/h do. Each step is half of the one
// before. The uncertainty of a result is its difference from the result before plus its rounding
// error; the result with the smallest uncertainty is returned. `claimed`, the value by backward(),
// decides only whether several steps are tried, not which result is returned.
Derivative by_differences(const Oracle& oracle, Real& x, double claimed) {
  const double step = std::pow(epsilon, 1.0 / 7) * std::max(1.0, std::abs(x.value));
  const Derivative first = six_point_difference(oracle, x, step);
  if (std::abs(first.value - claimed) <= 0.1 * oracle.tolerance * first.scale) return first;

  Derivative coarse = six_point_difference(oracle, x, 8 * step), best = coarse;
  best.uncertainty = infinity;
  for (int halvings = 0; halvings < 14; ++halvings) {  // from 4·step down to step/2048
    Derivative fine = six_point_difference(oracle, x, std::ldexp(4 * step, -halvings));
    fine.uncertainty = std::abs(fine.value - coarse.value) + fine.rounding;
    if (fine.uncertainty < best.uncertainty) best = fine;
    coarse = fine;
  }
  best.converged = best.uncertainty <= 1e-6 * best.scale + 1e-9 * best.size;
  const double wide = one_sided_gap(oracle, x, step / 1024),
               narrow = one_sided_gap(oracle, x, step / 4096);
  const double noise = 4 * epsilon * best.size / (step / 4096);
  if (narrow > 0.5 * wide && narrow > 1e-3 * best.scale + noise) best.converged = false;
  return best;
}

}  // namespace

ChangedValues::ChangedValues(const std::vector<Tensor>& parameters) {
  for (const Tensor& p : parameters) saved_.push_back({p.write(), p.value().clone()});
}

ChangedValues::~ChangedValues() {
  for (const Saved& s : saved_) std::copy_n(s.before.data(), s.before.size(), s.numbers);
}

bool completes(const std::function<void()>& f) {
  try {
    f();
    return true;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

Array forward_derivatives(const std::function<Tensor()>& f, const Tensor& parameter, Dim j) {
  NoGrad no_grad;
  const ChangedValues changed({parameter});
  Real& x = changed.numbers(0)[j];
  x.tangent = 1;
  return f().value().clone();  // f may return the parameter's own block
}

Derivative Oracle::at(const Tensor& parameter, Dim j, double claimed) const {
  if (method == Method::dual) return by_dual(*this, parameter, j);
  NoGrad no_grad;
  const ChangedValues changed({parameter});
  return by_differences(*this, changed.numbers(0)[j], claimed);
}

}  // namespace fledge
