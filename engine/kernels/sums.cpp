#include "engine/kernels/sums.h"

#include <algorithm>

#include "engine/kernels/pairwise_sum.h"

namespace fledge::kernels {

namespace {

// out_i += Σ_r x_ri over a few rows
template <int rows>
void add_rows(const Real* x, Real* out, Dim n) {
  by_vectors(n, [=](Dim i, Dim count) {
    Vec sum = load(out + i, count);
    for (int r = 0; r < rows; ++r) sum += load(x + r * n + i, count);
    store(out + i, sum, count);
  });
}

// out_i = Σ_r x_ri, four rows at a time from end to end, as each row may be in another page of
// memory.
void add_few_rows(const Real* x, Dim rows, Real* out, Dim n) {
  std::fill_n(out, n, Real(0));
  Dim r = 0;
  for (; r + 4 <= rows; r += 4) add_rows<4>(x + r * n, out, n);
  for (; r < rows; ++r) add_rows<1>(x + r * n, out, n);
}

}  // namespace

Real sum(const Real* x, Dim n) {
  return pairwise_sum(0, n, [x](Dim i, Dim count) { return load(x + i, count); });
}

Real dot(const Real* a, const Real* b, Dim n) {
  return pairwise_sum(0, n,
                      [a, b](Dim i, Dim count) { return load(a + i, count) * load(b + i, count); });
}

double sum_of_squares(const Real* x, Dim n) {
  constexpr Dim parts = 16;
  double partial[parts] = {};
  Dim i = 0;
  for (; i + parts <= n; i += parts)
    for (Dim part = 0; part < parts; ++part) {
      const double v = value_of(x[i + part]);
      partial[part] += v * v;
    }
  for (Dim part = 0; i < n; ++i, ++part) partial[part] += value_of(x[i]) * value_of(x[i]);
  for (Dim width = parts / 2; width > 0; width /= 2)
    for (Dim part = 0; part < width; ++part) partial[part] += partial[part + width];
  return partial[0];
}

// 0·x is 0, or NaN for ∞ and NaN; a sum with a NaN is one.
bool all_finite(const Real* x, Dim n) {
  Vec zeros = splat(Real(0));
  by_vectors(n, [&](Dim i, Dim count) { add_product(zeros, splat(Real(0)), load(x + i, count)); });
  return !isnan(sum_of(zeros));
}

void sum_columns(const Real* x, Real* out, Dim outer, Dim reduced, Dim inner) {
  for (Dim o = 0; o < outer; ++o) {
    const Real* const x_o = x + o * reduced * inner;
    if (inner == 1)
      out[o] = sum(x_o, reduced);
    else
      sum_all_rows(reduced, inner, reduced * inner, out + o * inner,
                   [=](Dim begin, Dim end, Real* to) {
                     add_few_rows(x_o + begin * inner, end - begin, to, inner);
                   });
  }
}

}  // namespace fledge::kernels
