// Attention of a text that is read in parts, to generate text. It has no gradient, so ops.h does
// not contain it.                                                          Next: nn/gpt/decoder.h.
#pragma once

#include <vector>

#include "engine/masks.h"
#include "engine/ops.h"

namespace fledge {

/// The keys and values of the `length` positions read so far, G·D numbers each.
struct KeyValueCache {
  Dim length = 0;
  std::vector<Real> keys, values;
};

/// qkv (T, (H + 2G)·D) of the T positions that follow those in the cache. Their keys and values are
/// appended to the cache. y (T, H·D): to the bit the last rows of attention(…, mask, sink) of all
/// positions at once. The mask is causal() or hides further keys. Arrays in, an Array out: throws
/// GraphError where recording is on.
Array cached_attention(const Array& qkv, HeadCount heads, KeyValueCache& cache,
                       const Mask& mask = causal(), const Tensor& sink = {});

/// The weights by which cached_attention() of the same arguments multiplied the values, to the bit:
/// (heads, T, cache.length), zeros where a key is hidden. `cache` is the cache after that call.
Array cached_attention_weights(const Array& qkv, HeadCount heads, const KeyValueCache& cache,
                               const Mask& mask = causal(), const Tensor& sink = {});

}  // namespace fledge
