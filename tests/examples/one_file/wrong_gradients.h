// Programs of one file that check their own gradients: do these checks notice a wrong gradient?
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"

namespace testing {

/// A part of a source, and what stands there instead.
struct Change {
  std::string find, replace;
};

inline std::string changed(const std::string& source, const Change& change) {
  INFO(change.find);
  const std::size_t at = source.find(change.find);
  REQUIRE((at != source.npos && at == source.rfind(change.find)));
  return std::string(source).replace(at, change.find.size(), change.replace);
}

/// With these arguments, the program must end with 0 as it is, and with 1 after each change. All
/// versions are compiled as one program, each in a namespace of its own.
inline void check_notices(const std::string& source, const std::vector<std::string>& arguments,
                          const std::vector<Change>& changes) {
  std::string includes, versions, choice;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#include <")) includes += line + "\n";
  for (std::size_t i = 0; i <= changes.size(); ++i) {
    const std::string number = std::to_string(i), name = "version_" + number;
    versions +=
        "namespace " + name + " {\n" + (i == 0 ? source : changed(source, changes[i - 1])) + "}\n";
    choice += "if (std::string(argv[1]) == \"" + number + "\") return " + name +
              "::main(argc - 1, argv + 1);\n";
  }
  const Folder folder;
  const std::string program = folder / "versions";
  write_file(program + ".cpp", includes + versions + "int main(int argc, char** argv) {\n" +
                                   choice + "return 3;\n}\n");
  const Result compiled = run({FLEDGE_COMPILER, "-std=c++20", "-O1", "-w", "-I",
                               FLEDGE_SOURCE_DIR "/examples", "-o", program, program + ".cpp"});
  INFO(compiled.err);
  REQUIRE(compiled.status == 0);
  for (std::size_t i = 0; i <= changes.size(); ++i) {
    INFO((i == 0 ? "" : changes[i - 1].find + " -> " + changes[i - 1].replace));
    std::vector<std::string> argv{program, std::to_string(i)};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    CHECK(run(argv).status == (i == 0 ? 0 : 1));
  }
}

}  // namespace testing
