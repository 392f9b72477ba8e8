// How much of a sample stands word for word in the training text: what a model has memorised.
//
// Not here: how a sample is drawn. Key idea: the n-grams (strings of n bytes) of the sample are put
// into a hash table; the text runs past it once with a rolling hash (Karp & Rabin 1987).
#pragma once

#include <cstddef>
#include <string_view>

namespace fledge {

struct VerbatimOverlap {
  double share = 0;         // of the sample's bytes, in runs of at least `least` bytes of the text
  std::size_t longest = 0;  // bytes of the longest run of all, however short
};

/// A run is a part of the sample that stands in the text. A byte counts for the share when one of
/// the n-grams around it, n = `least`, stands in the text; least = 0 counts as 1. The length of the
/// longest run is found by trying lengths, at most 2·log2(bytes of the sample) of them, each in
/// time linear in both. Memory: at most 64 bytes for a byte of the sample, 16 for a match in the
/// text.
VerbatimOverlap verbatim_overlap(std::string_view sample, std::string_view text, std::size_t least);

}  // namespace fledge
