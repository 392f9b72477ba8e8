#include "engine/gradcheck/comparison.h"

#include <unordered_set>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"

namespace fledge {

void add_worst(std::vector<WrongElement>& worst, const WrongElement& element) {
  // In float, errors that differ by rounding are equal, and their elements stay in order.
  const auto is_worse = [](const WrongElement& a, const WrongElement& b) {
    return std::isnan(a.error) ? !std::isnan(b.error)
                               : static_cast<float>(a.error) > static_cast<float>(b.error);
  };
  worst.insert(std::upper_bound(worst.begin(), worst.end(), element, is_worse), element);
  if (worst.size() > 5) worst.pop_back();
}

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

std::vector<Node*> leaves_of(const Tensor& y) {
  std::vector<Node*> leaves, waiting;
  if (y.needs_grad()) waiting.push_back(y.node().get());
  std::unordered_set<Node*> known(waiting.begin(), waiting.end());
  while (!waiting.empty()) {
    Node* const node = waiting.back();
    waiting.pop_back();
    if (node->leaf) leaves.push_back(node);
    for (const Edge& edge : node->edges)
      if (known.insert(edge.input.get()).second) waiting.push_back(edge.input.get());
  }
  return leaves;
}

namespace {

// Of the finite numbers.
double largest(const std::vector<double>& numbers) {
  double most = 0;
  for (const double x : numbers)
    if (std::isfinite(x)) most = std::max(most, std::abs(x));
  return most;
}

// One more backward pass, with the cotangent times a factor.
struct Pass {
  double factor, tolerance;
  const char* problem;
};

// Rules are linear in dy: one that clips it is right only where dy is small. Powers of two scale
// every product and every sum without rounding.
constexpr const char* not_linear =
    "a cotangent scaled by a factor gives a gradient that is not scaled by the same factor: a rule "
    "must be linear in dy";
constexpr Pass passes[] = {{1, 0, "a second backward pass gives another gradient"},
                           {0, 0, "a zero cotangent gives a gradient that is not zero"},
                           {1024, 1e-9, not_linear},
                           {-1024, 1e-9, not_linear},
                           {1.0 / 1024, 1e-9, not_linear}};

// The size of the numbers that f adds up, or more: at least 1, |dp| and Σ_i |v_i·y_i| / |p|. A
// gradient that cancels to zero is a rounding error of these numbers. Beside a c of its own size
// every right rule would look wrong.
double size_of_sums(const Array& y, const std::vector<NamedTensor>& parameters, const Array& v,
                    const Gradients& gradients) {
  double output = 0, size = 1;
  for (Dim i = 0; i < y.size(); ++i) output += std::abs(value_of(v[i]) * value_of(y[i]));
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const double x = largest(to_vector(parameters[p].tensor.value()));
    size = std::max({size, largest(gradients[p]), x > 0 ? output / std::min(1.0, x) : output});
  }
  return std::isfinite(size) ? size : 1;
}

// The gradients themselves, with their tangents.
std::vector<Array> arrays_of(const Tensor& y, const std::vector<NamedTensor>& parameters,
                             const Array& v) {
  for (const NamedTensor& p : parameters) p.tensor.zero_grad();
  std::vector<std::pair<Node*, Array>> before;
  for (Node* const leaf : leaves_of(y)) before.emplace_back(leaf, leaf->grad);
  if (y.needs_grad()) backward(y, v, Graph::keep);
  std::vector<Array> gradients;
  for (const NamedTensor& p : parameters)
    gradients.push_back(p.tensor.has_grad() ? p.tensor.grad() : Array::zeros(p.tensor.shape()));
  for (auto& [leaf, gradient] : before) leaf->grad = std::move(gradient);
  return gradients;
}

std::vector<Tensor> tensors_of(const std::vector<NamedTensor>& parameters) {
  std::vector<Tensor> tensors;
  for (const NamedTensor& p : parameters) tensors.push_back(p.tensor);
  return tensors;
}

/// H·u, with the Hessian H of ⟨v, f()⟩: the tangents of Jᵀ·v for parameters with tangents u.
Gradients hessian_times(const std::function<Tensor()>& f,
                        const std::vector<NamedTensor>& parameters, const Array& v,
                        const Gradients& u) {
  const ChangedValues changed(tensors_of(parameters));
  for (std::size_t p = 0; p < u.size(); ++p)
    for (std::size_t j = 0; j < u[p].size(); ++j) changed.numbers(p)[j].tangent = u[p][j];
  Gradients result;
  for (const Array& array : arrays_of(f(), parameters, v)) {
    result.emplace_back();
    for (Dim j = 0; j < array.size(); ++j) result.back().push_back(array[j].tangent);
  }
  return result;
}

}  // namespace

