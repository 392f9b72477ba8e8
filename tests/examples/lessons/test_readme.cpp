// What the READMEs quote is what the programs print: a number that drifts fails here.
//
//   ```lesson attention/04_softmax     lines of that lesson's output, one behind the other; a line
//   ...                              "..." stands for any number of them
//   ```
//
// and each row of the table of slips in NOTES.md is what a lesson's slip says. NOTES.md and
// GLOSSARY.md name only lessons that exist.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/examples/lessons/course.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

namespace {

using namespace testing;

// A number as it is printed: its value, and one unit in its last place.
struct Printed {
  double value, unit;
};

bool read_number(std::string word, Printed& number) {
  while (!word.empty() && std::string("(,;:").find(word.front()) != std::string::npos)
    word.erase(0, 1);
  while (!word.empty() && std::string("),;:.%").find(word.back()) != std::string::npos)
    word.pop_back();
  char* end = nullptr;
  number.value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0' || !std::isfinite(number.value)) return false;
  const std::size_t e = word.find_first_of("eE"), point = word.find('.');
  const double places =
      point == word.npos ? 0 : static_cast<double>(std::min(e, word.size()) - point - 1);
  const double exponent = e == word.npos ? 0 : std::strtod(word.c_str() + e + 1, nullptr);
  number.unit = std::pow(10, exponent - places);
  return true;
}

// Processors round sums in different orders: three units of the last place that is printed. What is
// itself a rounding error (2.1e-14) may be ten times another.
bool same_word(const std::string& quoted, const std::string& printed, double slack) {
  Printed a{}, b{};
  if (quoted == printed) return true;
  if (!read_number(quoted, a) || !read_number(printed, b)) return false;
  if (quoted.find('.') == quoted.npos && quoted.find('e') == quoted.npos) return false;  // a count
  if (quoted.find("e-") != quoted.npos && printed.find("e-") != printed.npos)
    return a.value > 0 && b.value > 0 && a.value / b.value < 10 && b.value / a.value < 10;
  return std::abs(a.value - b.value) <= std::max(slack, 3.001 * a.unit);
}

// A sparkline or a map has no letters; it may be shaded a step darker.
bool is_picture(const std::string& word) {
  return std::none_of(word.begin(), word.end(), [](char c) { return c > ' ' && c < 127; });
}

// What a trained model says may differ by `slack` from one processor to another.
bool same_line(const std::string& quoted, const std::string& printed, double slack = 0) {
  std::istringstream a(quoted), b(printed);
  std::string word, other;
  while (a >> word)
    if (!(b >> other) ||
        !(same_word(word, other, slack) || (is_picture(word) && is_picture(other))))
      return false;
  return !(b >> other);
}

/// What each slip of a lesson says, in one line each: "says … comes out … why …".
Lines slips_of(const Lines& output) {
  Lines slips;
  for (auto line = output.begin(); line != output.end(); ++line) {
    if (line->find("slip in note 00") == line->npos) continue;
    const auto is_over = [](const std::string& next) { return next.rfind("      ", 0) != 0; };
    slips.push_back(joined({line, std::find_if(line + 1, output.end(), is_over)}));
  }
  return slips;
}

/// Whether the quotation stands in the output; `missing` is the first line of what does not.
bool stands_in(const Lines& output, const Lines& quotation, std::string& missing,
               double slack = 0) {
  const auto same = [slack](const std::string& a, const std::string& b) {
    return same_line(b, a, slack);
  };
  auto from = output.begin();
  for (auto part = quotation.begin(); part != quotation.end();) {
    const auto end = std::find(part, quotation.end(), "...");
    const auto found = std::search(from, output.end(), part, end, same);
    missing = *part;
    if (found == output.end()) return false;
    from = found + (end - part);
    part = end == quotation.end() ? end : end + 1;
  }
  return true;
}

struct Quotation {
  std::string lesson;
  Lines lines;
};

/// The blocks that begin with this mark and the name of a lesson.
std::vector<Quotation> quotations(const Lines& readme, const std::string& mark = "```lesson ") {
  std::vector<Quotation> all;
  bool inside = false;
  for (const std::string& line : readme) {
    if (line.starts_with(mark)) {
      all.push_back({line.substr(mark.size()), {}});
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      all.back().lines.push_back(line);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("readme: the comparison of quotations can fail") {
  CHECK(same_line("   ok  a: 0.1400, sum 3", "  ok a: 0.1401, sum 3"));
  CHECK_FALSE(same_line("ok a: 0.1400", "ok a: 0.1410"));
  CHECK(same_line("birds 0.95", "birds 0.87", 0.1));
  CHECK_FALSE(same_line("birds 0.95", "birds 0.84", 0.1));
  CHECK_FALSE(same_line("97 of 100 seeds", "96 of 100 seeds"));
  CHECK_FALSE(same_line("walk 0.5", "walk 0.5 birds"));
  CHECK_FALSE(same_line("walk 0.5 birds", "walk 0.5"));
  CHECK(same_line("error 2.1e-14", "error 3.0e-14"));
  CHECK_FALSE(same_line("error 2.1e-14", "error 3.0e-12"));
  CHECK_FALSE(same_line("error 2.1e-14", "error 0"));
  std::string missing;
  CHECK(stands_in({"a", "b", "c"}, {"a", "...", "c"}, missing));
  CHECK_FALSE(stands_in({"a", "b", "c"}, {"a", "c"}, missing));
  CHECK(missing == "a");
  CHECK_FALSE(stands_in({}, {"a"}, missing));
}

TEST_CASE("readme: what examples/README.md quotes is what the lessons print") {
  const auto all = quotations(lines_in(source_root / "examples/README.md"));
  CHECK(all.size() >= 5);
  for (const Quotation& quotation : all) {
    std::string missing;
    INFO(quotation.lesson);
    CHECK_FALSE(quotation.lines.empty());
    const bool stands = stands_in(output_of(quotation.lesson), quotation.lines, missing);
    INFO(missing);
    CHECK(stands);
  }
}

TEST_CASE("readme: every lesson is in a table of contents, in order") {
  Lines listed;
  for (const std::string& line : lines_in(source_root / "examples/README.md"))
    if (line.rfind("| [`", 0) == 0) {
      const std::size_t link = line.find("(lessons/") + std::string("(lessons/").size();
      listed.push_back(line.substr(link, line.find(".cpp)") - link));
    }
  CHECK(listed == lessons_of_the_course());
}

TEST_CASE("readme: NOTES.md has every slip that a lesson prints, in a table, and no other") {
  std::size_t rows = 0, said = 0;
  for (const std::string& line : lines_in(source_root / "examples/NOTES.md")) {
    if (line.rfind("| 00", 0) != 0 || line.substr(5, 2) != " |") continue;
    const Lines row = cells_of(line);  // note, the note says, comes out, why, lesson
    INFO(line);
    if (row.size() != 5) continue;
    ++rows;
    const std::string slip =
        joined({"slip in note", row[0], "says", row[1], "comes out", row[2], "why", row[3]});
    const Lines slips = slips_of(output_of(row[4]));
    CHECK(std::any_of(slips.begin(), slips.end(),
                      [&](const std::string& one) { return same_line(slip, one); }));
  }
  for (const std::string& name : lessons_of_the_course()) said += slips_of(output_of(name)).size();
  CHECK(rows == said);
  CHECK(rows > 0);
}

TEST_CASE("readme: NOTES.md and GLOSSARY.md name only lessons that exist") {
  const Lines there = lessons_of_the_course();
  for (const char* page : {"examples/NOTES.md", "examples/GLOSSARY.md"}) {
    std::size_t named = 0;
    for (const std::string& line : lines_in(source_root / page))
      for (std::size_t at = line.find('`'); at != line.npos; at = line.find('`', at + 1)) {
        const std::string name = line.substr(at + 1, line.find('`', at + 1) - at - 1);
        if (name.rfind("attention/", 0) != 0 && name.rfind("engine/0", 0) != 0) continue;
        INFO(page << ": " << name);
        CHECK(std::count(there.begin(), there.end(), name) == 1);
        ++named;
      }
    INFO(page);
    CHECK(named > 20);
  }
}

TEST_CASE(
    "readme: what is quoted of make run is what birds prints, and in birds/README.md all of it") {
  const auto result =
      run({(std::filesystem::path(FLEDGE_BINARY_DIR) / "birds").string()}, {{"LC_ALL", "C.UTF-8"}});
  REQUIRE(result.status == 0);
  Lines printed = split_lines(result.out);
  while (!printed.empty() && printed.back().empty()) printed.pop_back();
  const auto quotation_in = [](const char* page) {
    const auto quoted = quotations(lines_in(source_root / page), "```birds");
    REQUIRE(quoted.size() == 1);
    return quoted[0].lines;
  };
  std::string missing;
  const bool stands = stands_in(printed, quotation_in("README.md"), missing, 0.1);
  INFO(missing);
  CHECK(stands);
  const Lines all = quotation_in("examples/birds/README.md");
  REQUIRE(all.size() == printed.size());
  double slack = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].starts_with("3. ")) slack = 0.1;
    INFO("quoted:  " << all[i] << "\nprinted: " << printed[i]);
    CHECK(same_line(all[i], printed[i], slack));
  }
}
