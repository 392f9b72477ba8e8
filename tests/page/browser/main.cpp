// main() of tests_page. Exit status 77 when this machine has no Chromium.
#include <cstdio>

#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include "tests/page/browser/chromium.h"
#include "tests/support/catch.h"

int main(int argc, char** argv) {
  if (testing::chromium_program().empty()) {
    std::puts(
        "tests_page: skipped, because no chromium, chromium-browser or google-chrome was "
        "found (or set CHROMIUM)");
    return 77;
  }
  // Catch2 returns the number of failures, which could be 77 too.
  return Catch::Session().run(argc, argv) == 0 ? 0 : 1;
}