Gradients gradients_of(const Tensor& y, const std::vector<NamedTensor>& parameters,
                       const Array& v) {
  Gradients gradients;
  for (const Array& array : arrays_of(y, parameters, v)) gradients.push_back(to_vector(array));
  return gradients;
}

std::optional<WrongGradient> first_difference(const Gradients& found, const Gradients& expected,
                                              double tolerance, const std::string& problem) {
  for (std::size_t p = 0; p < found.size(); ++p) {
    const double allowed = tolerance * largest(expected[p]) +
                           std::numeric_limits<double>::min();  // numbers below it are rounded
    std::vector<WrongElement> worst;
    for (std::size_t j = 0; j < found[p].size(); ++j) {
      const double difference = std::abs(found[p][j] - expected[p][j]);
      if (std::isfinite(expected[p][j]) && !(difference <= allowed))
        add_worst(worst, {j, found[p][j], expected[p][j], difference});
    }
    if (!worst.empty()) return WrongGradient{problem, p, worst};
  }
  return {};
}

// Six points along u, as in Note [Six points] of oracle.cpp. Of several steps h the one is best that
// agrees most with the one before. Where none does, as at a kink, an element is not compared.
std::optional<WrongGradient> check_hessian(const CheckedGradients& checked,
                                           GradcheckReport& report) {
  const auto& [f, parameters, options, v, gradients] = checked;
  Gradients u, w;
  for (const NamedTensor& p : parameters) {
    u.push_back(to_vector(random_cotangent(p.tensor.shape(), options.seed + 2 * u.size() + 100)));
    w.push_back(to_vector(random_cotangent(p.tensor.shape(), options.seed + 2 * w.size() + 101)));
  }
  const auto gradients_at = [&f = f, &parameters = parameters, &v = v, &u](double h) {
    const ChangedValues changed(tensors_of(parameters));
    for (std::size_t p = 0; p < u.size(); ++p)
      for (std::size_t j = 0; j < u[p].size(); ++j) changed.numbers(p)[j] += Real(h * u[p][j]);
    return gradients_of(f(), parameters, v);
  };
  Gradients best, open, before;  // the differences, and how far those of two steps are apart
  double least = infinity;
  for (double h = 0.012; h > 1e-4; h *= 0.47) {
    Gradients now(u.size()), apart = now;
    if (!completes([&] {
          for (const auto& [k, weight] : {std::pair(3.0, 1.0), {2.0, -9.0}, {1.0, 45.0}}) {
            const Gradients up = gradients_at(k * h), down = gradients_at(-k * h);
            for (std::size_t p = 0; p < u.size(); ++p) now[p].resize(u[p].size());
            for (std::size_t p = 0; p < u.size(); ++p)
              for (std::size_t j = 0; j < u[p].size(); ++j)
                now[p][j] += weight * (up[p][j] - down[p][j]) / (60 * h);
          }
        }))
      continue;
    double total = before.empty() ? infinity : 0;
    for (std::size_t p = 0; p < before.size(); ++p)
      for (std::size_t j = 0; j < u[p].size(); ++j) {
        apart[p].push_back(std::abs(now[p][j] - before[p][j]));
        total += apart[p][j];
      }
    if (total < least) least = total, best = now, open = apart;
    before = now;
  }
  const Gradients hu = hessian_times(f, parameters, v, u), hw = hessian_times(f, parameters, v, w);
  if (best.empty()) {  // f throws near by: no element is decided
    best = open = hu;
    for (std::vector<double>& each : open) std::fill(each.begin(), each.end(), infinity);
  }
  for (std::size_t p = 0; p < best.size(); ++p) {
    const double size = std::max(largest(hu[p]), largest(best[p]));
    std::vector<WrongElement> worst;
    for (std::size_t j = 0; j < u[p].size(); ++j) {
      const double difference = std::abs(hu[p][j] - best[p][j]),
                   rounding = 3 * open[p][j] + 1e-11 * largest(gradients[p]);
      // Where f is linear, H·u is 0, and differences find 0 up to rounding.
      const bool is_zero =
          hu[p][j] == 0 && difference <= rounding && rounding <= 1e-6 * largest(gradients[p]);
      if (!is_zero && !(rounding <= 1e-3 * size && std::isfinite(size))) {
        ++report.second_undecided;
        continue;
      }
      if (size > 0 && !is_zero)
        report.max_error_second = std::max(report.max_error_second, difference / size);
      if (!(difference <= 1e-7 * size + rounding))
        add_worst(worst, {j, hu[p][j], best[p][j], difference});
    }
    if (!worst.empty())
      return WrongGradient{
          "the tangents of backward() are not its derivative H·u by differences: a "
          "rule computes with double in place of Real",
          p, worst};
  }
  double one = 0, other = 0, size = 0;
  for (std::size_t p = 0; p < u.size(); ++p)
    for (std::size_t j = 0; j < u[p].size(); ++j) {
      one += w[p][j] * hu[p][j];
      other += u[p][j] * hw[p][j];
      size += std::abs(w[p][j] * hu[p][j]) + 1e-3 * std::abs(gradients[p][j]);
    }
  if (!(std::abs(one - other) > 1e-9 * size)) return {};
  return WrongGradient{"the Hessian by the tangents of backward() is not symmetric", 0, {}};
}

