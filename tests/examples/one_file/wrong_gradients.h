// Programs of one file that check their own gradients: would their check notice a wrong one?
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/planted/patch.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"

namespace testing {

inline std::string whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A text of the source, and what stands there in a program with a wrong gradient.
struct WrongGradient {
  std::string find, replace;
};

/// Compiles the source once as it is and once with each change, all in one program. `--check` must
/// end with 0 for the source as it is, and with 1 for each change.
inline void check_notices(const std::string& source_path,
                          const std::vector<WrongGradient>& changes) {
  const std::string source = whole_file(source_path);
  const Folder folder;
  std::string program, choice;
  // Each version is in a namespace of its own. Headers are therefore included before.
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#include <")) program += line + "\n";
  const auto add_version = [&](const std::string& text) {
    const std::string name =
        "version_" + std::to_string(std::count(choice.begin(), choice.end(), '\n'));
    program += "namespace " + name + " {\n" + text + "}\n";
    choice += "  if (std::string(argv[1]) == \"" + name + "\") return " + name +
              "::main(argc - 1, argv + 1);\n";
  };
  add_version(source);
  for (const auto& [find, replace] : changes) {
    INFO(find);
    REQUIRE(planted::occurrences(source, find) == 1);
    add_version(planted::patched(source, find, replace));
  }
  write_file(folder / "versions.cpp",
             program + "int main(int argc, char** argv) {\n" + choice + "  return argc;\n}\n");
  const Result compiled = run({FLEDGE_COMPILER, "-std=c++20", "-O1", "-w", "-o",
                               folder / "versions", folder / "versions.cpp"});
  INFO(compiled.err);
  REQUIRE(compiled.status == 0);
  CHECK(run({folder / "versions", "version_0", "--check"}).status == 0);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    INFO(changes[i].find << " -> " << changes[i].replace);
    CHECK(run({folder / "versions", "version_" + std::to_string(i + 1), "--check"}).status == 1);
  }
}

}  // namespace testing
