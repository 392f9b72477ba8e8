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
  check(bugs.size() == 2, "two blocks");
  const Bug &first = bugs.at(0), &second = bugs.at(1);
  check(first.name == "a-b" && first.file == "x.cpp" && first.seen == "there", "its fields");
  check(first.find == "f();" && first.replace == "g();\n\n  h();", "a text of several lines");
  check(first.gradient.empty() && first.callers.empty() && first.same.empty(), "what is not there");
  check(second.gradient == "none" && second.callers == "u.cpp v.cpp\nw.cpp", "what is there");
  check(second.same == "never equal" && second.find == "a < b" && second.replace.empty(),
        "a block at the end, whose text nothing replaces");
  for (const char* text : {"in x.cpp\n", "bug a\nat x.cpp\n", "bug a\n  in x.cpp\n", "bug a\n-b\n"})
    try {
      read_bugs(text);
      check(false, "not refused: " + std::string(text));
    } catch (const std::runtime_error& error) {
      check(std::string(error.what()).find("line ") != std::string::npos, "names the line");
    }
}

void check_patches() {
  check(occurrences("a(b, c);\n a(b,\n   c);", "a(b, c);") == 2, "white space does not count");
  check(occurrences("a + b", "c") == 0 && occurrences("a", "") == 0, "what is not there");
  check(occurrences("ababa", "aba") == 1, "occurrences do not overlap");
  check(patched("x = f(\n  y);  // z", "f(y)", "g") == "x = g;  // z", "the rest stays as it is");
  check(patched("x", "y", "z") == "x", "nothing to replace");
}

void check_verdicts() {
  const auto of_oracles = [](Ending ending, const std::string& output) {
    const OracleVerdicts verdicts = oracle_verdicts(ending, output);
    return verdicts.dual + " " + verdicts.differences;
  };
  check(of_oracles({0, false}, "wrong: dual 0, differences 0\n") == "- -", "no wrong row");
  const std::string some = "dual: add\nwrong: a message\nwrong: dual 2, differences 0\n";
  check(of_oracles({1, false}, some) == "2 -", "two wrong rows of one oracle");
  check(of_oracles({0, false}, some) == "crash crash", "wrong rows, yet exit 0");
  check(of_oracles({1, false}, "wrong: dual 0, differences 0\n") == "crash crash", "none, yet 1");
  check(of_oracles({-1, true}, some) == "time time", "a run that does not end");
  for (const char* text : {"", "terminate called\n", "wrong: dual 2, differences 1",
                           "wrong: dual 1\n", "wrong: dual x, differences 1\n"})
    check(of_oracles({1, false}, text) == "crash crash", "not understood: " + std::string(text));
  check(run_verdict({0, false}) == "-" && run_verdict({42, false}) == "fails", "tests");
  check(run_verdict({-1, false}) == "crash" && run_verdict({-1, true}) == "time",
        "tests that do not end by themselves");
  check(is_seen("fails") && is_seen("1") && !is_seen("-") && !is_seen("spared"), "who saw it");
}

}  // namespace

int main() {
  check_bugs(fs::path(__FILE__).parent_path().parent_path().parent_path());
  check_blocks();
  check_patches();
  check_verdicts();
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
