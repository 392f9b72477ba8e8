#include "engine/kernels/sums.h"

#include <algorithm>
#include <vector>

namespace fledge::inline FLEDGE_BUILD::kernels {

namespace {

constexpr Dim leaf = 128;  // below this a plain loop; the halving above it costs one call per 128
constexpr Dim lanes = 8;   // partial sums that do not wait for each other

// Σ term(i), i = begin … end − 1, by halves; the order depends on n alone.
template <class Term>
Real halved(Dim begin, Dim end, Term term) {
  if (end - begin > leaf) {
    const Dim middle = begin + (end - begin) / 2;
    return halved(begin, middle, term) + halved(middle, end, term);
  }
  Real partial[lanes] = {};
  Dim i = begin;
  for (; i + lanes <= end; i += lanes)
    for (Dim lane = 0; lane < lanes; ++lane) partial[lane] += term(i + lane);
  for (Dim lane = 0; i < end; ++i, ++lane) partial[lane] += term(i);
  for (Dim width = lanes / 2; width > 0; width /= 2)
    for (Dim lane = 0; lane < width; ++lane) partial[lane] += partial[lane + width];
  return partial[0];
}

constexpr Dim row_leaf = 16;  // one chain of additions per column: as long as a lane's in `halved`

// out_i = Σ_r x[r, i] for rows begin … end − 1, by halves.
void add_rows(const Real* x, Real* out, Dim begin, Dim end, Dim inner) {
  if (end - begin > row_leaf) {
    const Dim middle = begin + (end - begin) / 2;
    add_rows(x, out, begin, middle, inner);
    std::vector<Real> right(static_cast<std::size_t>(inner));
    add_rows(x, right.data(), middle, end, inner);
    for (Dim i = 0; i < inner; ++i) out[i] += right[static_cast<std::size_t>(i)];
    return;
  }
  std::fill_n(out, inner, Real(0));
  for (Dim r = begin; r < end; ++r)
    for (Dim i = 0; i < inner; ++i) out[i] += x[r * inner + i];
}

}  // namespace

Real sum(const Real* x, Dim n) {
  return halved(0, n, [x](Dim i) { return x[i]; });
}

Real dot(const Real* a, const Real* b, Dim n) {
  return halved(0, n, [a, b](Dim i) { return a[i] * b[i]; });
}

void sum_columns(const Real* x, Real* out, Dim outer, Dim reduced, Dim inner) {
  for (Dim o = 0; o < outer; ++o) {
    const Real* x_o = x + o * reduced * inner;
    if (inner == 1)
      out[o] = sum(x_o, reduced);
    else
      add_rows(x_o, out + o * inner, 0, reduced, inner);
  }
}

}  // namespace fledge::inline FLEDGE_BUILD::kernels