BackwardConsistency check_passes(const std::function<Tensor()>& f,
                                 const std::vector<NamedTensor>& parameters, const Array& v,
                                 std::uint64_t seed) {
  const Tensor y = f();
  const Gradients gradients = gradients_of(y, parameters, v);
  for (const Pass& pass : passes) {
    Gradients expected = gradients;
    for (std::vector<double>& of_parameter : expected)
      for (double& g : of_parameter) g = pass.factor * g + 0.0;  // 0, not −0
    const Gradients found = gradients_of(y, parameters, v * Real(pass.factor));
    if (auto difference = first_difference(found, expected, pass.tolerance, pass.problem))
      return {gradients, difference};
  }
  if (!y.needs_grad()) return {gradients, {}};

  // Once more with another user c·p of each parameter. It is recorded last, so c has arrived when
  // the rules of f run. A rule that overwrites what it should add to loses c.
  const double size = size_of_sums(y.value(), parameters, v, gradients);
  Tensor total = sum(f() * Tensor(v));
  Gradients expected = gradients;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Tensor& x = parameters[p].tensor;
    const Array c = random_cotangent(x.shape(), seed + p + 1) * Real(size);
    total = total + sum(x * Tensor(c));
    for (std::size_t j = 0; j < expected[p].size(); ++j)
      expected[p][j] += value_of(c[static_cast<Dim>(j)]);
  }
  const Gradients found = gradients_of(total, parameters, Array::ones({}));
  return {gradients, first_difference(found, expected, 1e-6,
                                      "a rule overwrites the contribution of another user of the "
                                      "tensor: it must add its own")};
}

// -- compared with an oracle ----------------------------------------------------------------------

Comparison::Comparison(Method method, const CheckedGradients& checked)
    : checked_(checked),
      reached_(static_cast<std::size_t>(checked.v.size()), false),
      oracle_{method, checked.f, checked.v,
              method == Method::dual ? checked.options.tolerance_dual
                                     : checked.options.tolerance_differences,
              &reached_},
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
  for (std::vector<Element>& of_parameter : elements_)
    for (Element& e : of_parameter) judge(e);
  if (max_error_ == -infinity) max_error_ = infinity;  // no element was decided
  collect(wrong_, Verdict::wrong);
  if (method == Method::dual) collect(undecided_, Verdict::undecided);
  refuse_silent_zeros();
}

double Comparison::Element::difference() const { return std::abs(analytic - found.value); }

double Comparison::Element::own_error() const {
  return analytic == found.value ? 0 : difference() / found.scale;
}

