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

// Element j of a parameter, which may be changed. The destructor writes its old number back, also
// after an exception.
class PerturbedElement {
 public:
  PerturbedElement(const Tensor& parameter, Dim j)
      : element_(parameter.write() + j), before_(*element_) {}
  ~PerturbedElement() { *element_ = before_; }
  PerturbedElement(const PerturbedElement&) = delete;
  PerturbedElement& operator=(const PerturbedElement&) = delete;

  double before() const { return before_.value; }
  void set(Dual x) { *element_ = x; }

 private:
  Dual* element_;
  Dual before_;
};

// The outputs with the element at `place`. They are a copy: f may return the parameter's own block.
std::vector<double> outputs_at(PerturbedElement& x, double place,
                               const std::function<Tensor()>& f) {
  x.set(place);
  return to_vector(f().value());
}

}  // namespace

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

Derivative Oracle::at(const Tensor& parameter, Dim j, double claimed) const {
  NoGrad no_grad;
  return method_ == Method::dual ? by_dual(parameter, j) : by_differences(parameter, j, claimed);
}

// x_j has tangent 1; the tangents of the outputs are column j of J, exact to rounding.
Derivative Oracle::by_dual(const Tensor& parameter, Dim j) const {
  PerturbedElement x(parameter, j);
  x.set({x.before(), 1});
  const Array y = f_().value();
  Derivative result;
  for (Dim i = 0; i < y.size(); ++i) {
    const double term = v_[i].value * y[i].tangent;
    result.value += term;
    result.scale += std::abs(term);
    result.size += std::abs(v_[i].value * y[i].value);
  }
  result.noise = 4 * epsilon * result.size;
  return result;
}

// Note [Six points]: f' = (45·(f₁ − f₋₁) − 9·(f₂ − f₋₂) + (f₃ − f₋₃)) / 60h + O(h⁶), f_k = f(x +
// kh). With h = ε^(1/7)·max(1, |x|) truncation and rounding balance near 4e-14 (de Levie 2009; the
// step is Stan's). Two points would reach 4e-11.
Derivative Oracle::six_point_difference(const Tensor& parameter, Dim j, double h) const {
  constexpr double weights[] = {45, -9, 1};
  PerturbedElement x(parameter, j);
  Derivative result;
  std::vector<double> slopes(static_cast<std::size_t>(v_.size()), 0.0);
  for (int k = 1; k <= 3; ++k) {
    const std::vector<double> above = outputs_at(x, x.before() + k * h, f_),
                              below = outputs_at(x, x.before() - k * h, f_);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      slopes[i] += weights[k - 1] * (above[i] - below[i]);
      if (k == 1) result.size += std::abs(v_[static_cast<Dim>(i)].value * above[i]);
    }
  }
  for (Dim i = 0; i < v_.size(); ++i) {
    const double term = v_[i].value * slopes[static_cast<std::size_t>(i)] / (60 * h);
    result.value += term;
    result.scale += std::abs(term);
  }
  result.rounding = 2 * epsilon * result.size / h;
  result.noise = result.rounding;
  return result;
}

// Σ_i |v_i|·|slope to the right − slope to the left| over h. It halves with h where f is smooth. It
// stays at a kink, where symmetric differences converge to the mean of the two slopes.
double Oracle::one_sided_gap(const Tensor& parameter, Dim j, double h) const {
  PerturbedElement x(parameter, j);
  const std::vector<double> here = outputs_at(x, x.before(), f_),
                            above = outputs_at(x, x.before() + h, f_),
                            below = outputs_at(x, x.before() - h, f_);
  double total = 0;
  for (std::size_t i = 0; i < here.size(); ++i)
    total += std::abs(v_[static_cast<Dim>(i)].value * (above[i] - 2 * here[i] + below[i])) / h;
  return total;
}

// The derivative from the best of several steps h. If h is too large, a kink within 3h makes the
// result wrong. If h is too small, rounding errors of size ε·|f|/h do. Each step is half of the one
// before. The uncertainty of a result is its difference from the result before plus its rounding
// error; the result with the smallest uncertainty is returned. `claimed`, the value by backward(),
// decides only whether several steps are tried, not which result is returned.
Derivative Oracle::by_differences(const Tensor& parameter, Dim j, double claimed) const {
  const double x = value_of(parameter.value()[j]);
  const double step = std::pow(epsilon, 1.0 / 7) * std::max(1.0, std::abs(x));
  const Derivative first = six_point_difference(parameter, j, step);
  if (std::abs(first.value - claimed) <= 0.1 * tolerance_ * first.scale) return first;

  Derivative coarse = six_point_difference(parameter, j, 8 * step), best = coarse;
  best.uncertainty = infinity;
  for (int halvings = 0; halvings < 14; ++halvings) {  // from 4·step down to step/2048
    Derivative fine = six_point_difference(parameter, j, std::ldexp(4 * step, -halvings));
    fine.uncertainty = std::abs(fine.value - coarse.value) + fine.rounding;
    if (fine.uncertainty < best.uncertainty) best = fine;
    coarse = fine;
  }
  best.converged = best.uncertainty <= 1e-6 * best.scale + 1e-9 * best.size;
  const double wide = one_sided_gap(parameter, j, step / 1024),
               narrow = one_sided_gap(parameter, j, step / 4096);
  const double noise = 4 * epsilon * best.size / (step / 4096);
  if (narrow > 0.5 * wide && narrow > 1e-3 * best.scale + noise) best.converged = false;
  return best;
}

}  // namespace fledge
