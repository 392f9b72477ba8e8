// The map of word vectors: two fixed axes, so that the map does not turn while a model learns.
#pragma once

#include <string>
#include <vector>

#include "engine/base/shape.h"

namespace fledge::page {

/// The two directions in which the last map varies most; all snapshots are shown along them.
struct Axes {
  std::vector<double> mean, x, y;
  double share = 0;  // of the variance that the two axes show
};

/// The principal axes of `count` rows of `width` numbers. Throws ValueError for another number of
/// numbers.
Axes axes_of(const std::vector<double>& rows, Dim count, Dim width);

/// x and y of each row.
std::vector<double> places_on(const Axes& axes, const std::vector<double>& rows);

}  // namespace fledge::page
