#include "examples/support/table.h"

#include <stdexcept>

#include "tests/support/catch.h"

using namespace support;

TEST_CASE("table: columns are as wide as their widest cell, and aligned") {
  Table table({{"what"}, {"elements", Table::Align::right}, {"verdict"}});
  table.row({"matmul", "12", "ok"});
  table.row({"layer_norm", "123456789", "FAIL"});
  CHECK(table.text(false) ==
        "what         elements  verdict\n"
        "----------  ---------  -------\n"
        "matmul             12  ok\n"
        "layer_norm  123456789  FAIL\n");
  CHECK_THAT(table.text(true), ContainsSubstring("\n──────────  ─────────  ───────\n"));
}

TEST_CASE("table: widths are those of the terminal, whatever the colours") {
  const Paint paint{true};
  Table plain({{"鳥"}, {"b"}}), painted({{"鳥"}, {"b"}});
  plain.row({"Vögel", "x"});
  plain.row({"a", "y"});
  painted.row({paint.good("Vögel"), "x"});
  painted.row({"a", paint.bad("y")});
  CHECK(plain.text(true) ==
        "鳥     b\n"
        "─────  ─\n"
        "Vögel  x\n"
        "a      y\n");
  std::string text = painted.text(true, paint);
  CHECK(text != plain.text(true));
  for (std::size_t at = 0; (at = text.find('\x1b')) != std::string::npos;)
    text.erase(at, text.find('m', at) + 1 - at);
  CHECK(text == plain.text(true));
}

TEST_CASE("table: empty cells leave no spaces at the ends of lines") {
  Table table({{"a"}, {"b"}});
  CHECK(table.text(false) == "a  b\n-  -\n");
  table.row({"", ""});
  table.row({"x", ""});
  CHECK(table.text(false) == "a  b\n-  -\n\nx\n");
}

TEST_CASE("table: a row has one cell per column") {
  Table table({{"a"}, {"b"}});
  CHECK_THROWS_WITH(table.row({"x"}), Equals("table: a row of 2 cells: 1 given"));
  CHECK_THROWS_AS(table.row({"x", "y", "z"}), std::invalid_argument);
}

TEST_CASE("table: of_numbers aligns the first column left and the others right") {
  Table table = Table::of_numbers({"word", "p"});
  table.row({"a", "0.25"});
  CHECK(table.text(false) == "word     p\n----  ----\na     0.25\n");
}

TEST_CASE("table: a format has bars between the cells, which can be empty") {
  Table table({{"a"}, {"b"}, {"c"}});
  table.row("  %s |  | %.2f", "x|y", 0.25);
  CHECK(table.text(false) == "a      b  c\n-----  -  ----\n  x|y     0.25\n");
  CHECK_THROWS_AS(table.row("%d | %d", 1, 2), std::invalid_argument);
}
