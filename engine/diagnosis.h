// From the pattern of a wrong gradient to the likely mistake, in words.
#pragma once

#include <string>
#include <vector>

#include "engine/shape.h"

namespace fledge::inline FLEDGE_BUILD {

/// "[2, 5]": where element j stands in a tensor of this shape.
std::string index_text(const Shape& shape, Dim j);

/// The known pattern that `analytic` against `numeric` shows, in one sentence; empty when none
/// does. Numbers up to `zero` count as zero. Patterns: not a number, all zero, constant ratio (2,
/// −1, √D, another), transposed, only early positions wrong, one stretch of an axis wrong.
std::string diagnose(const std::vector<double>& analytic, const std::vector<double>& numeric,
                     const Shape& shape, double zero);

}  // namespace fledge::inline FLEDGE_BUILD
