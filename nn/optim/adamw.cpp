#include "nn/optim/adamw.h"

#include <cmath>

namespace fledge::inline FLEDGE_BUILD {

AdamW::AdamW(std::vector<Tensor> parameters, AdamWOptions adamw_options)
    : options(adamw_options),
      parameters_(std::move(parameters)),
      m_(parameters_.size()),
      v_(parameters_.size()) {
  const auto not_negative = [](const char* what, double x) {
    require<ValueError>(std::isfinite(x) && x >= 0, "AdamW", what,
                        " must be finite and not negative: got ", x);
  };
  not_negative("the rate", options.rate);
  not_negative("the decay", options.decay);
  not_negative("eps", options.eps);
  require<ValueError>(options.eps > 0, "AdamW", "eps must be positive: got ", options.eps);
  for (const double beta : {options.beta1, options.beta2})
    require<ValueError>(beta >= 0 && beta < 1, "AdamW", "both betas must be in [0, 1): got ", beta);
}

void AdamW::step() {
  require_finite_gradients("AdamW", parameters_);
  ++t_;
  const double correction1 = 1 - std::pow(options.beta1, static_cast<double>(t_));
  const double correction2 = 1 - std::pow(options.beta2, static_cast<double>(t_));
  const Real rate = Real(options.rate / correction1), root2 = Real(std::sqrt(correction2));
  const Real beta1 = Real(options.beta1), beta2 = Real(options.beta2), eps = Real(options.eps);
  const Real keep = Real(1 - options.rate * options.decay);

  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (!parameters_[p].has_grad()) continue;
    const Array& g = parameters_[p].grad();
    if (!m_[p].exists()) {
      m_[p] = Array::zeros(g.shape());
      v_[p] = Array::zeros(g.shape());
    }
    Real* theta = parameters_[p].write();
    Real* m = m_[p].write();
    Real* v = v_[p].write();
    for (Dim i = 0; i < g.size(); ++i) {
      m[i] = beta1 * m[i] + (Real(1) - beta1) * g[i];
      v[i] = beta2 * v[i] + (Real(1) - beta2) * g[i] * g[i];
      theta[i] = keep * theta[i] - rate * m[i] / (sqrt(v[i]) / root2 + eps);
    }
  }
}

}  // namespace fledge::inline FLEDGE_BUILD
