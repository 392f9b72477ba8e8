// Writes a picture to the file that the user names.
#pragma once

#include <string>

#include "examples/support/svg.h"

namespace support {

/// Throws CommandError unless a picture can be written there: the folder exists, and the path is
/// free, or has an empty file or a picture of fledge.
void require_picture_place(const std::string& path);

/// Replaces the file, or makes it: writes beside it, syncs, renames. Throws as above, and
/// CommandError if writing fails; then the file is as it was.
void write_picture(const std::string& path, const Svg& picture);

}  // namespace support
