// fledge gradcheck and --explain: every row within its figures, and every path of a derivative.
// tests/command has what they say.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "examples/support/text.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

std::string short_error(double error) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", error);
  return text;
}

std::vector<GradientRow> rows_with(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"gradcheck", "--json"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  CAPTURE(words);
  const Result result = fledge_says(words);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  return rows_of(result.out);
}

/// "(2, 3) (4)" gives "[0,0]".
std::string first_index(const std::string& shapes) {
  std::string index = "[";
  for (const char c : shapes.substr(0, shapes.find(')')))
    if (c == ',') index += "0,";
  return shapes.starts_with("()") ? "[]" : index + "0]";
}

}  // namespace

TEST_CASE("fledge gradcheck: both oracles of every name within their figures, seeds 1 to 5") {
  REQUIRE(all_rows().size() > 100);
  for (int seed = 1; seed <= (sanitized ? 1 : 5); ++seed) {
    CAPTURE(seed);
    std::map<std::string, std::map<std::string, GradientRow>> by_name;
    const std::vector<GradientRow> rows =
        seed == 1 ? all_rows() : rows_with({"--seed", std::to_string(seed)});
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

TEST_CASE("fledge gradcheck: the table has a line a name, with what --json says, within 30 s") {
  // Under a sanitizer the table has one op: --json runs all rows, by the same code.
  std::vector<GradientRow> rows = all_rows();
  if (sanitized)
    std::erase_if(rows, [](const auto& row) { return !row.name.starts_with("softmax"); });
  const Result table = fledge_says(sanitized ? std::vector<std::string>{"gradcheck", "softmax"}
                                             : std::vector<std::string>{"gradcheck"});
  CHECK(table.status == 0);
  CHECK(table.err.empty());
  const std::vector<std::string> lines = lines_of(table.out);
  REQUIRE(lines.size() == 2 + rows.size() / 2 + 2);
  double elements = 0;
  std::map<std::string, double> worst;
  for (const GradientRow& row : rows)
    worst[row.oracle] = std::max(worst[row.oracle], row.max_error);
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const std::string& line = lines[2 + i / 2];
    CHECK(line.size() <= 80);
    CHECK(line.starts_with(rows[i].name + " "));
    const std::string dual = short_error(rows[i].max_error),
                      end = short_error(rows[i + 1].max_error) + "  ok";
    CHECK(line.ends_with(end));
    CHECK(line.find(" " + dual + " ") < line.size() - end.size());
    elements += rows[i].elements;
  }
  const std::string& summary = lines[lines.size() - 2];
  CHECK(summary.starts_with(std::to_string(rows.size() / 2) + " passed, 0 failed; " +
                            support::counted(static_cast<std::int64_t>(elements), "element")));
  CHECK(lines.back() == "largest error " + short_error(worst["dual"]) + " (dual numbers), " +
                            short_error(worst["differences"]) + " (differences)");
  const std::string before = " compared twice, in ";
  const double seconds =
      std::strtod(summary.c_str() + summary.find(before) + before.size(), nullptr);
  // Where the code is neither optimised nor free of sanitizers, they say no more.
  if (FLEDGE_OPTIMISED != 0 && !sanitized) CHECK((seconds > 0 && seconds < 30));
  // Again, to the byte, and in a pipe nothing but text and line ends.
  if (sanitized) return;
  const std::string json = fledge_says({"gradcheck", "--json"}).out;
  CHECK(fledge_says({"gradcheck", "--json"}).out == json);
  CHECK(without_seconds(fledge_says({"gradcheck"}).out) == without_seconds(table.out));
  for (const char c : table.out + json) CHECK((c == '\n' || (c >= ' ' && c <= '~')));
  CHECK((table.out + json).find(" \n") == std::string::npos);
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
    const std::vector<GradientRow> rows = rows_with({only});
    REQUIRE(rows.size() == expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(rows[i].name == expected[i].name);
      CHECK(rows[i].oracle == expected[i].oracle);
      CHECK(rows[i].max_error == expected[i].max_error);
    }
  }
}

TEST_CASE("explain: the paths add up to backward(), for the first element of every row") {
  for (const GradientRow& row : sanitized ? rows_with({"matmul", "max"}) : all_rows()) {
    if (row.oracle != "dual" || row.shapes[0] != '(' || row.shapes.ends_with("ids")) continue;
    const std::string element = row.name + first_index(row.shapes);
    CAPTURE(element);
    const Result result = fledge_says({"gradcheck", "--explain", element, "--json"});
    REQUIRE(result.status == 0);
    const StrictJson found = strict_json(result.out);
    CHECK(found["paths_agree"].boolean());
    CHECK(found["differences_agree"].boolean());
    double sum = 0, given = 0;
    for (const StrictJson& path : found["paths"].array()) {
      const double product = path["derivative"].number() * path["cotangent"].number();
      CHECK_THAT(path["product"].number(), WithinRel(product, 1e-15));
      sum += product;
    }
    for (const StrictJson& op : found["ops"].array()) given += op["gives"].number();
    const double size = std::max(1.0, std::abs(sum));
    CHECK(std::abs(found["sum_of_paths"].number() - sum) <= 1e-14 * size);
    CHECK(std::abs(found["backward"].number() - sum) <= 1e-11 * size);
    CHECK(std::abs(found["differences"].number() - sum) <= 1e-7 * size);
    CHECK(std::abs(found["backward"].number() - given) <= 1e-14 * size);
  }
}
