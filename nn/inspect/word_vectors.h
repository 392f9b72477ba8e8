// The vectors that a model has learned for its tokens: which are alike, and a map of them.
#pragma once

#include <vector>

#include "engine/array.h"

namespace fledge {

struct SimilarTokens {
  Dim a, b;
  double cosine;  // of their vectors; 0 if one of them has only zeros
};

/// The `count` tokens most similar to `token`, the most similar first (of equals the smaller
/// number). table (V, C). Throws ValueError for a token outside 0 … V − 1.
std::vector<SimilarTokens> nearest_tokens(const Array& table, Dim token, Dim count);

/// The `count` most similar pairs a < b among the first `most_tokens` tokens, the most similar
/// first (of equals the smaller a, then b). Takes most_tokens²·C / 2 multiplications.
std::vector<SimilarTokens> most_similar_pairs(const Array& table, Dim count,
                                              Dim most_tokens = 4096);

/// Coordinates of each token in the plane of the two largest principal components.
struct TokenMap {
  std::vector<double> x, y;
  double share = 0;  // of the variance that the plane shows, 0 … 1
};

/// Principal components (Pearson 1901) of the rows of table (V, C), by power iteration. The
/// direction of an axis is such that its largest coefficient is positive. With fewer than three
/// tokens, or with C = 1, coordinates that do not exist are 0.
TokenMap token_map(const Array& table);

}  // namespace fledge
