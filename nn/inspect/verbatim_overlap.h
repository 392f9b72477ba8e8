// How much of a sample occurs verbatim in the training text: what a model has memorised.
//
// The n-grams (strings of n bytes) of the sample are put into a hash table. A rolling hash finds
// those that occur in the text (Karp & Rabin 1987).
#pragma once

#include <cstddef>
#include <string_view>

namespace fledge {

struct VerbatimOverlap {
  double share = 0;  // the share of the sample's bytes that are in runs of `least` bytes or more
  std::size_t longest = 0;  // bytes of the longest run, which may be shorter than `least`
};

/// A run is a part of the sample that occurs in the text; least = 0 counts as 1. The length of the
/// longest run is found by bisection: at most 2·log2(bytes of the sample) passes, each in time
/// linear in both texts. Takes some 64 bytes of memory per byte of the sample.
VerbatimOverlap verbatim_overlap(std::string_view sample, std::string_view text, std::size_t least);

}  // namespace fledge
