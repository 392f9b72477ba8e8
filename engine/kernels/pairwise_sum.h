// Sums in a fixed order, by halves: error grows with log n, not n (Higham 1993).
// The caller computes the terms.
#pragma once

#include <algorithm>

#include "engine/kernels/buffer.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd.h"

namespace fledge::kernels {

// Vectors of partial sums: while one addition is under way others start.
inline constexpr Dim chains = 4;
inline constexpr Dim chains_length = chains * lanes;
inline constexpr Dim pairwise_leaf = 16 * chains_length;  // 16 additions to each partial sum

/// Σ term(i, count), i = begin … end − 1: term gives the vector of `count` terms from i on, with
/// zeros in the other lanes. The order depends on end − begin alone.
template <class Term>
Real pairwise_sum(Dim begin, Dim end, Term term) {
  if (end - begin > pairwise_leaf) {
    const Dim middle = begin + (end - begin) / 2 / chains_length * chains_length;
    return pairwise_sum(begin, middle, term) + pairwise_sum(middle, end, term);
  }
  // Short rows without the general loop.
  if (end - begin <= lanes) return sum_of(term(begin, end - begin));
  if (end - begin <= 2 * lanes)
    return sum_of(term(begin, lanes) + term(begin + lanes, end - begin - lanes));
  Vec partial[chains] = {};
  Dim i = begin;
  for (; i + chains_length <= end; i += chains_length)
    for (Dim chain = 0; chain < chains; ++chain) partial[chain] += term(i + chain * lanes, lanes);
  by_vectors(end - i, [&](Dim at, Dim n) { partial[at / lanes] += term(i + at, n); });
  return sum_of((partial[0] + partial[1]) + (partial[2] + partial[3]));
}

/// (Σ term(i, count), i = 0 … n − 1) / n
template <class Term>
Real mean_of(Dim n, Term term) {
  return pairwise_sum(0, n, term) / real(n);
}

/// out_i = Σ_r term_ri over the rows begin … end − 1, by halves; out has n numbers. Of at most
/// blocking.sum_rows rows, leaf(first, last, to) writes the sums to `to`.
template <class Leaf>
void sum_rows(Dim begin, Dim end, Dim n, Real* out, const Leaf& leaf) {
  if (end - begin <= blocking.sum_rows) return leaf(begin, end, out);
  const Dim middle = begin + (end - begin) / 2;
  sum_rows(begin, middle, n, out, leaf);
  Buffer right(n);
  sum_rows(middle, end, n, right.data(), leaf);
  for (Dim i = 0; i < n; ++i) out[i] += right.data()[i];
}

/// The same over all rows, in several tasks when there are many. The parts of the tasks are those
/// of the first levels of the halving, so their number changes no bit.
template <class Leaf>
void sum_all_rows(Dim rows, Dim n, Dim work, Real* out, const Leaf& leaf) {
  Dim parts = blocking.sum_parts;
  while (parts > 1 && rows < parts * (blocking.sum_rows + 1)) parts /= 2;
  if (parts == 1) return sum_rows(0, rows, n, out, leaf);
  Buffer sums(parts * n);
  parallel_for(parts, work, [&](Dim part) {
    Dim begin = 0, end = rows;
    for (Dim half = parts / 2; half > 0; half /= 2) {
      const Dim middle = begin + (end - begin) / 2;
      if ((part & half) != 0)
        begin = middle;
      else
        end = middle;
    }
    sum_rows(begin, end, n, sums.data() + part * n, leaf);
  });
  for (Dim step = 1; step < parts; step *= 2)
    for (Dim part = 0; part < parts; part += 2 * step)
      for (Dim i = 0; i < n; ++i) sums.data()[part * n + i] += sums.data()[(part + step) * n + i];
  std::copy_n(sums.data(), n, out);
}

}  // namespace fledge::kernels
