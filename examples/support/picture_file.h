// Writes the picture of a lesson to the file that the user names.
#pragma once

#include "examples/support/output_file.h"
#include "examples/support/svg.h"

namespace support {

inline constexpr OutputKind picture_kind{"picture", Svg::mark, "picture.svg"};
inline void require_picture_place(const std::string& path) { require_place(path, picture_kind); }
inline void write_picture(const std::string& path, const Svg& picture) {
  write_output(path, picture.file(), picture_kind);
}

}  // namespace support
