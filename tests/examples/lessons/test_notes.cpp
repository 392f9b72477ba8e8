// NOTES.md: its items are numbered, and the numbers of its tables come from the programs that it
// names.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/examples/lessons/course.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

using namespace testing;

namespace {

/// The lines of each item; an item begins with "**000.1 ".
std::map<std::string, Lines> items_of_the_notes() {
  std::map<std::string, Lines> items;
  std::string name;
  for (const std::string& line : lines_in(source_root / "examples/NOTES.md")) {
    if (line.rfind("**00", 0) == 0) name = line.substr(2, line.find(' ') - 2);
    if (line.rfind("## ", 0) == 0) name.clear();
    if (!name.empty()) items[name].push_back(line);
  }
  return items;
}

/// "`attention/02_worked_example` part 3, `birds` part 1" names two programs.
Lines programs_in(const std::string& text) {
  Lines names;
  for (std::size_t at = text.find('`'); at != text.npos; at = text.find('`', at + 1)) {
    const std::size_t end = text.find('`', at + 1);
    const std::string name = text.substr(at + 1, end - at - 1);
    if (name == "birds" || name.rfind("attention/", 0) == 0 || name.rfind("engine/", 0) == 0)
      names.push_back(name);
    at = end;
  }
  return names;
}

/// A number without its sign, and half a unit of its last digit: "0.314" is 0.314 ± 0.0005.
struct Decimal {
  double value = 0, half = 0;
};

bool is_digit(const std::string& text, std::size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

/// The numbers with a point in this text; not the numbers of items: "000.13".
std::vector<Decimal> decimals_in(const std::string& text) {
  std::vector<Decimal> numbers;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t point = at, end = at;
    while (is_digit(text, point)) ++point;
    if (point > at && point < text.size() && text[point] == '.' && is_digit(text, point + 1)) {
      end = point + 1;
      while (is_digit(text, end)) ++end;
      if (text.compare(at, 2, "00") != 0)
        numbers.push_back({std::stod(text.substr(at, end - at)),
                           0.5 * std::pow(10, -static_cast<double>(end - point - 1))});
    }
    at = std::max({point, end, at}) + 1;
  }
  return numbers;
}

/// Whether a program printed this number, with as many digits or more. Processors round
/// differently, which may change the last digit by one.
bool is_among(const Decimal& number, const std::vector<Decimal>& printed) {
  return std::any_of(printed.begin(), printed.end(), [&](const Decimal& other) {
    return other.half < 1.5 * number.half &&
           std::abs(other.value - number.value) < 3.01 * number.half;
  });
}

}  // namespace

TEST_CASE("notes: the items of each note are numbered from 1, and none is left out") {
  std::map<std::string, std::size_t> items;
  for (const std::string& line : lines_in(source_root / "examples/NOTES.md")) {
    if (line.rfind("**00", 0) != 0) continue;
    INFO(line);
    const std::string note = line.substr(2, 3);
    CHECK(line.rfind("**" + note + "." + std::to_string(++items[note]) + " ", 0) == 0);
  }
  CHECK(items == std::map<std::string, std::size_t>{
                     {"000", 39}, {"001", 22}, {"002", 21}, {"003", 10}, {"004", 14}});
}

TEST_CASE("notes: note 004's remark on the brain and its quotations on Q and K are judged") {
  const auto items = items_of_the_notes();
  CHECK(joined(items.at("004.9")).find("anything in the brain") != std::string::npos);
  for (const char* words :
       {"current task at hand", "descriptions of the kinds of prediction tasks"})
    CHECK(joined(items.at("004.10")).find(words) != std::string::npos);
}

TEST_CASE("notes: numbers are found in a text") {
  const std::vector<Decimal> numbers = decimals_in("000.13 gives 0.314, −10.80 and 5 of 7.");
  REQUIRE(numbers.size() == 2);
  CHECK(numbers[0].value == 0.314);
  CHECK(numbers[1].value == 10.8);
  CHECK(is_among({0.31, 0.005}, numbers));
  CHECK_FALSE(is_among({0.33, 0.005}, numbers));
  CHECK_FALSE(is_among({0.3141, 0.00005}, numbers));
}

TEST_CASE("notes: the numbers of a table stand in the output of a program that its item names") {
  const std::string birds =
      run({(std::filesystem::path(FLEDGE_BINARY_DIR) / "birds").string()}).out;
  std::size_t compared = 0;
  for (const auto& [name, lines] : items_of_the_notes()) {
    const std::string text = joined(lines);
    const std::size_t runs = text.find("Runs in: ");
    if (runs == text.npos) continue;
    std::vector<Decimal> printed;
    for (const std::string& program : programs_in(text.substr(runs)))
      for (const Decimal& number :
           decimals_in(program == "birds" ? birds : joined(output_of(program))))
        printed.push_back(number);
    for (const std::string& line : lines) {
      if (line.rfind("| ", 0) != 0) continue;
      INFO(name << ": " << line);
      for (const Decimal& number : decimals_in(line)) {
        INFO(number.value);
        CHECK(is_among(number, printed));
        ++compared;
      }
    }
  }
  CHECK(compared > 75);
}
