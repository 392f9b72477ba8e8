#include "examples/support/version.h"

namespace support {

std::string version_of(std::string_view program) {
  return std::string(program.substr(0, program.find(' '))) + " " + FLEDGE_VERSION;
}

}  // namespace support
