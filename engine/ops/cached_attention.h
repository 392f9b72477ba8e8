// Attention of a text that is read in parts: for a model that writes. It has no gradient, so it is
// none of the ops of ops.h.                                                Next: models/decoder.h.
#pragma once

#include <vector>

#include "engine/array.h"

namespace fledge {

/// What attention has read so far: the keys and values of `length` places, C numbers each.
struct KeyValueCache {
  Dim length = 0;
  std::vector<Real> keys, values;
};

/// qkv (T, 3C) of T places that follow those in the cache, which takes their keys and values in.
/// y (T, C): to the bit the last rows of attention(…, causal()) of all places at once.
/// Arrays in, an Array out: throws GraphError where recording is on.
Array cached_attention(const Array& qkv, Dim heads, KeyValueCache& cache);

/// The weights that cached_attention(qkv, heads, cache) multiplied the values with, to the bit:
/// (heads, T, cache.length), zeros where a key is hidden. The cache is as that call left it.
Array cached_attention_weights(const Array& qkv, Dim heads, const KeyValueCache& cache);

}  // namespace fledge
