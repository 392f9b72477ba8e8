#include "engine/kernels/rows.h"

#include <algorithm>

#include "engine/base/memory.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/pairwise_sum.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/sums.h"

namespace fledge::kernels {

namespace {

Real largest(const Real* x, Dim n) {
  Vec top = splat(Real(-infinity));
  by_vectors(n, [&](Dim j, Dim count) { top = larger(top, load(x + j, count, Real(-infinity))); });
  return fold(top, larger);
}

// Softmax of a row that stays in registers: the numbers after its last whole vector, which are slow
// to load and to store, are loaded once and stored once.
template <int vectors>
LogSum short_softmax(const Real* x, Real* y, Dim n) {
  constexpr int last = vectors - 1;
  const Dim rest = n - last * lanes;
  Vec at[vectors], top = splat(Real(-infinity)), sums = splat(Real(0));
  for (int j = 0; j < last; ++j) at[j] = load(x + j * lanes);
  at[last] = load(x + last * lanes, rest, Real(-infinity));
  for (const Vec& v : at) top = larger(top, v);
  const Real most = fold(top, larger);
  for (Vec& v : at) sums += v = exp_of_weight(v - most);
  const Real total = sum_of(sums), share = Real(1) / total;
  for (int j = 0; j < last; ++j) store(y + j * lanes, at[j] * share);
  store(y + last * lanes, at[last] * share, rest);
  return {most, log(total)};
}

// A long row is summed in parts of this length: in one chain of additions a lane that adds ones
// stops at 2²⁴.
constexpr Dim sum_part = 1 << 16;

}  // namespace

LogSum softmax_row(const Real* x, Real* y, Dim n) {
  constexpr LogSum (*short_ones[])(const Real*, Real*, Dim) = {short_softmax<1>, short_softmax<2>,
                                                               short_softmax<3>, short_softmax<4>};
  if (n > 0 && n <= 4 * lanes) return short_ones[(n - 1) / lanes](x, y, n);
  const Real top = largest(x, n);  // subtracting it changes nothing, but exp cannot overflow
  Vec total_of_parts = splat(Real(0));
  for (Dim first = 0; first < n; first += sum_part) {
    Vec sums = splat(Real(0));
    by_vectors(std::min(sum_part, n - first), [&](Dim j, Dim count) {
      const Vec e = exp_of_weight(load(x + first + j, count, Real(-infinity)) - top);
      sums += e;
      store(y + first + j, e, count);
    });
    total_of_parts += sums;
  }
  const Real total = sum_of(total_of_parts), share = Real(1) / total;
  by_vectors(n, [&](Dim j, Dim count) { store(y + j, load(y + j, count) * share, count); });
  return {top, log(total)};
}

void softmax_row_vjp(const Real* y, const Real* dy, Real* dx, Dim n) {
  const Real mean = dot(dy, y, n);  // y sums to 1, so ⟨dy, y⟩ is the y-weighted mean of dy
  for (Dim j = 0; j < n; ++j) dx[j] = y[j] * (dy[j] - mean);
}

namespace {

// Copies the visible numbers of x to `seen`, side by side; returns their count.
Dim gather(const unsigned char* visible, const Real* x, Real* seen, Dim n) {
  Dim count = 0;
  for (Dim j = 0; j < n; ++j)
    if (visible[j] != 0) seen[count++] = x[j];
  return count;
}

// Copies them back to where they were in x; hidden numbers become 0.
void scatter(const unsigned char* visible, const Real* seen, Real* x, Dim n) {
  for (Dim j = 0; j < n; ++j) x[j] = visible[j] != 0 ? *seen++ : Real(0);
}

}  // namespace

void softmax_rows(const Real* x, const unsigned char* visible, Real* y, Dim rows, Dim n) {
  if (visible == nullptr)
    return for_rows(rows, n, 8, [=](Dim r) { softmax_row(x + r * n, y + r * n, n); });
  for_rows(rows, n, 8, [=](Dim r) {
    Buffer seen(n);
    const Dim count = gather(visible + r * n, x + r * n, seen.data(), n);
    softmax_row(seen.data(), seen.data(), count);
    scatter(visible + r * n, seen.data(), y + r * n, n);
  });
}

void softmax_rows_vjp(const Real* y, const Real* dy, const unsigned char* visible, Real* dx,
                      Dim rows, Dim n) {
  if (visible == nullptr)
    return for_rows(rows, n, 2,
                    [=](Dim r) { softmax_row_vjp(y + r * n, dy + r * n, dx + r * n, n); });
  for_rows(rows, n, 2, [=](Dim r) {
    Buffer seen_y(n), seen(n);
    const Dim count = gather(visible + r * n, dy + r * n, seen.data(), n);
    gather(visible + r * n, y + r * n, seen_y.data(), n);
    softmax_row_vjp(seen_y.data(), seen.data(), seen.data(), count);
    scatter(visible + r * n, seen.data(), dx + r * n, n);
  });
}

}  // namespace fledge::kernels
