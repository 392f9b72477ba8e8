#include "nn/optim/sgd.h"

namespace fledge {

namespace {

void check(const SgdOptions& options) {
  require<ValueError>(std::isfinite(options.rate) && options.rate >= 0, "Sgd",
                      "the rate must be finite and not negative: got ", options.rate);
  require<ValueError>(isfinite(Real(options.rate)), "Sgd",
                      "the rate is too large for this number type: got ", options.rate);
  require<ValueError>(options.momentum >= 0 && options.momentum < 1, "Sgd",
                      "the momentum must be in [0, 1): got ", options.momentum);
}

}  // namespace

Sgd::Sgd(std::vector<Tensor> parameters, SgdOptions sgd_options)
    : options(sgd_options), parameters_(std::move(parameters)), velocity_(parameters_.size()) {
  require_parameters("Sgd", parameters_);
  check(options);
}

void Sgd::step() {
  check(options);
  const GradientParts gradients(parameters_);
  require_finite("Sgd", parameters_, gradients, Finite::gradients);
  const PoolVector<Real*> numbers = writable_numbers(parameters_);
  for (std::size_t p = 0; p < parameters_.size(); ++p)
    allocate_moment(velocity_[p], parameters_[p]);
  const Real rate = Real(options.rate), momentum = Real(options.momentum);
  PoolVector<Real*> velocities(parameters_.size());
  for (std::size_t p = 0; p < parameters_.size(); ++p)
    if (numbers[p] != nullptr) velocities[p] = velocity_[p].write();
  const InterruptScope no_interrupt(nullptr);  // from here on all parameters are updated
  gradients.each(2, [&](const GradientParts::Part& part) {
    const Real* const g = part.numbers;
    Real* const theta = numbers[part.parameter] + part.begin;
    Real* const v = velocities[part.parameter] + part.begin;
    for (Dim i = 0; i < part.count; ++i) {
      v[i] = momentum * v[i] + g[i];
      theta[i] -= rate * v[i];
    }
  });
}

}  // namespace fledge
