// A table in plain text: a header, a rule, rows; every column as wide as its widest cell.
//
// Key idea: cells may carry the colours of Paint, which take no room; users' text must have passed
// through printable() first.
#pragma once

#include <string>
#include <vector>

#include "examples/support/terminal.h"
#include "examples/support/text.h"

namespace support {

class Table {
 public:
  enum class Align { left, right };

  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Columns with these titles, of which the first is aligned left and the others, of numbers, right.
  static Table of_numbers(const std::vector<std::string>& titles);

  /// Throws std::invalid_argument unless there is one cell per column.
  void row(std::vector<std::string> cells);
  /// The same for cells that printf would print, with " | " between two: "%s | %.3f | %.3f".
  template <class Value, class... Values>
  void row(const char* format, Value value, Values... values) {
    row(split_cells(formatted(format, value, values...)));
  }

  /// Two spaces between columns, none at the ends of lines, a newline after each. Where a row is
  /// wider than `columns`, its last cells stand on lines of their own, indented.
  std::string text(bool unicode = unicode_wanted(), Paint paint = {}, int columns = 1000) const;

 private:
  static std::vector<std::string> split_cells(const std::string& text);
  std::string line(const std::vector<std::string>& cells, const std::vector<int>& widths,
                   int columns) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace support
