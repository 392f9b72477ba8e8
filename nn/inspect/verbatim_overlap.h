// How much of a sample occurs verbatim in the training text: what a model has memorised.
//
// The n-grams (strings of n characters) of the sample are put into a hash table. A rolling hash
// finds those that occur in the text (Karp & Rabin 1987).
#pragma once

#include <cstddef>
#include <string_view>

namespace fledge {

/// Characters are code points of UTF-8; a byte that is not UTF-8 is one character. Several blanks
/// (spaces, tabs, line ends) in a row count as one space, so no long run consists of blanks alone.
struct VerbatimOverlap {
  double share = 0;  // the share of the sample's characters in runs of `least` characters or more
  std::size_t longest = 0;  // characters of the longest run, which may be shorter than `least`
};

/// A run is a part of the sample that occurs in the text; least = 0 counts as 1. The length of the
/// longest run is found by bisection: at most 2·log2(length of the sample) passes, each in time
/// linear in both texts. Takes some 64 bytes of memory per character of the sample, and 4 per
/// character of the text.
VerbatimOverlap verbatim_overlap(std::string_view sample, std::string_view text, std::size_t least);

}  // namespace fledge
