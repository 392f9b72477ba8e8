// A test, or a part of one, that cannot run here.
#pragma once

#include <iostream>
#include <string>

#include "tests/support/catch.h"

namespace testing {

/// Says what did not run and why. make test counts these lines after its summary, since the test
/// counts as passed.
inline void report_skipped(const std::string& why) {
  std::cout << "skipped: " << why << "\n" << std::flush;
  SUCCEED(why);  // Catch2 2.13 knows no skipped test
}

}  // namespace testing
