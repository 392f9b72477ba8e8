// How much of a sample a model has made, and how much it has by heart.
//
// Not here: how a sample is drawn. Key idea: strings that stand verbatim in the training text are
// found by an automaton of the sample, which is short, through which the text runs once.
#pragma once

#include <string_view>
#include <vector>

#include "engine/real.h"

namespace fledge {

struct VerbatimOverlap {
  double share = 0;         // of the sample's bytes, in runs of at least `least` bytes of the text
  std::size_t longest = 0;  // bytes of the longest run of all, however short
};

/// What of a sample stands verbatim in a text. Time is linear in both; memory is 4·(distinct bytes
/// of the sample + 3) bytes for each of at most twice as many states as the sample has bytes.
/// least = 0 counts as 1.
VerbatimOverlap verbatim_overlap(std::string_view sample, std::string_view text, std::size_t least);

/// Where a line was known from.
enum class Origin { train, valid, fresh };

/// For every line of a sample that is not blank: whether it stands as a line in the training text,
/// else in the validation text, else in neither.
std::vector<Origin> origins(std::string_view sample, std::string_view train,
                            std::string_view valid);

}  // namespace fledge
