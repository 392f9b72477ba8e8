// main() of the test programs: Catch2's, and --file PATH in front, which runs the tests of one
// source file. Catch2's own tags for file names (-#) know the last part of a path only, and here
// engine/ops, engine/kernels and nn/layers each have a test_attention.cpp.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

namespace {

constexpr const char* chosen = "chosen-file";

#if __has_include(<catch2/catch_all.hpp>)
const Catch::TestCaseInfo& info_of(const Catch::TestCaseHandle& test) {
  return test.getTestCaseInfo();
}
void add_tag(Catch::TestCaseInfo& test) { test.tags.emplace_back(Catch::StringRef(chosen)); }
#else
const Catch::TestCase& info_of(const Catch::TestCase& test) { return test; }
void add_tag(Catch::TestCase& test) { test.lcaseTags.emplace_back(chosen); }
#endif

/// Whether this is the file whose path ends so, or a file in the folder /tests/engine/ops/.
bool is_in(std::string_view file, std::string_view path) {
  return path.ends_with('/') ? file.find(path) != file.npos : file.ends_with(path);
}

/// Tags the tests of the file, but for the hidden ones, and returns how many there are. The tests are
/// Catch2's own list, which it too tags before a run (applyFilenamesAsTags).
int choose(Catch::Session& session, std::string_view path) {
  int found = 0;
  for (const auto& test : Catch::getAllTestCasesSorted(session.config())) {
    auto& info = const_cast<std::remove_cvref_t<decltype(info_of(test))>&>(info_of(test));
    if (!is_in(info.lineInfo.file, path) || info.isHidden()) continue;
    add_tag(info);
    ++found;
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) try {
  Catch::Session session;
  const bool one_file = argc >= 3 && std::string_view(argv[1]) == "--file";
  const std::string path = one_file ? argv[2] : "";
  if (one_file) argv[2] = argv[0];
  const int skipped = one_file ? 2 : 0;
  if (const int code = session.applyCommandLine(argc - skipped, argv + skipped)) return code;
  if (one_file) {
    session.configData().testsOrTags = {"[" + std::string(chosen) + "]"};
    if (choose(session, path) == 0) {
      std::fprintf(stderr, "%s: no test is in %s\n", argv[0], path.c_str());
      return 2;
    }
  }
  return session.run();
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
  return 1;
}
