#include "engine/gradcheck/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/array.h"
#include "engine/autograd.h"
#include "engine/gradcheck/backward_consistency.h"
#include "engine/gradcheck/saved_values.h"

namespace fledge {

namespace {

constexpr int trials = 6;

// Changes every element of every parameter by up to three units in its last place. A zero stays
// zero, so that an input on the kink of relu stays there.
void change_last_places(const std::vector<NamedTensor>& parameters, std::uint64_t seed) {
  Rng rng(seed);
  for (const NamedTensor& p : parameters) {
    Real* to = p.tensor.write();
    for (Dim j = 0; j < p.tensor.size(); ++j)
      to[j] = to[j] * Real(1 + static_cast<double>(rng.below(7) - 3) *
                                   std::numeric_limits<double>::epsilon());
  }
}

}  // namespace

double Difference::size() const { return std::abs(analytic - expected); }

bool Difference::is_zero() const {
  return is_rounding() && std::max(std::abs(analytic), std::abs(expected)) <= 4 * change;
}

void measure_changes(const std::function<Tensor()>& f, const std::vector<NamedTensor>& parameters,
                     const Array& v, const Oracle& oracle, std::vector<Difference>& differences) {
  if (differences.empty()) return;
  for (int trial = 1; trial <= trials; ++trial) {
    completes([&] {  // a trial outside the domain of f shows nothing
      const SavedValues saved(parameters);
      change_last_places(parameters, static_cast<std::uint64_t>(trial));
      const auto gradients = gradients_of(f(), parameters, v);
      for (Difference& d : differences) {
        const double a = gradients[d.parameter][d.element];
        const Derivative n =
            oracle.at(parameters[d.parameter].tensor, static_cast<Dim>(d.element), a);
        const double change = std::abs((a - n.value) - (d.analytic - d.expected));
        if (std::isfinite(change)) d.change = std::max(d.change, change);
      }
    });
  }
}

}  // namespace fledge
