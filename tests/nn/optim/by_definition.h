// Optimisers of one number in long double, from the papers' formulas alone.
#pragma once

#include <cmath>

#include "nn/optim/adamw.h"
#include "nn/optim/sgd.h"

namespace tests {

struct AdamWNumber {
  using Options = fledge::AdamWOptions;
  long double theta, m = 0, v = 0;
  int t = 0;

  void step(long double g, const Options& o, double decay_factor = 1) {
    ++t;
    theta *= 1 - static_cast<long double>(o.rate) * o.decay * decay_factor;
    m = o.beta1 * m + (1 - static_cast<long double>(o.beta1)) * g;
    v = o.beta2 * v + (1 - static_cast<long double>(o.beta2)) * g * g;
    const long double m_hat = m / (1 - std::pow(static_cast<long double>(o.beta1), t));
    const long double v_hat = v / (1 - std::pow(static_cast<long double>(o.beta2), t));
    theta -= o.rate * m_hat / (std::sqrt(v_hat) + o.eps);
  }
};

struct SgdNumber {
  using Options = fledge::SgdOptions;
  long double theta, v = 0;

  void step(long double g, const Options& o, double /*decay_factor*/ = 1) {
    v = o.momentum * v + g;
    theta -= o.rate * v;
  }
};

}  // namespace tests
