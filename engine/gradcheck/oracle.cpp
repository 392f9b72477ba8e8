#include "engine/gradcheck/oracle.h"

#include "engine/autograd.h"
#include "engine/gradcheck/gradcheck.h"

namespace fledge {

const double gradcheck_tolerance_dual = 1e-12;
const double gradcheck_tolerance_differences = 1e-8;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The outputs for x = `place`, as a copy: f may return the parameter's own block. All are NaN if f
// throws there, or if its output has another shape than at x: such a step decides nothing.
std::vector<double> outputs_at(const Oracle& oracle, Real& x, double place) {
  std::vector<double> outputs(static_cast<std::size_t>(oracle.v.size()), not_a_number);
  x = place;
  completes([&] {
    const Array y = oracle.f().value();
    if (y.shape() == oracle.v.shape()) outputs = to_vector(y);
  });
  return outputs;
}

// Σ_i v_i·∂y_i/∂x_j
Derivative by_dual(const Oracle& oracle, const Tensor& parameter, Dim j) {
  const Array y = forward_derivatives(oracle.f, parameter, j), &v = oracle.v;
  Derivative result;
  double moved = 0;
  if (y.shape() != v.shape()) return {.value = not_a_number, .converged = false};
  for (Dim i = 0; i < y.size(); ++i) {
    const double term = v[i].value * y[i].tangent, output = std::abs(v[i].value * y[i].value);
    result.value += term;
    result.scale += std::abs(term);
    result.size += output;
    if (term != 0) moved += output;
    if (oracle.reached != nullptr && y[i].tangent != 0)
      (*oracle.reached)[static_cast<std::size_t>(i)] = true;
  }
  result.noise = 4 * epsilon * result.size;
  result.own_noise = 4 * epsilon * moved;
  return result;
}

// The result of six points around x.
//
// Note [Six points]: f' = (45·(f₁ − f₋₁) − 9·(f₂ − f₋₂) + (f₃ − f₋₃)) / 60h + O(h⁶), f_k = f(x +
// kh). With h = ε^(1/7)·max(1, |x|) truncation and rounding balance near 4e-14 (de Levie 2009; the
// step is Stan's). Two points would reach 4e-11.
struct SixPoints {
  double step = 0;
  std::vector<double> terms;  // v_i·∂y_i/∂x_j
  double size = 0;            // Σ_i |v_i·y_i|

  Derivative derivative() const {
    Derivative result;
    for (const double term : terms) {
      result.value += term;
      result.scale += std::abs(term);
    }
    result.size = size;
    result.rounding = result.noise = 2 * epsilon * size / step;
    return result;
  }
};

SixPoints six_point_difference(const Oracle& oracle, Real& x, double h) {
  constexpr double weights[] = {45, -9, 1};
  const double place = x.value;
  const std::vector<double> v = to_vector(oracle.v);
  SixPoints result{h, std::vector<double>(v.size(), 0.0), 0};
  for (int k = 1; k <= 3; ++k) {
    const std::vector<double> above = outputs_at(oracle, x, place + k * h),
                              below = outputs_at(oracle, x, place - k * h);
    for (std::size_t i = 0; i < v.size(); ++i) {
      result.terms[i] += v[i] * weights[k - 1] * (above[i] - below[i]) / (60 * h);
      if (k == 1) result.size += std::abs(v[i] * above[i]);
    }
  }
  x = place;
  return result;
}

// Σ_i of the change of term i from one step to the next
double gap_between(const SixPoints& coarse, const SixPoints& fine) {
  double gap = 0;
  for (std::size_t i = 0; i < fine.terms.size(); ++i)
    gap += std::abs(fine.terms[i] - coarse.terms[i]);
  return gap;
}

// Note [Noise]: rounding inside f may be far larger than that of its outputs, as in (x + 1e6) − 1e6.
// It gives y an error of the same size at every step, and so the derivative one of size ~ 1/h: step
// m, whose result is `gaps[m]` from that of the step before, shows h_m·gaps[m]. Two steps may agree
// by chance; all steps finer than h, and two coarser ones, do not.
double noise_at(std::size_t k, const std::vector<SixPoints>& tried,
                const std::vector<double>& gaps) {
  double noise = gaps[k];
  for (std::size_t m = k > 2 ? k - 2 : 1; m < tried.size(); ++m)
    if (std::isfinite(gaps[m]))
      noise = std::max(noise, gaps[m] * std::min(1.0, tried[m].step / tried[k].step));
  return noise;
}

// Where rounding makes f a staircase, as in (x + 1e14) − 1e14, a short step sees one stair: an
// output stands still that moved with a longer step. Returns Σ_i of how fast those outputs moved.
double stairs_at(std::size_t k, const std::vector<SixPoints>& tried) {
  double total = 0;
  for (std::size_t i = 0; i < tried[k].terms.size(); ++i) {
    if (tried[k].terms[i] != 0) continue;
    double most = 0;
    for (std::size_t m = 0; m < k; ++m) most = std::max(most, std::abs(tried[m].terms[i]));
    total += most;
  }
  return total;
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
// result wrong. If h is too small, rounding errors of size ε·|f|/h do. Each step is about half of
// the one before: of exact halves, rounding to a multiple of a power of two may give equal results.
// The result with the smallest uncertainty is returned: see Note [Noise]. `claimed`, the value by
// backward(), decides only whether several steps are tried, not which result is returned.
Derivative by_differences(const Oracle& oracle, Real& x, double claimed) {
  const double step = std::pow(epsilon, 1.0 / 7) * std::max(1.0, std::abs(x.value));
  const Derivative first = six_point_difference(oracle, x, step).derivative();
  // Where f overflows nearby, the scale is infinite: any error would be less.
  if (std::isfinite(first.scale) &&
      std::abs(first.value - claimed) <= 0.1 * oracle.tolerance * first.scale)
    return first;

  std::vector<SixPoints> tried{six_point_difference(oracle, x, 8 * step)};
  std::vector<double> gaps{infinity};
  for (int k = 0; k < 14; ++k) {  // from 4·step down to step/4600
    tried.push_back(six_point_difference(oracle, x, 4 * step * std::pow(0.47, k)));
    gaps.push_back(gap_between(tried[tried.size() - 2], tried.back()));
  }
  Derivative best = tried.back().derivative();
  best.uncertainty = infinity;
  std::size_t at = tried.size() - 1;
  for (std::size_t k = 1; k < tried.size(); ++k) {
    Derivative found = tried[k].derivative();
    found.uncertainty = noise_at(k, tried, gaps) + found.rounding;
    if (!(found.uncertainty < best.uncertainty)) continue;
    best = found;
    at = k;
  }
  // The last three steps are so short that only noise is left in their gaps.
  for (std::size_t m = tried.size() - 3; m < tried.size(); ++m)
    if (std::isfinite(gaps[m]))
      best.rounding = std::max(best.rounding, 2 * gaps[m] * tried[m].step / tried[at].step);
  const double stairs = stairs_at(at, tried);
  best.rounding += stairs;
  best.uncertainty += stairs;
  best.converged = best.uncertainty <= 1e-6 * best.scale + 1e-9 * best.size;
  // Where f is smooth over 3h, the gap shrinks with the step as the step does.
  double before = tried[at].step, wide = one_sided_gap(oracle, x, before);
  for (const double h : {step / 1024, step / 4096}) {
    const double narrow = one_sided_gap(oracle, x, h), noise = 4 * epsilon * best.size / h;
    if (narrow > 2 * h / before * wide && narrow > 1e-3 * best.scale + noise)
      best.converged = false;
    before = h;
    wide = narrow;
  }
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
