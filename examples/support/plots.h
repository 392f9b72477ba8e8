// Plots made of characters: a curve in one line, a bar. Each has an ASCII form.
//
// Not here: maps of attention weights (attention_map.h).
#pragma once

#include <string>
#include <vector>

#include "examples/support/terminal.h"

namespace support {

/// One character per value, eight heights between the smallest and the largest; '?' for NaN.
/// Infinities have the smallest and the largest height and do not change the scale.
std::string sparkline(const std::vector<double>& values, bool unicode = unicode_wanted());

/// A bar that fills `fraction` (0 … 1, cut off outside) of `columns`; '?' for NaN.
std::string bar(double fraction, int columns, bool unicode = unicode_wanted());

}  // namespace support