// Whether backward() and the oracle both give rounding errors of a derivative that is zero.
bool Comparison::Element::is_noise() const {
  return std::abs(analytic) <= found.noise && std::abs(found.value) <= found.noise;
}

// Whether measure_changes() has shown that the difference is an error: it is much larger than
// everything that rounding does.
bool Comparison::Element::is_steady() const {
  const double most = std::max({change, far_change, found.rounding, found.own_noise});
  return most < 0.1 * difference() && found.converged && difference() > found.uncertainty &&
         !is_noise() && !is_small_beside_others;
}

double Comparison::error_of(const Element& e) const {
  if (!std::isfinite(e.analytic) || !std::isfinite(e.found.value)) return std::nan("");
  return e.analytic == e.found.value ? 0 : e.difference() / std::max(e.found.scale, floor_);
}

// Decides whether a difference between backward() and the oracle is an error or only rounding, as
// where a true gradient cancels to zero (that of cosine_similarity(b, b)), or where a large number
// cancels on the way. Rounding errors have a size that depends on numbers inside f. By differences
// it shows in the steps (oracle.cpp). By dual numbers: when the inputs change a little, an error
// keeps its size; a rounding error becomes another number.
//
// A gradient that is only rounding is zero: by dual numbers, which are exact but for rounding, and
// by differences if the tensor is listed.
void Comparison::recognise_rounding() {
  std::vector<Element*> measured, zeros;
  const auto add_zero = [&](Element& e, double size) {
    rounding_[e.parameter] = std::max(rounding_[e.parameter], size);
    zeros.push_back(&e);
  };
  for (std::vector<Element>& of_parameter : elements_) {
    std::vector<Element*> suspects;
    for (Element& e : of_parameter) {
      if (!(e.own_error() > oracle_.tolerance)) continue;
      e.is_small_beside_others = error_of(e) <= oracle_.tolerance;
      if (e.is_noise() && !e.is_small_beside_others)
        add_zero(e, e.found.noise);
      else
        suspects.push_back(&e);
    }
    // The worst first, more each time. Where one is an error, the parameter is wrong: the others are
    // not measured, and their rounding is taken to be that of those that were.
    std::stable_sort(suspects.begin(), suspects.end(), [](const Element* a, const Element* b) {
      return a->own_error() > b->own_error();
    });
    for (std::size_t count = 4; !suspects.empty(); count *= 2) {
      const auto end =
          suspects.begin() + static_cast<std::ptrdiff_t>(std::min(count, suspects.size()));
      const std::vector<Element*> batch(suspects.begin(), end);
      suspects.erase(suspects.begin(), end);
      measure_changes(batch);
      measured.insert(measured.end(), batch.begin(), batch.end());
      if (std::none_of(batch.begin(), batch.end(), [](const Element* e) { return e->is_steady(); }))
        continue;
      double largest = 0;
      for (const Element* e : batch) largest = std::max({largest, e->change, e->far_change});
      for (Element* e : suspects) e->found.rounding = std::max(e->found.rounding, 10 * largest);
      break;
    }
  }
  for (Element* e : measured) {
    e->change = std::max(e->change, e->found.rounding);
    if (std::max(e->change, e->far_change) < 0.1 * e->difference()) continue;  // an error: steady
    e->found.rounding = 10 * std::max(e->change, e->far_change);
    const double larger = std::max(std::abs(e->analytic), std::abs(e->found.value));
    if (larger > 4 * e->change) continue;
    if (!e->is_small_beside_others) add_zero(*e, 4 * e->change);
    e->is_small_beside_others = false;
  }
  // A tensor without a gradient is left to refuse_silent_zeros().
  for (Element* e : zeros)
    e->zero =
        oracle_.method == Method::dual || is_listed(e->parameter) || !first_gradient(e->parameter);
}

namespace {

// How many of the numbers differ from each other by more than `least`.
int count_distinct(std::vector<double> numbers, double least) {
  std::sort(numbers.begin(), numbers.end());
  int count = 0;
  double last = -infinity;
  for (const double x : numbers)
    if (x - last > least) {
      ++count;
      last = x;
    }
  return count;
}

}  // namespace

