// fledge gradcheck as a command: the table, names, --json, --seed, and what it refuses.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "examples/support/text.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

/// Under a sanitizer the table has one op: --json runs all rows, by the same code.
const Result& whole_table() {
  static const Result result =
      fledge_says(sanitized ? std::vector<std::string>{"gradcheck", "softmax"}
                            : std::vector<std::string>{"gradcheck"});
  return result;
}

std::vector<GradientRow> rows_of_table() {
  std::vector<GradientRow> rows = all_rows();
  if (sanitized)
    std::erase_if(rows, [](const auto& row) { return !row.name.starts_with("softmax"); });
  return rows;
}

/// The cells of a line of a table whose rule shows where its columns stand.
std::vector<std::string> cells(const std::string& line, const std::string& rule) {
  std::vector<std::string> result;
  for (std::size_t begin = 0; begin < rule.size();) {
    const std::size_t end = rule.find_first_not_of('-', begin);
    const std::string cell = line.substr(std::min(begin, line.size()), end - begin);
    const std::size_t first = cell.find_first_not_of(' ');
    result.push_back(
        first == cell.npos ? "" : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
    begin = std::min(rule.find('-', end), rule.size());
  }
  return result;
}

std::string short_error(double error) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", error);
  return text;
}

double worst(const std::vector<GradientRow>& rows, const std::string& oracle) {
  double result = 0;
  for (const GradientRow& row : rows)
    if (row.oracle == oracle) result = std::max(result, row.max_error);
  return result;
}

std::vector<GradientRow> rows_with(int seed) {
  const Result result = fledge_says({"gradcheck", "--json", "--seed", std::to_string(seed)});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, EndsWith("\n]\n"));
  return rows_of(result.out);
}

}  // namespace

TEST_CASE("fledge gradcheck: a line a name in 80 columns, every one ok, with what --json says") {
  const Result& result = whole_table();
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(all_rows().size() > 100);
  const std::vector<GradientRow> rows = rows_of_table();
  REQUIRE(lines.size() == 2 + rows.size() / 2 + 2);
  for (const std::string& line : lines) CHECK(line.size() <= 80);
  const std::string& rule = lines[1];
  std::vector<std::string> titles = cells(lines[0], rule);
  titles.resize(4);
  CHECK(titles == std::vector<std::string>{"what", "shapes", "dual", "differences"});
  double elements = 0;
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const std::vector<std::string> line = cells(lines[2 + i / 2], rule);
    CHECK(line[0] == rows[i].name);
    CHECK(line[2] == short_error(rows[i].max_error));
    CHECK(line[3] == short_error(rows[i + 1].max_error));
    CHECK(line[4] == "ok");
    elements += rows[i].elements;
  }
  CHECK(without_seconds(lines[lines.size() - 2] + "\n" + lines.back() + "\n") ==
        std::to_string(rows.size() / 2) + " passed, 0 failed; " +
            support::counted(static_cast<std::int64_t>(elements), "element") +
            ", each compared twice, in ? s\nlargest error " + short_error(worst(rows, "dual")) +
            " (dual numbers), " + short_error(worst(rows, "differences")) + " (differences)\n");
}

TEST_CASE("fledge gradcheck: shapes stand in the table without brackets") {
  const auto shapes = [](const std::string& name) {
    const std::vector<std::string> lines = lines_of(fledge_says({"gradcheck", name}).out);
    return cells(lines.at(2), lines.at(1)).at(1);
  };
  CHECK(shapes("add broadcast") == "2x1x3 4x1");
  CHECK(shapes("add a number") == "() 2x3");
  CHECK(shapes("neg") == "7");
  CHECK(shapes("LanguageModel loss") == "2 layers, 2x5 ids");
}

TEST_CASE("fledge gradcheck: everything takes less than 30 seconds") {
  const std::string before = " compared twice, in ", &text = whole_table().out;
  REQUIRE_THAT(text, ContainsSubstring(before));
  const double seconds = std::strtod(text.c_str() + text.find(before) + before.size(), nullptr);
  CHECK((sanitized ? seconds >= 0 : seconds > 0));  // a sanitizer sees one op only: 0.0 s
  // Where the code is neither optimised nor free of sanitizers, they say no more.
  if (FLEDGE_OPTIMISED != 0 && !sanitized) CHECK(seconds < 30);
}

TEST_CASE(
    "fledge gradcheck --json: both oracles of every name within their figures, seeds 1 to 5") {
  for (int seed = 1; seed <= (sanitized ? 1 : 5); ++seed) {
    CAPTURE(seed);
    std::map<std::string, std::map<std::string, GradientRow>> by_name;
    const std::vector<GradientRow> rows = seed == 1 ? all_rows() : rows_with(seed);
    REQUIRE(rows.size() == all_rows().size());
    for (const GradientRow& row : rows) {
      CAPTURE(row.name, row.oracle);
      CHECK(row.ok);
      CHECK(row.elements > 0);
      CHECK(row.elements == std::floor(row.elements));
      CHECK(row.max_error >= 0);
      CHECK(row.max_error <= (row.oracle == "dual" ? 1e-12 : 1e-8));
      CHECK(by_name[row.name].emplace(row.oracle, row).second);
    }
    CHECK(by_name.size() * 2 == rows.size());
    for (const auto& [name, oracles] : by_name) {
      CAPTURE(name);
      REQUIRE(oracles.size() == 2);
      CHECK(oracles.contains("dual"));
      CHECK(oracles.contains("differences"));
      CHECK(oracles.begin()->second.elements == oracles.rbegin()->second.elements);
      CHECK(oracles.begin()->second.shapes == oracles.rbegin()->second.shapes);
    }
  }
}

