#include "nn/optim/adamw.h"

#include <cmath>

#include "engine/base/interrupt.h"
#include "engine/kernels/simd_math.h"

namespace fledge {

namespace {

using kernels::load;
using kernels::store;
using kernels::Vec;

void check(const AdamWOptions& options) {
  const auto not_negative = [](const char* what, double x) {
    require<ValueError>(std::isfinite(x) && x >= 0, "AdamW", what,
                        " must be finite and not negative: got ", x);
  };
  not_negative("the rate", options.rate);
  not_negative("the decay", options.decay);
  not_negative("eps", options.eps);
  require<ValueError>(Real(options.eps) > Real(0), "AdamW", "eps must be positive: got ",
                      options.eps);
  for (const double beta : {options.beta1, options.beta2})
    require<ValueError>(beta >= 0 && beta < 1, "AdamW", "both betas must be in [0, 1): got ", beta);
  require<ValueError>(isfinite(Real(options.rate / (1 - options.beta1))) &&
                          isfinite(Real(options.rate * options.decay)),
                      "AdamW", "the rate is too large for this number type: got ", options.rate);
}

// The average β·old + (1 − β)·fresh, computed as a step from the term with the larger weight:
//   from + share·(to − from) = old + (1 − β)·(fresh − old) = fresh + β·(old − fresh),   share ≤ ½
// With the sum of two products, the rounding error of β would repeat at every step: the error after
// 1,000 steps with β = 0.999 in float would be 1.9e-5 instead of 2.1e-6. With a step that always
// begins at `old`, a rounding error of old would remain if β is near 0 and fresh is much smaller
// than old.
class Average {
 public:
  explicit Average(double beta)
      : from_old_(beta >= 0.5), share_(Real(beta >= 0.5 ? 1 - beta : beta)) {}

  bool from_old() const { return from_old_; }

  /// `usual`: from_old() is true, and the loop needs no branch, which takes a tenth of a step.
  template <bool usual>
  Vec of(Vec old, Vec fresh) const {
    const bool from_old = usual || from_old_;
    const Vec from = from_old ? old : fresh, to = from_old ? fresh : old;
    return from + share_ * (to - from);
  }

 private:
  bool from_old_;
  Real share_;
};

}  // namespace

AdamW::AdamW(std::vector<Tensor> parameters, AdamWOptions adamw_options,
             std::vector<double> decay_factors)
    : options(adamw_options),
      parameters_(std::move(parameters)),
      decay_factors_(std::move(decay_factors)),
      moments_(parameters_.size()) {
  require_parameters("AdamW", parameters_);
  check(options);
  if (decay_factors_.empty()) decay_factors_.assign(parameters_.size(), 1);
  require<ValueError>(decay_factors_.size() == parameters_.size(), "AdamW", "has ",
                      parameters_.size(), " parameters: got ", decay_factors_.size(),
                      " factors of the decay; give one per parameter");
  for (const double factor : decay_factors_)
    require<ValueError>(factor >= 0 && factor <= 1, "AdamW",
                        "a factor of the decay must be in [0, 1]: got ", factor);
}

void AdamW::step() {
  check(options);
  const Average first_moment(options.beta1), second_moment(options.beta2);
  const GradientParts gradients(parameters_);
  require_finite("AdamW", parameters_, gradients, Finite::squares);
  const PoolVector<Real*> numbers = writable_numbers(parameters_);
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    allocate_moment(moments_[p].m, parameters_[p]);
    allocate_moment(moments_[p].v, parameters_[p]);
  }
  struct Update {
    Real *m, *v;
    Real decay, rate, root2;
  };
  PoolVector<Update> updates(parameters_.size());
  for (std::size_t p = 0; p < parameters_.size(); ++p)  // before anything changes: it may throw
    if (numbers[p] != nullptr)
      updates[p] = {moments_[p].m.write(), moments_[p].v.write(), Real(0), Real(0), Real(0)};
  const InterruptScope no_interrupt(nullptr);  // from here on all parameters are updated
  const Real eps = Real(options.eps);

  Dim t = 0;  // computed again only if it changes: the two powers take 200 instructions
  Real rate = Real(0), root2 = Real(0);
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (numbers[p] == nullptr) continue;
    if (++moments_[p].t != t) {
      t = moments_[p].t;
      const double correction1 = 1 - std::pow(options.beta1, static_cast<double>(t));
      const double correction2 = 1 - std::pow(options.beta2, static_cast<double>(t));
      rate = Real(options.rate / correction1);
      root2 = Real(std::sqrt(correction2));
    }
    updates[p].decay = Real(options.rate * options.decay * decay_factors_[p]);
    updates[p].rate = rate;
    updates[p].root2 = root2;
  }
  const auto run = [&]<bool usual>(std::bool_constant<usual>) {
    gradients.each(4, [&, first = first_moment, second = second_moment](const auto& part) {
      const Update update = updates[part.parameter];
      Real* const theta = numbers[part.parameter] + part.begin;
      Real* const m = update.m + part.begin;
      Real* const v = update.v + part.begin;
      kernels::by_vectors(part.count, [=](Dim i, Dim count) {
        const Vec old = load(theta + i, count), g = load(part.numbers + i, count);
        const Vec mean = first.template of<usual>(load(m + i, count), g);
        const Vec square = second.template of<usual>(load(v + i, count), g * g);
        const Vec step = update.rate * mean / (sqrt(square) / update.root2 + eps);
        store(theta + i, old - (update.decay * old + step), count);
        store(m + i, mean, count);
        store(v + i, square, count);
      });
    });
  };
  if (first_moment.from_old() && second_moment.from_old())
    run(std::true_type());
  else
    run(std::false_type());
}

std::vector<Moments> AdamW::moments() const {
  std::vector<Moments> copies;
  for (const Moments& moments : moments_) copies.push_back(copy_of(moments));
  return copies;
}

void AdamW::restore(const std::vector<Moments>& moments) {
  require_moments("AdamW", parameters_, moments);
  std::vector<Moments> copies;
  for (std::size_t p = 0; p < moments.size(); ++p) {
    require<ValueError>(!moments[p].is_muon, "AdamW", "parameter ", p,
                        " needs moments of AdamW: got a momentum of Muon");
    copies.push_back(copy_of(moments[p]));
  }
  moments_ = std::move(copies);
}

}  // namespace fledge
