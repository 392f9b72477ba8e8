#if defined(FLEDGE_DOUBLE) || defined(FLEDGE_DUAL)
#include "engine/gradcheck/oracle.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/gradcheck/gradcheck.h"

namespace fledge {

namespace {

// Element j of a parameter, to be moved; it stands where it stood when this goes, whatever
// happened.
class Moved {
 public:
  Moved(const Tensor& parameter, Dim j) : element_(parameter.write() + j), before_(*element_) {}
  ~Moved() { *element_ = before_; }
  Moved(const Moved&) = delete;
  Moved& operator=(const Moved&) = delete;

  Real before() const { return before_; }
  void to(Real x) { *element_ = x; }

 private:
  Real* element_;
  Real before_;
};

}  // namespace

#if defined(FLEDGE_DUAL)

const char* const gradcheck_oracle = "dual";
const double gradcheck_tolerance = 1e-12;

/// x_j moves at speed 1; the outputs' speeds are column j of J, exact to rounding.
Derivative Oracle::at(const Tensor& parameter, Dim j, double) const {
  NoGrad no_grad;
  Moved x(parameter, j);
  x.to({x.before().value, 1});
  const Array y = f_().value();
  Derivative result;
  for (Dim i = 0; i < y.size(); ++i) {
    const double term = v_[i].value * y[i].tangent;
    result.value += term;
    result.scale += std::abs(term);
    result.size += std::abs(v_[i].value * y[i].value);
  }
  result.noise = 4 * std::numeric_limits<double>::epsilon() * result.size;
  return result;
}

#else

const char* const gradcheck_oracle = "differences";
const double gradcheck_tolerance = 1e-8;

// Note [Six points]: f' = (45·(f₁ − f₋₁) − 9·(f₂ − f₋₂) + (f₃ − f₋₃)) / 60h + O(h⁶), f_k = f(x +
// kh). With h = ε^(1/7)·max(1, |x|) truncation and rounding balance near 4e-14 (de Levie 2009; the
// step is Stan's). Two points would reach 4e-11.
Derivative Oracle::difference(const Tensor& parameter, Dim j, double h) const {
  constexpr double weights[] = {45, -9, 1};
  Moved x(parameter, j);
  Derivative result;
  std::vector<double> slopes(static_cast<std::size_t>(v_.size()), 0.0);
  const auto f_at = [&](double place) {
    x.to(place);
    return to_vector(f_().value());
  };
  for (int k = 1; k <= 3; ++k) {
    const std::vector<double> above = f_at(x.before() + k * h), below = f_at(x.before() - k * h);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      slopes[i] += weights[k - 1] * (above[i] - below[i]);
      if (k == 1) result.size += std::abs(v_[static_cast<Dim>(i)] * above[i]);
    }
  }
  for (Dim i = 0; i < v_.size(); ++i) {
    const double term = v_[i] * slopes[static_cast<std::size_t>(i)] / (60 * h);
    result.value += term;
    result.scale += std::abs(term);
  }
  result.rounding = 2 * std::numeric_limits<double>::epsilon() * result.size / h;
  result.noise = result.rounding;
  return result;
}

// Σ_i |v_i|·|slope to the right − slope to the left| over h: it halves with h where f is smooth,
// and stays where f has a kink, of which symmetric differences see nothing.
double Oracle::bend(const Tensor& parameter, Dim j, double h) const {
  Moved x(parameter, j);
  const auto f_at = [&](double place) {
    x.to(place);
    return to_vector(f_().value());
  };
  const std::vector<double> here = f_at(x.before()), above = f_at(x.before() + h),
                            below = f_at(x.before() - h);
  double total = 0;
  for (std::size_t i = 0; i < here.size(); ++i)
    total += std::abs(v_[static_cast<Dim>(i)] * (above[i] - 2 * here[i] + below[i])) / h;
  return total;
}

// A kink within 3h spoils the answer for that h, and rounding, of size ε·|f|/h, spoils it where the
// gradient is small beside f. Steps from 8h downwards are therefore tried, and the answer is taken
// whose gap to the one before it, plus its rounding, is smallest. What backward() claims decides
// only whether to look closer, never which answer is taken.
Derivative Oracle::at(const Tensor& parameter, Dim j, double claimed) const {
  NoGrad no_grad;
  const double x = parameter.value()[j];
  const double step =
      std::pow(std::numeric_limits<double>::epsilon(), 1.0 / 7) * std::max(1.0, std::abs(x));
  const Derivative first = difference(parameter, j, step);
  if (std::abs(first.value - claimed) <= 0.1 * tolerance_ * first.scale) return first;

  Derivative coarse = difference(parameter, j, 8 * step), best = coarse;
  double least_doubt = infinity;
  for (double h = 4 * step; h > step / 4096; h /= 2) {
    const Derivative fine = difference(parameter, j, h);
    const double doubt = std::abs(fine.value - coarse.value) + fine.rounding;
    if (doubt < least_doubt) {
      best = fine;
      least_doubt = doubt;
    }
    coarse = fine;
  }
  best.settled = least_doubt <= 1e-6 * best.scale + 1e-9 * best.size;
  const double wide = bend(parameter, j, step / 1024), narrow = bend(parameter, j, step / 4096);
  const double noise = 4 * std::numeric_limits<double>::epsilon() * best.size / (step / 4096);
  if (narrow > 0.5 * wide && narrow > 1e-3 * best.scale + noise) best.settled = false;
  return best;
}

#endif

}  // namespace fledge
#endif
