// Every planted bug still fits the source it is planted in, and the parts of the runner that only
// read texts read them rightly. Planting itself takes minutes: make planted.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/planted/bugs.h"
#include "tests/planted/patch.h"
#include "tests/planted/rows.h"
#include "tests/planted/verdict.h"

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

std::string without_space(std::string_view text) {
  std::string letters;
  for (const char c : text)
    if (c != ' ' && c != '\n') letters += c;
  return letters;
}

void check_entry(const Bug& bug, const fs::path& root) {
  const std::string name(bug.name), source = contents(root / bug.file);
  const std::size_t count = occurrences(source, bug.find);
  check(count == 1, name + " stands " + std::to_string(count) + " times in " +
                        std::string(bug.file) + ", not once: " + std::string(bug.find));
  check(without_space(bug.find) != without_space(bug.replace), name + " changes nothing");
  check(!bug.seen.empty(), name + " does not say where it was seen");
  check(bug.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == bug.name.npos,
        name + ": names are of small letters and hyphens");
  std::istringstream callers{std::string(bug.callers)};
  for (std::string caller; callers >> caller;)
    check(fs::exists(root / caller), name + ": no caller " + caller);
}

void check_table(const fs::path& root) {
  std::vector<Bug> bugs = all_bugs();
  check(bugs.size() >= 60, "at least 60 bugs are planted in what has a gradient");
  const Rows rows = rows_of(contents(root / "tests/planted/rows.txt"));
  check(rows.bugs.size() >= 60, "at least 60 bugs are rows");
  for (const auto& more : {rows.bugs, rows.equivalents})
    bugs.insert(bugs.end(), more.begin(), more.end());
  std::set<std::string_view> names;
  for (const Bug& bug : bugs) {
    check(names.insert(bug.name).second, std::string(bug.name) + " is the name of two bugs");
    check_entry(bug, root);
  }
}

void check_rows_of_text() {
  const Rows rows = rows_of(
      "# a\n\na-b x.cpp omission\n  f();\n  ;\nc y.cpp boundary\n  a < b\n"
      "  a <= b\n  = never equal\n");
  check(rows.bugs.size() == 1 && rows.equivalents.size() == 1, "one bug, and one that is none");
  const Bug& bug = rows.bugs.at(0);
  check(bug.name == "a-b" && bug.file == "x.cpp" && bug.seen == "omission", "its first line");
  check(bug.find == "f();" && bug.replace == ";" && bug.tests_alone, "its second and third");
  check(rows.equivalents.at(0).replace == "a <= b", "a row at the end");
}

void check_patches() {
  check(occurrences("a(b, c);\n a(b,\n   c);", "a(b, c);") == 2, "white space does not count");
  check(occurrences("a + b", "c") == 0 && occurrences("a", "") == 0, "what is not there");
  check(occurrences("ababa", "aba") == 1, "occurrences do not overlap");
  check(patched("x = f(\n  y);  // z", "f(y)", "g") == "x = g;  // z", "the rest stays as it is");
  check(patched("x", "y", "z") == "x", "nothing to replace");
}

void check_rows() {
  const WrongRows right = read_rows("dual ok add\ndifferences ok add\n2 rows\n");
  check(right.understood && right.dual == 0 && right.differences == 0, "two rows that are ok");
  const WrongRows wrong = read_rows(
      "dual wrong add\ndifferences ok add\na message\ndual wrong softmax causal\n"
      "differences wrong softmax causal\n4 rows\n");
  check(wrong.understood && wrong.dual == 2 && wrong.differences == 1, "rows that are wrong");
  for (const char* text :
       {"", "0 rows\n", "terminate called\n", "dual ok add\ndual ok add\n2 rows\n",
        "dual maybe add\ndifferences ok add\n2 rows\n",
        "other ok add\ndifferences ok add\n2 rows\n", "dual ok add\ndifferences ok add\n",
        "dual ok add\ndifferences ok add\n4 rows\n"})
    check(!read_rows(text).understood, "not understood: " + std::string(text));
}

void check_verdicts() {
  const WrongRows none{true, 0, 0}, some{true, 2, 0}, garbled{};
  check(!rows_verdict({0, false}, none, none.dual).killed(), "all rows ok: the bug lives");
  check(rows_verdict({1, false}, some, some.dual).word == "2", "two wrong rows");
  check(!rows_verdict({1, false}, some, some.differences).killed(), "the other oracle saw none");
  check(rows_verdict({0, false}, some, some.dual).word == "crash", "wrong rows, yet exit 0");
  check(rows_verdict({1, false}, garbled, 0).word == "crash", "output not understood");
  check(rows_verdict({-1, true}, garbled, 0).word == "time", "a run that does not end");
  check(!run_verdict({0, false}).killed() && run_verdict({42, false}).word == "fails", "tests");
  check(run_verdict({-1, false}).word == "crash" && run_verdict({-1, true}).word == "time",
        "tests that do not end by themselves");
}

}  // namespace

int main() {
  check_table(fs::path(__FILE__).parent_path().parent_path().parent_path());
  check_rows_of_text();
  check_patches();
  check_rows();
  check_verdicts();
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
