#include "engine/gradcheck/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fledge {

Comparison::Comparison(Method method, const CheckedGradients& checked)
    : checked_(checked),
      oracle_{method, checked.f, checked.v,
              method == Method::dual ? checked.options.tolerance_dual
                                     : checked.options.tolerance_differences},
      rounding_(checked.parameters.size(), 0.0) {
  for (std::size_t p = 0; p < checked.parameters.size(); ++p) {
    elements_.emplace_back();
    for (std::size_t j = 0; j < checked.gradients[p].size(); ++j) {
      Element e{p, j, checked.gradients[p][j], {}};
      e.found = oracle_.at(checked.parameters[p].tensor, static_cast<Dim>(j), e.analytic);
      if (is_listed(p) && e.is_noise()) e.analytic = e.found.value = 0;  // the zero expected
      if (std::isfinite(e.found.scale)) floor_ = std::max(floor_, 0.01 * e.found.scale);
      elements_[p].push_back(e);
    }
  }
  recognise_rounding();
  max_error_ = -infinity;
  each_element([&](Element& e) { judge(e); });
  if (max_error_ == -infinity) max_error_ = infinity;  // no element was decided
  refuse_silent_zeros();
}

double Comparison::Element::difference() const { return std::abs(analytic - found.value); }

// Whether backward() and the oracle both give rounding errors of a derivative that is zero.
bool Comparison::Element::is_noise() const {
  return std::abs(analytic) <= found.noise && std::abs(found.value) <= found.noise;
}

double Comparison::error_of(const Element& e) const {
  if (!std::isfinite(e.analytic) || !std::isfinite(e.found.value)) return std::nan("");
  return e.analytic == e.found.value ? 0 : e.difference() / std::max(e.found.scale, floor_);
}

// Decides whether a difference between backward() and the oracle is an error or only rounding.
// Where a true gradient cancels to zero, as that of cosine_similarity(b, b) does, both numbers are
// rounding errors, of a size that depends on numbers inside f. When the inputs change in their last
// places, an error keeps its size; a rounding error becomes another number.
//
// A gradient that is only rounding is zero: by dual numbers, which are exact but for rounding, and
// by differences if the tensor is listed.
void Comparison::recognise_rounding() {
  std::vector<Element*> small, zeros;
  const auto add_zero = [&](Element& e, double size) {
    rounding_[e.parameter] = std::max(rounding_[e.parameter], size);
    zeros.push_back(&e);
  };
  each_element([&](Element& e) {
    if (!(error_of(e) > oracle_.tolerance)) return;
    if (e.is_noise()) {
      add_zero(e, e.found.noise);
    } else if (e.difference() <= 1e-6 * std::max(floor_, e.found.size)) {
      small.push_back(&e);
    }
  });
  measure_changes(small);
  for (Element* e : small) {
    if (e->change < 0.5 * e->difference()) continue;  // an error: it is steady
    e->found.rounding = 2 * e->change;
    const double larger = std::max(std::abs(e->analytic), std::abs(e->found.value));
    if (larger <= 4 * e->change) add_zero(*e, 4 * e->change);
  }
  // A tensor without a gradient is left to refuse_silent_zeros().
  for (Element* e : zeros)
    e->zero =
        oracle_.method == Method::dual || is_listed(e->parameter) || !has_gradient(e->parameter);
}

// Sets `change` of each element: the largest in six trials. A trial changes every number of every
// parameter by up to three units in its last place. A zero stays zero, so that an input on the kink
// of relu stays there. A trial in which f throws or is not finite shows nothing.
void Comparison::measure_changes(const std::vector<Element*>& elements) const {
  std::vector<Tensor> tensors;
  for (const NamedTensor& p : checked_.parameters) tensors.push_back(p.tensor);
  const auto trial = [&](std::uint64_t seed) {
    const ChangedValues changed(tensors);
    Rng rng(seed);
    for (std::size_t p = 0; p < tensors.size(); ++p)
      for (Dim j = 0; j < tensors[p].size(); ++j)
        changed.numbers(p)[j] *=
            1 + static_cast<double>(rng.below(7) - 3) * std::numeric_limits<double>::epsilon();
    const Gradients gradients = gradients_of(checked_.f(), checked_.parameters, checked_.v);
    for (Element* e : elements) {
      const double a = gradients[e->parameter][e->index];
      const Derivative n = oracle_.at(tensors[e->parameter], static_cast<Dim>(e->index), a);
      const double change = std::abs((a - n.value) - (e->analytic - e->found.value));
      if (std::isfinite(change)) e->change = std::max(e->change, change);
    }
  };
  for (std::uint64_t seed = 1; seed <= 6 && !elements.empty(); ++seed)
    completes([&] { trial(seed); });
}

