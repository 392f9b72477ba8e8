// fledge gradcheck --explain: one number of a gradient as the sum of its paths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The names of all rows of the table of gradients (gradients/table.h), which is compiled for Dual.
namespace fledge_dual {
std::vector<std::string> gradient_names();
}

namespace fledge {

/// Prints how the element, such as "softmax[0,1]" or "linear:1[0,2]", gets its gradient. Exit
/// status: 0 if the paths add up to what backward() gives and differences agree, else 1. Throws
/// UsageError for a text that names no element.
int explain_element(const std::string& element, std::uint64_t seed, bool json);

}  // namespace fledge