// Sets `change` of each element: the largest in six trials that change every number of every
// parameter, and of v, by up to three units in its last place; a zero stays zero. A sum with a
// larger number swallows such changes. So for the elements that kept their error, `far_change` is
// measured with numbers that change by up to 1e-10 … 1e-4 of themselves, or of 1 if they are 0.
//
// An error may grow linearly with x. So we compare the change with a straight line. At a kink an
// error becomes another one: such a trial counts only if the gradients keep two digits, or if the
// trials give four different numbers. Where f throws or is not finite, a trial shows nothing.
// Differences show their own rounding: then only that of backward() is measured, which is less work.
void Comparison::measure_changes(std::vector<Element*> elements) const {
  const std::vector<Tensor> tensors = tensors_of(checked_.parameters);
  struct Change {
    double of_error = 0, of_gradient = 0;
  };
  const auto changes_at = [&](Rng rng, double size) {
    const ChangedValues changed(tensors);
    const auto change_all = [&](Real* numbers, Dim count) {
      for (Dim j = 0; j < count; ++j) {
        Real& x = numbers[j];
        if (size == 0)
          x *= 1 + static_cast<double>(rng.below(7) - 3) * std::numeric_limits<double>::epsilon();
        else
          x += (x == Real(0) ? Real(1) : x) * (size * (2 * rng.uniform() - 1));
      }
    };
    for (std::size_t p = 0; p < tensors.size(); ++p)
      change_all(changed.numbers(p), tensors[p].size());
    Oracle oracle = oracle_;
    oracle.v = checked_.v.clone();
    change_all(oracle.v.write(), oracle.v.size());
    const Gradients gradients = gradients_of(checked_.f(), checked_.parameters, oracle.v);
    std::vector<Change> changes;
    for (const Element* e : elements) {
      const double a = gradients[e->parameter][e->index];
      double n = e->found.value;
      if (oracle_.method == Method::dual)
        n = oracle.at(tensors[e->parameter], static_cast<Dim>(e->index), a).value;
      changes.push_back({(a - n) - (e->analytic - e->found.value),
                         std::max(std::abs(a - e->analytic), std::abs(n - e->found.value))});
    }
    return changes;
  };
  const auto raise = [](double& most, double x) {
    if (std::isfinite(x)) most = std::max(most, std::abs(x));
  };
  std::uint64_t seed = 0;
  for (int trial = 0; trial < 6 && !elements.empty(); ++trial)
    completes([&] {
      const std::vector<Change> changes = changes_at(Rng(++seed), 0);
      for (std::size_t i = 0; i < elements.size(); ++i)
        raise(elements[i]->change, changes[i].of_error);
    });
  std::erase_if(elements, [](const Element* e) { return e->change >= 0.1 * e->difference(); });
  std::vector<std::vector<double>> bends(elements.size());
  for (const double size : {1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-4, 1e-4, 1e-4}) {
    if (elements.empty() || (oracle_.method == Method::differences && size > 1e-6)) break;
    completes([&] {
      constexpr double part = 0.3;  // of no power of two, so that roundings do not cancel
      const std::vector<Change> far = changes_at(Rng(++seed), size),
                                near = changes_at(Rng(seed), part * size);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const double bend = far[i].of_error - near[i].of_error / part;
        if (std::isfinite(bend)) bends[i].push_back(bend);
        if (std::max(far[i].of_gradient, near[i].of_gradient) <= 0.01 * elements[i]->found.scale)
          raise(elements[i]->far_change, bend);
      }
    });
  }
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (count_distinct(bends[i], 0.05 * elements[i]->difference()) >= 4)
      for (const double bend : bends[i]) raise(elements[i]->far_change, bend);
}

