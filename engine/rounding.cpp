#if defined(FLEDGE_DOUBLE) || defined(FLEDGE_DUAL)
#include "engine/rounding.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "engine/autograd.h"
#include "engine/pullback.h"
#include "engine/random.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

constexpr int trials = 6;

// Every element of every parameter, changed by up to three units in its last place; the destructor
// restores them. A zero stays zero, so that an input on the kink of relu stays there.
class Nudged {
 public:
  Nudged(const std::vector<NamedTensor>& parameters, std::uint64_t seed) : parameters_(parameters) {
    Rng rng(seed);
    for (const NamedTensor& p : parameters) {
      before_.push_back(p.tensor.value().clone());
      Real* to = p.tensor.write();
      for (Dim j = 0; j < p.tensor.size(); ++j)
        to[j] = to[j] * Real(1 + static_cast<double>(rng.below(7) - 3) *
                                     std::numeric_limits<double>::epsilon());
    }
  }
  ~Nudged() {
    for (std::size_t p = 0; p < parameters_.size(); ++p)
      std::copy_n(before_[p].data(), before_[p].size(), parameters_[p].tensor.write());
  }
  Nudged(const Nudged&) = delete;
  Nudged& operator=(const Nudged&) = delete;

 private:
  const std::vector<NamedTensor>& parameters_;
  std::vector<Array> before_;
};

}  // namespace

double Difference::size() const { return std::abs(analytic - numeric); }

bool Difference::is_zero() const {
  return is_rounding() && std::max(std::abs(analytic), std::abs(numeric)) <= 4 * change;
}

void measure_changes(const std::function<Tensor()>& f, const std::vector<NamedTensor>& parameters,
                     const Array& v, const Oracle& oracle, std::vector<Difference>& differences) {
  if (differences.empty()) return;
  for (int trial = 1; trial <= trials; ++trial) {
    try {
      const Nudged nudged(parameters, static_cast<std::uint64_t>(trial));
      const auto gradients = gradients_of(f(), parameters, v);
      for (Difference& d : differences) {
        const double a = gradients[d.parameter][d.element];
        const Derivative n =
            oracle.at(parameters[d.parameter].tensor, static_cast<Dim>(d.element), a);
        const double change = std::abs((a - n.value) - (d.analytic - d.numeric));
        if (std::isfinite(change)) d.change = std::max(d.change, change);
      }
    } catch (const std::exception&) {
      continue;  // outside the domain of f: this trial shows nothing
    }
  }
}

}  // namespace fledge::inline FLEDGE_BUILD
#endif