// The steps that differences tried may disagree by more than the tolerance. A smaller error may
// then be an error of the differences.
void Comparison::judge(Element& e) {
  const double error = e.zero ? 0 : error_of(e);
  if (!(error <= oracle_.tolerance)) {  // also if it is NaN
    const bool excused = !e.found.converged || e.difference() <= e.found.uncertainty;
    e.verdict = excused || e.rounding_hides() ? Verdict::undecided : Verdict::wrong;
  }
  if (e.verdict == Verdict::undecided) {
    if (!undecided_) undecided_ = finding(e, e.reason_undecided());
    return;
  }
  if (error <= max_error_ || std::isnan(max_error_)) return;  // NaN is worse than any number
  max_error_ = error;
  if (e.verdict == Verdict::wrong) wrong_ = finding(e, "the gradient is wrong");
}

std::string Comparison::Element::reason_undecided() const {
  return rounding_hides()
             ? "rounding hides this derivative: the output, or a number on the way to it, is too "
               "large; leave large constants out of the function"
             : "finite differences do not converge here: the function has a kink, a jump or the "
               "edge of its domain at or near this point";
}

// A gradient that is zero everywhere looks the same if no rule has computed it, and a list of
// exceptions would hide one that is zero by mistake.
void Comparison::refuse_silent_zeros() {
  for (std::size_t p = 0; p < elements_.size() && !wrong_; ++p) {
    std::vector<Element>& elements = elements_[p];
    const Element* const gradient = first_gradient(p);
    if (elements.empty() || (gradient == nullptr) == is_listed(p)) continue;
    if (gradient != nullptr) {
      wrong_ = finding(*gradient,
                       "the tensor is listed in zero_gradients, but its gradient is not zero: "
                       "remove it from the list");
      continue;
    }
    for (Element& e : elements) e.verdict = Verdict::undecided;
    if (undecided_) continue;
    const bool all_zero = std::all_of(elements.begin(), elements.end(),
                                      [](const Element& e) { return e.analytic == 0; });
    undecided_ = finding(
        elements[0],
        rounding_[p] > 0
            ? "this gradient is only rounding: list the tensor in zero_gradients if it is zero by "
              "mathematics (a softmax sums to 1: multiply its terms by different numbers), or "
              "leave large constants out of the function"
        : all_zero
            ? "this check could not have failed: the gradient is zero in every element; "
              "list the tensor in zero_gradients if it is zero by mathematics"
            : "this gradient is too small beside the others to be checked with them: check the "
              "tensor alone, or list it in zero_gradients if it is zero by mathematics");
  }
}

Finding Comparison::finding(const Element& e, std::string problem) const {
  return {std::move(problem), e.parameter, e.index, e.analytic, e.found.value};
}

bool Comparison::is_listed(std::size_t p) const {
  const auto& zero = checked_.options.zero_gradients;
  return std::find(zero.begin(), zero.end(), checked_.parameters[p].name) != zero.end();
}

// The first element with a gradient larger than its rounding error, or null.
const Comparison::Element* Comparison::first_gradient(std::size_t p) const {
  const double least = std::max(oracle_.tolerance * floor_, rounding_[p]);
  for (const Element& e : elements_[p])
    if (std::abs(e.analytic) > least) return &e;
  return nullptr;
}

bool Comparison::confirms(std::size_t p, std::size_t j) const {
  if (verdict(p, j) != Verdict::right) return false;
  // At a kink symmetric differences give the mean of two slopes; a closer look shows it.
  const Tensor& x = checked_.parameters[p].tensor;
  return oracle_.at(x, static_cast<Dim>(j), std::nan("")).converged;
}

Dim Comparison::count_undecided() const {
  Dim count = 0;
  for (const std::vector<Element>& of_parameter : elements_)
    for (const Element& e : of_parameter) count += e.verdict == Verdict::undecided ? 1 : 0;
  return count;
}

Diagnosis Comparison::diagnose_parameter(std::size_t p) const {
  std::vector<double> expected, analytic;
  for (const Element& e : elements_[p]) {
    expected.push_back(e.found.value);
    analytic.push_back(e.analytic);
  }
  return diagnose(analytic, expected, checked_.parameters[p].tensor.shape(),
                  floor_ * oracle_.tolerance,
                  known_mistakes(checked_.f, checked_.parameters, p, checked_.v));
}

}  // namespace fledge