// The steps that differences tried may disagree by more than the tolerance. A smaller error may
// then be an error of the differences.
void Comparison::judge(Element& e) {
  double error = e.zero ? 0 : error_of(e);
  if (!(error <= oracle_.tolerance)) {  // also if it is NaN
    const bool excused = !e.found.converged || e.difference() <= e.found.uncertainty;
    e.verdict = excused || e.rounding_hides() ? Verdict::undecided : Verdict::wrong;
  } else if (e.is_small_beside_others) {
    e.verdict = verdict_beside_larger(e);
    if (e.verdict == Verdict::wrong) error = e.own_error();
  }
  e.error = error;
  if (e.verdict == Verdict::undecided) {
    const bool is_close = oracle_.method == Method::dual && e.agrees_in_six_digits();
    e.reason = is_close
                   ? "it agrees in six digits, and rounding hides the others: a number on the "
                     "way to the output is too large; leave large constants out of the function"
                   : e.reason_undecided();
    if (!undecided_ && !e.is_small_beside_others && !is_close) undecided_ = finding(e, e.reason);
    return;
  }
  if (error <= max_error_ || std::isnan(max_error_)) return;  // NaN is worse than any number
  max_error_ = error;
  if (e.verdict == Verdict::wrong) wrong_ = finding(e, "the gradient is wrong");
}

// An error that is small only beside the largest scale may be rounding of numbers of that scale.
// Dual numbers know better: their rounding is that of the outputs that x_j moves, or it changes with
// the inputs. Six digits that agree are enough to see that the rule is right.
Comparison::Verdict Comparison::verdict_beside_larger(const Element& e) const {
  const Derivative& found = e.found;
  const bool hidden =
      e.difference() <= std::max({found.rounding, found.own_noise, found.uncertainty});
  if (oracle_.method == Method::differences)  // dual numbers decide
    return hidden && e.found.converged ? Verdict::right : Verdict::undecided;
  if (!hidden) return Verdict::wrong;
  return e.agrees_in_six_digits() ? Verdict::right : Verdict::undecided;
}

// The five worst elements of each failure.
void Comparison::collect(std::optional<WrongGradient>& found, Verdict verdict) const {
  if (!found) return;
  found->elements.clear();
  for (const Element& e : elements_[found->parameter])
    if (e.verdict == verdict)
      add_worst(found->elements, {e.index, e.analytic, e.found.value, e.error});
}

const char* Comparison::Element::reason_undecided() const {
  if (is_small_beside_others)
    return "this derivative is too small beside the others: their rounding hides it; check it "
           "alone, or with inputs of one size";
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
    const bool all_zero = std::all_of(elements.begin(), elements.end(),
                                      [](const Element& e) { return e.analytic == 0; });
    const char* const reason =
        rounding_[p] > 0
            ? "this gradient is only rounding: list the tensor in zero_gradients if it is zero by "
              "mathematics (a softmax sums to 1: multiply its terms by different numbers), or "
              "leave large constants out of the function"
        : all_zero
            ? "this check could not have failed: the gradient is zero in every element; "
              "list the tensor in zero_gradients if it is zero by mathematics"
            : "this gradient is too small beside the others to be checked with them: check the "
              "tensor alone, or list it in zero_gradients if it is zero by mathematics";
    for (Element& e : elements) {
      e.verdict = Verdict::undecided;
      e.reason = reason;
    }
    if (!undecided_) undecided_ = finding(elements[0], reason);
  }
}

WrongGradient Comparison::finding(const Element& e, std::string problem) const {
  return {std::move(problem), e.parameter, {{e.index, e.analytic, e.found.value, e.error}}};
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
  if (!(elements_[p][j].own_error() <= oracle_.tolerance)) return false;
  // At a kink symmetric differences give the mean of two slopes; a closer look shows it.
  const Tensor& x = checked_.parameters[p].tensor;
  return oracle_.at(x, static_cast<Dim>(j), std::nan("")).converged;
}

Diagnosis Comparison::diagnose_parameter(std::size_t p) const {
  std::vector<double> expected, analytic;
  double zero = floor_ * oracle_.tolerance;
  for (const Element& e : elements_[p]) {
    expected.push_back(e.found.value);
    analytic.push_back(e.analytic);
    if (e.verdict == Verdict::wrong && e.is_small_beside_others)
      zero = 0;  // it is wrong although it is so small
  }
  return diagnose(analytic, expected, checked_.parameters[p].tensor.shape(), zero,
                  known_mistakes(checked_.f, checked_.parameters, p, checked_.v),
                  known_summands(checked_.f, checked_.parameters, p, checked_.v));
}

}  // namespace fledge
