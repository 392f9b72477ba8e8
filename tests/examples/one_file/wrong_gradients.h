// Programs of one file that check their own gradients: do these checks notice a wrong gradient?
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/planted/bugs.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"

namespace testing {

inline std::string source_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A part of a source, and what stands there instead.
struct Change {
  std::string find, replace;
};

inline std::string changed(const std::string& source, const Change& change) {
  INFO(change.find);
  REQUIRE(planted::occurrences(source, change.find) == 1);
  return planted::patched(source, change.find, change.replace);
}

/// Several versions of a program of one file, compiled into one program. Each version is in a
/// namespace of its own; the headers are included before.
class Versions {
 public:
  explicit Versions(const std::vector<std::string>& sources) {
    std::string includes, versions, choice;
    std::istringstream lines(sources.at(0));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("#include <")) includes += line + "\n";
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::string number = std::to_string(i), name = "version_" + number;
      versions += "namespace " + name + " {\n" + sources[i] + "}\n";
      choice += "if (std::string(argv[1]) == \"" + number + "\") return " + name +
                "::main(argc - 1, argv + 1);\n";
    }
    write_file(
        folder_ / "versions.cpp",
        includes + versions + "int main(int argc, char** argv) {\n" + choice + "return 3;\n}\n");
    const Result compiled =
        run({FLEDGE_COMPILER, "-std=c++20", "-O1", "-w", "-I", FLEDGE_SOURCE_DIR "/examples", "-o",
             folder_ / "versions", folder_ / "versions.cpp"});
    INFO(compiled.err);
    REQUIRE(compiled.status == 0);
  }

  Result run_version(std::size_t i, const std::vector<std::string>& arguments) const {
    std::vector<std::string> argv{folder_ / "versions", std::to_string(i)};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run(argv);
  }

 private:
  Folder folder_;
};

/// With these arguments, the program must end with 0 as it is, and with 1 after each change.
inline void check_notices(const std::string& source, const std::vector<std::string>& arguments,
                          const std::vector<Change>& changes) {
  std::vector<std::string> sources{source};
  for (const Change& change : changes) sources.push_back(changed(source, change));
  const Versions versions(sources);
  CHECK(versions.run_version(0, arguments).status == 0);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    INFO(changes[i].find << " -> " << changes[i].replace);
    CHECK(versions.run_version(i + 1, arguments).status == 1);
  }
}

}  // namespace testing
