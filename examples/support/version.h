// The version of the project, which CMakeLists.txt states.
#pragma once

#include <string>
#include <string_view>

namespace support {

/// "fledge 0.1.0": what --version prints, for the program or for "fledge train", without a line end.
std::string version_of(std::string_view program);

}  // namespace support
