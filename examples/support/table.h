// Tables: of text for a terminal, and of values, which a terminal, JSON and CSV show.
//
// A command fills Rows once. What a terminal shows of a cell may be shorter than its value;
// JSON and CSV have all digits.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "examples/support/text.h"
#include "nn/io/json.h"

namespace support {

/// A header, a rule, rows; every column as wide as its widest cell. Cells may carry the colours of
/// Paint, which take no room; users' text must have passed through printable() first.
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
  friend class Rows;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A value, and what a terminal shows of it.
struct Cell {
  Cell(std::integral auto number)
      : value(fledge::Json(number)), shown(thousands(std::int64_t(number))) {}
  Cell(std::floating_point auto number, const char* format = "%.3g")
      : value(fledge::Json(number)), shown(formatted(format, double(number))) {}
  /// A text; a terminal shows it with visible blanks unless `label` is given.
  Cell(const std::string& text) : Cell(text, token_label(text)) {}
  Cell(const std::string& text, std::string label) : value(text), shown(std::move(label)) {}
  Cell(const fledge::Json& json, std::string label)
      : value(json), shown(std::move(label)), is_number(false) {}

  std::variant<fledge::Json, std::string> value;
  std::string shown;
  bool is_number = std::holds_alternative<fledge::Json>(value);  // aligned right in a terminal
};

/// What a command found, as rows.
class Rows {
 public:
  /// A column has a key in JSON and CSV and a title in a terminal. Where one of them is "", the column
  /// is not there.
  struct Column {
    Column(const char* with_key, std::string with_title = "")
        : key(with_key), title(std::move(with_title)) {}
    std::string key, title;
  };
  explicit Rows(std::vector<Column> columns);

  /// Throws std::invalid_argument unless there is one cell per column.
  void add(std::vector<Cell> cells);
  /// An array of objects.
  fledge::Json json() const;
  /// Comma-separated values (RFC 4180; rows end with \n), the keys first. Bytes that are not UTF-8
  /// are written like \xff, and null is an empty field.
  std::string csv() const;
  /// A Table.
  std::string text(int columns, Paint paint = {}) const {
    return table_.text(unicode_wanted(), paint, columns);
  }

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<decltype(Cell::value)>> values_;  // of columns with a key
  Table table_{{}};                                         // of columns with a title
};

}  // namespace support
