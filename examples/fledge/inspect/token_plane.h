// A map of the token vectors: tokens that the model treats alike stand near each other.
#pragma once

#include <string>
#include <vector>

#include "examples/support/svg.h"
#include "nn/inspect/word_vectors.h"

namespace fledge {

/// The map in characters, `columns` wide. A token that would cover an earlier one is left out; the
/// last line says how many are shown. labels must be printable.
std::string token_map_text(const TokenMap& map, const std::vector<std::string>& labels, int columns,
                           int rows, bool unicode);

/// The map as a picture of 800 × 600 pixels, with every token.
support::Svg token_map_picture(const TokenMap& map, const std::vector<std::string>& labels);

}  // namespace fledge
