#include "examples/support/option_table.h"

#include <stdexcept>

#include "examples/support/options.h"
#include "tests/support/catch.h"

using namespace support;

namespace {

int flights = 0;

void fly_command(int argc, const char* const* argv) {
  std::int64_t height = 5;
  bool quick = false;
  std::string out;
  Options options("birds fly", "Birds fly.");
  options.arguments("WHERE", 0, 3);
  options.argument_words({"up", "down"});
  options.group("Flight");
  options.add("--height", "N", height, "in metres", {1, 9});
  options.add("-q, --quick", "", quick, "without a rest");
  options.group("Output");
  options.add("-o, --out", "DIR", out, "a folder");
  options.example("birds fly up", "into the sky");
  options.exit_statuses("0 done, 7 tired");
  options.parse(argc, argv);
  ++flights;
}

}  // namespace

TEST_CASE("option table: what a command would parse, without running the command") {
  flights = 0;
  const OptionTable table = table_of([] { fly_command(0, nullptr); });
  CHECK(flights == 0);
  CHECK(table.program == "birds fly");
  CHECK(table.purpose == "Birds fly.");
  CHECK(table.usage == "[WHERE ...]");
  CHECK(table.placeholder == "WHERE");
  CHECK(table.words == std::vector<std::string>{"up", "down"});
  CHECK(table.exit_statuses == "0 done, 7 tired");
  CHECK(table.examples == std::vector<HelpRow>{{"birds fly up", "into the sky"}});
  REQUIRE(table.rows.size() == 3);
  const OptionRow &height = table.rows[0], &quick = table.rows[1], &out = table.rows[2];
  CHECK(height.name == "--height");
  CHECK(height.argument == "N");
  CHECK(height.letter == 0);
  CHECK(height.help == "in metres");
  CHECK(height.group == "Flight");
  CHECK(height.fallback == "5");
  CHECK(quick.argument.empty());
  CHECK(quick.letter == 'q');
  CHECK(out.argument == "DIR");
  CHECK(out.group == "Output");
}

TEST_CASE("option table: afterwards the command parses as before") {
  flights = 0;
  table_of([] { fly_command(0, nullptr); });
  const char* const words[] = {"fly", "--height", "3"};
  fly_command(3, words);
  CHECK(flights == 1);
  CHECK_THROWS_AS(table_of([] {}), std::logic_error);
  CHECK_THROWS_AS(table_of([] { throw std::runtime_error("fell"); }), std::runtime_error);
  fly_command(3, words);
  CHECK(flights == 2);
}
