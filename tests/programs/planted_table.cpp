// Every planted bug still fits the source it is planted in, and the parts of the runner that only
// read texts read them rightly. Planting itself takes minutes: make planted.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/planted/bugs.h"

namespace {

namespace fs = std::filesystem;
using namespace planted;

int passed = 0, failed = 0;

void check(bool ok, const std::string& what) {
  ++(ok ? passed : failed);
  if (!ok) std::printf("failed: %s\n", what.c_str());
}

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void check_bug(const Bug& bug, const fs::path& root) {
  const std::size_t count = occurrences(contents(root / bug.file), bug.find);
  check(count == 1, bug.name + " stands " + std::to_string(count) + " times in " + bug.file +
                        ", not once: " + bug.find);
  check(Dense(bug.find).letters != Dense(bug.replace).letters, bug.name + " changes nothing");
  check(!bug.seen.empty(), bug.name + " does not say where it was seen");
  check(bug.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == bug.name.npos,
        bug.name + ": names are of small letters and hyphens");
  check(bug.gradient.empty() || bug.gradient == "none", bug.name + ": gradient " + bug.gradient);
  std::istringstream callers(bug.callers);
  for (std::string caller; callers >> caller;)
    check(fs::exists(root / caller), bug.name + ": no caller " + caller);
}

void check_bugs(const fs::path& root) {
  std::set<std::string> names;
  int with_gradient = 0, without = 0;
  for (const Bug& bug : read_bugs(contents(root / "tests/planted/bugs.txt"))) {
    check(names.insert(bug.name).second, bug.name + " is the name of two bugs");
    check_bug(bug, root);
    if (bug.same.empty()) ++(bug.gradient == "none" ? without : with_gradient);
  }
  check(with_gradient >= 60, "at least 60 bugs are planted in what has a gradient");
  check(without >= 60, "at least 60 bugs are planted in what has none");
}

void check_blocks() {
  const auto bugs = read_bugs(
      "# a\n\nbug a-b\nin x.cpp\nseen there\n- f();\n+ g();\n+\n+   h();\n\nbug c\nin y.cpp\n"
      "seen boundary\ngradient none\ncallers u.cpp v.cpp\ncallers w.cpp\nsame never equal\n- a < b");
  const auto fields = [](const Bug& bug) {
    return bug.name + "|" + bug.file + "|" + bug.seen + "|" + bug.find + "|" + bug.replace + "|" +
           bug.gradient + "|" + bug.callers + "|" + bug.same;
  };
  check(bugs.size() == 2, "two blocks");
  check(fields(bugs.at(0)) == "a-b|x.cpp|there|f();|g();\n\n  h();|||", "a text of several lines");
  check(fields(bugs.at(1)) == "c|y.cpp|boundary|a < b||none|u.cpp v.cpp\nw.cpp|never equal",
        "a block at the end, whose text nothing replaces");
  for (const char* text : {"in x.cpp\n", "bug a\nat x.cpp\n", "bug a\n  in x.cpp\n", "bug a\n-b\n"})
    try {
      read_bugs(text);
      check(false, "not refused: " + std::string(text));
    } catch (const std::runtime_error& error) {
      check(std::string(error.what()).find("line ") != std::string::npos, "names the line");
    }
  check(occurrences("a(b, c);\n a(b,\n   c);", "a(b, c);") == 2, "white space does not count");
  check(occurrences("a + b", "c") == 0 && occurrences("a", "") == 0, "what is not there");
  check(occurrences("ababa", "aba") == 1, "occurrences do not overlap");
  check(patched("x = f(\n  y);  // z", "f(y)", "g") == "x = g;  // z", "the rest stays as it is");
  check(patched("x", "y", "z") == "x", "nothing to replace");
}

void check_verdicts() {
  const std::string none = "wrong: dual 0, differences 0\n",
                    some = "dual: add\nwrong: a message\nwrong: dual 2, differences 0\n";
  const auto oracles = [](Ending ending, const std::string& output, const std::string& expected) {
    const OracleVerdicts verdicts = oracle_verdicts(ending, output);
    check(verdicts.dual + " " + verdicts.differences == expected, expected + " of " + output);
  };
  oracles({0, false}, none, "- -");
  oracles({1, false}, some, "2 -");
  oracles({0, false}, some, "crash crash");
  oracles({1, false}, none, "crash crash");
  oracles({-1, true}, some, "time time");
  for (const char* text : {"", "terminate called\n", "wrong: dual 2, differences 1",
                           "wrong: dual 1\n", "wrong: dual x, differences 1\n"})
    oracles({1, false}, text, "crash crash");
  check(run_verdict({0, false}) + run_verdict({42, false}) == "-fails", "tests");
  check(run_verdict({-1, false}) + run_verdict({-1, true}) == "crashtime", "tests that are ended");
  check(is_seen("fails") && is_seen("1") && !is_seen("-") && !is_seen("spared"), "who saw it");
}

}  // namespace

int main() {
  check_bugs(fs::path(__FILE__).parent_path().parent_path().parent_path());
  check_blocks();
  check_verdicts();
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
