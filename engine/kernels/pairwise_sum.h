// Sums in a fixed order, by halves: error grows with log n, not n (Higham 1993). sums.h has those
// of numbers in memory; here the terms may be computed on the way.
#pragma once

#include "engine/kernels/simd.h"

namespace fledge::kernels {

inline constexpr Dim chains = 4;  // vectors of partial sums: an addition takes four cycles, and
                                  // none waits
inline constexpr Dim chains_length = chains * lanes;
inline constexpr Dim pairwise_leaf = 16 * chains_length;  // then 16 additions to a partial sum

/// Σ term(i, count), i = begin … end − 1: term gives the vector of `count` terms from i on, with
/// zeros in the other lanes. The order depends on end − begin alone.
template <class Term>
Real pairwise_sum(Dim begin, Dim end, Term term) {
  if (end - begin > pairwise_leaf) {
    const Dim middle = begin + (end - begin) / 2 / chains_length * chains_length;
    return pairwise_sum(begin, middle, term) + pairwise_sum(middle, end, term);
  }
  // Rows of tiny models are two vectors long at most: half of their time went into what follows.
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

}  // namespace fledge::kernels
