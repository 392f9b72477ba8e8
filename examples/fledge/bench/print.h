// Rows are measured one after the other, and each is printed as soon as it is known.
#pragma once

#include <functional>
#include <vector>

#include "examples/fledge/bench/bench.h"

namespace fledge::bench {

/// A measurement that is still to be made.
using Work = std::function<std::vector<Row>()>;

/// A table of at most 80 columns on stdout.
void print_table(const std::vector<Work>& list);

/// One array of objects, when all rows are measured.
void print_json(const std::vector<Work>& list);

}  // namespace fledge::bench
