// Writes a picture to the file that --svg names.
#pragma once

#include <string>

#include "examples/support/svg.h"

namespace fledge {

/// Replaces the file, or makes it: writes beside it, syncs, renames. Throws CommandError if the file
/// exists and is not an SVG picture, which then stays, and WriteError.
void write_picture(const std::string& path, const support::Svg& picture);

}  // namespace fledge
