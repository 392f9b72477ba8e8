// Rotary positions (Su et al. 2021).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/autograd.h"
#include "engine/base/cosine.h"
#include "engine/base/errors.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/parallel.h"
#include "engine/ops.h"

namespace fledge {

namespace {

// base^(−x) for 0 ≤ x < 1, from the binary digits of x: base^½, base^¼ and so on are square roots,
// which have the same bits everywhere. std::pow does not.
double inverse_power(double base, double x) {
  double power = 1;
  for (double root = std::sqrt(base); x > 0; root = std::sqrt(root)) {
    x *= 2;
    if (x < 1) continue;
    power *= root;
    x -= 1;
  }
  return 1 / power;
}

/// What one call turns: in rows of `columns` numbers, the first `heads` groups of D.
struct Turn {
  Dim D, heads, first, time, columns;
  double base;
  std::vector<Dim> positions;  // of each row, from `first` on: all below `time`

  /// y = x, turned by the angles of its positions times `direction`, 1 or −1.
  Array operator()(const Array& x, double direction) const {
    const Dim half = D / 2;
    std::vector<double> frequencies;
    for (Dim i = 0; i < half; ++i)
      frequencies.push_back(
          inverse_power(base, static_cast<double>(2 * i) / static_cast<double>(D)));
    Buffer table(2 * time * half);
    Real* const cosines = table.data();
    Real* const sines = cosines + time * half;
    kernels::for_rows(time, half, 100, [&](Dim t) {
      for (Dim i = 0; i < half; ++i) {
        const double half_turns = static_cast<double>(first + t) *
                                  frequencies[static_cast<std::size_t>(i)] / std::numbers::pi;
        cosines[t * half + i] = Real(cos_pi(half_turns));
        // sin(πx) = cos(π(x − ½))
        sines[t * half + i] = Real(direction * cos_pi(std::abs(half_turns - 0.5)));
      }
    });
    Array y(x.shape());
    const Real* const from = x.data();
    Real* const to = y.write();
    kernels::for_rows(x.size() / columns, columns, 2, [=, this](Dim row) {
      const Dim angles = positions[static_cast<std::size_t>(row) % positions.size()] * half;
      const Real *x_r = from + row * columns, *c = cosines + angles, *s = sines + angles;
      Real* y_r = to + row * columns;
      for (Dim head = 0; head < heads; ++head, x_r += D, y_r += D) {  // two loops: both are vectors
        for (Dim i = 0; i < half; ++i) y_r[i] = x_r[i] * c[i] - x_r[i + half] * s[i];
        for (Dim i = 0; i < half; ++i) y_r[i + half] = x_r[i + half] * c[i] + x_r[i] * s[i];
      }
      std::copy_n(x_r, columns - heads * D, y_r);
    });
    return y;
  }
};

}  // namespace

/// (y_i, y_{i+D/2}) = (x_i·cos θ − x_{i+D/2}·sin θ,  x_{i+D/2}·cos θ + x_i·sin θ)
///
///   dx is dy turned by −θ: a rotation is an orthogonal map, its transpose is its inverse.
Tensor rotate(const Tensor& x, Dim D, Dim heads, Dim first, double base,
              const std::vector<Dim>& lengths) {
  require<ValueError>(D > 0 && D % 2 == 0 && heads > 0, "rotate",
                      "needs an even head size and a head or more: got size ", D, " and ", heads,
                      " heads");
  require(x.rank() >= 2 && x.dim(-1) % D == 0 && x.dim(-1) / D >= heads, "rotate", "needs ", heads,
          " heads of size ", D, " or more side by side, (..., T, n*", D, "): got shape ",
          x.shape());
  require<ValueError>(first >= 0 && base >= 1 && std::isfinite(base), "rotate",
                      "needs a first position of 0 or more and a finite base of 1 or more: got ",
                      first, " and ", base);
  const std::vector<Dim> all = lengths.empty() ? std::vector<Dim>{x.dim(-2)} : lengths;
  require(rows_together(all) == x.dim(-2), "rotate", "needs documents of ", x.dim(-2),
          " rows together: got ", rows_together(all));
  // Roundings of a frequency change cos θ by up to 1e-9 at a million, 2e-6 at 2³¹ (measured).
  const Dim longest = *std::max_element(all.begin(), all.end()), most = Dim{1} << 31;
  require<ValueError>(first <= most - longest, "rotate", "needs positions below 2^31: got ",
                      longest, " from ", first, " on");
  const Turn turn{D, heads, first, longest, x.dim(-1), base, positions_in(all)};
  return record("rotate", turn(x.value(), 1),
                wrt(x, [turn](const Array& dy) { return turn(dy, -1); }));
}

}  // namespace fledge
