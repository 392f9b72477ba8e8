// Attention of a text that is read in parts, to generate text. It has no gradient, so ops.h does
// not contain it.                                                          Next: nn/gpt/decoder.h.
#pragma once

#include <vector>

#include "engine/array.h"

namespace fledge {

/// The keys and values of the `length` positions read so far, C numbers each.
struct KeyValueCache {
  Dim length = 0;
  std::vector<Real> keys, values;
};

/// qkv (T, 3C) of the T positions that follow those in the cache. Their keys and values are
/// appended to the cache. y (T, C): to the bit the last rows of attention(…, causal()) of all
/// positions at once. Arrays in, an Array out: throws GraphError where recording is on.
Array cached_attention(const Array& qkv, Dim heads, KeyValueCache& cache);

/// The weights by which cached_attention(qkv, heads, cache) multiplied the values, to the bit:
/// (heads, T, cache.length), zeros where a key is hidden. `cache` is the cache after that call.
Array cached_attention_weights(const Array& qkv, Dim heads, const KeyValueCache& cache);

}  // namespace fledge