TEST_CASE("fledge gradcheck --json: a row that is ok has these six keys and no other") {
  const StrictJson whole = strict_json(fledge_says({"gradcheck", "--json", "add"}).out);
  REQUIRE(whole.array().size() >= 2);
  for (const StrictJson& row : whole.array()) {
    std::vector<std::string> keys;
    for (const auto& member : row.object()) keys.push_back(member.first);
    CHECK(keys ==
          std::vector<std::string>{"name", "shapes", "oracle", "elements", "max_error", "ok"});
  }
}

TEST_CASE("fledge gradcheck NAME: the rows of one op, with the numbers they have among all") {
  for (const std::string only : {"softmax", "add", "max", "gelu", "mul itself", "Attention",
                                 "softmax causal", "LanguageModel loss"}) {
    if (sanitized && only != "softmax" && only != "mul itself") continue;
    CAPTURE(only);
    std::vector<GradientRow> expected;
    for (const GradientRow& row : all_rows())
      if (row.name == only || row.name.starts_with(only + " ")) expected.push_back(row);
    REQUIRE(expected.size() >= 2);
    const Result result = fledge_says({"gradcheck", "--json", only});
    CHECK(result.status == 0);
    const std::vector<GradientRow> rows = rows_of(result.out);
    REQUIRE(rows.size() == expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(rows[i].name == expected[i].name);
      CHECK(rows[i].oracle == expected[i].oracle);
      CHECK(rows[i].max_error == expected[i].max_error);
    }
  }
  for (const std::string& line : lines_of(fledge_says({"gradcheck", "softmax"}).out)) {
    CAPTURE(line);
    const std::string word = first_word(line);
    CHECK((word == "what" || word[0] == '-' || word == "softmax" || word == "4" ||
           word == "largest"));
  }
}

TEST_CASE("fledge gradcheck NAME ...: the rows of all names, in the table's order") {
  const auto names = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"gradcheck", "--json"});
    const Result result = fledge_says(arguments);
    CHECK(result.status == 0);
    std::vector<std::string> found;
    for (const GradientRow& row : rows_of(result.out))
      if (row.oracle == "dual") found.push_back(row.name);
    return found;
  };
  using Names = std::vector<std::string>;
  CHECK(names({"tanh"}) == Names{"tanh"});
  CHECK(names({"layer_norm", "exp"}) == Names{"exp", "layer_norm", "layer_norm large eps"});
  CHECK(names({"softmax causal"}) == Names{"softmax causal"});
  CHECK(names({"softmax", "causal", "exp"}) == Names{"exp", "softmax causal"});
  CHECK(names({"tanh", "tanh"}) == Names{"tanh"});
}

TEST_CASE("fledge gradcheck --seed: 1 unless given, and every 64-bit number is one") {
  for (const std::string only : {"softmax", "Attention"}) {
    if (sanitized && only == "Attention") continue;
    CAPTURE(only);
    const auto out = [&](std::vector<std::string> seed) {
      seed.insert(seed.begin(), {"gradcheck", "--json", only});
      const Result result = fledge_says(seed);
      CHECK(result.status == 0);
      CHECK(result.err.empty());
      return result.out;
    };
    const std::string first = out({});
    CHECK(out({"--seed", "1"}) == first);
    CHECK(out({"--seed=1"}) == first);
    std::set<std::string> different{first};
    for (const char* seed : {"0", "2", "4294967297", "18446744073709551615"})
      CHECK(different.insert(out({"--seed", seed})).second);
  }
}

TEST_CASE("fledge: help is asked for, goes to stdout and fits a terminal of 80 by 24") {
  const std::vector<std::vector<std::string>> questions{{"--help"},
                                                        {"-h"},
                                                        {"help"},
                                                        {"gradcheck", "--help"},
                                                        {"gradcheck", "-h"},
                                                        {"gradcheck", "--seed", "x", "--help"}};
  for (const std::vector<std::string>& question : questions) {
    CAPTURE(question);
    const Result result = fledge_says(question);
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    CHECK_THAT(result.out, ContainsSubstring("gradcheck"));
    CHECK_THAT(result.out, EndsWith("\n"));
    const std::vector<std::string> lines = lines_of(result.out);
    CHECK(lines.size() <= 24);
    for (const std::string& line : lines) CHECK(support::display_width(line) <= 80);
  }
  const std::string options = fledge_says({"gradcheck", "--help"}).out;
  for (const char* option : {"[NAME ...]", "--seed N", "--json", "[1]", "exit status"})
    CHECK_THAT(options, ContainsSubstring(option));
}
