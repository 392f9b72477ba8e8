#include "examples/support/table.h"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace support {

namespace {

/// The fields joined by commas, with a line end. A field with a comma, a quote or a line end stands
/// in quotes, and its quotes are doubled.
std::string csv_row(const std::vector<std::string>& fields) {
  const bool on_terminal = isatty(STDOUT_FILENO) != 0;
  std::string row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) row += ',';
    const std::string field = on_terminal ? printable(fields[i]) : fledge::utf8_text(fields[i]);
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      row += field;
      continue;
    }
    row += '"';
    for (const char c : field) row += c == '"' ? "\"\"" : std::string(1, c);
    row += '"';
  }
  return row + "\n";
}

}  // namespace

Table Table::of_numbers(const std::vector<std::string>& titles) {
  std::vector<Column> columns;
  for (const std::string& title : titles)
    columns.push_back({title, columns.empty() ? Align::left : Align::right});
  return Table(columns);
}

void Table::row(std::vector<std::string> cells) {
  if (cells.size() != columns_.size())
    throw std::invalid_argument("table: a row of " + std::to_string(columns_.size()) +
                                " cells: " + std::to_string(cells.size()) + " given");
  rows_.push_back(std::move(cells));
}

std::vector<std::string> Table::split_cells(const std::string& text) {
  std::vector<std::string> cells;
  std::size_t begin = 0, end = 0;
  for (; (end = text.find(" | ", begin)) != std::string::npos; begin = end + 3)
    cells.push_back(text.substr(begin, end - begin));
  cells.push_back(text.substr(begin));
  return cells;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<int>& widths,
                        int columns) const {
  std::string text;
  const auto end_line = [&] { text.erase(text.find_last_not_of(' ') + 1) += '\n'; };
  int column = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0 && widths[i] > 0 && column + 2 + widths[i] > columns) {
      end_line();
      column = 0;
    }
    if (i > 0) text += "  ";
    text += columns_[i].align == Align::right ? pad_left(cells[i], widths[i])
                                              : pad_right(cells[i], widths[i]);
    column += (i > 0 ? 2 : 0) + widths[i];
  }
  end_line();
  return text;
}

std::string Table::text(bool unicode, Paint paint, int columns) const {
  std::vector<std::string> titles, rules;
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = display_width(columns_[i].title);
    for (const auto& cells : rows_) width = std::max(width, display_width(cells[i]));
    std::string rule;
    for (int column = 0; column < width; ++column) rule += unicode ? "─" : "-";
    titles.push_back(paint.bold(columns_[i].title));
    rules.push_back(paint.dim(rule));
    widths.push_back(width);
  }
  std::string lines = line(titles, widths, columns) + line(rules, widths, columns);
  for (const auto& cells : rows_) lines += line(cells, widths, columns);
  return lines;
}

Rows::Rows(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (const Column& column : columns_)
    if (!column.title.empty()) table_.columns_.push_back({column.title});
}

void Rows::add(std::vector<Cell> cells) {
  if (cells.size() != columns_.size())
    throw std::invalid_argument("rows: " + std::to_string(columns_.size()) +
                                " cells a row: " + std::to_string(cells.size()) + " given");
  values_.emplace_back();
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!columns_[i].key.empty()) values_.back().push_back(std::move(cells[i].value));
    if (columns_[i].title.empty()) continue;
    if (cells[i].is_number) table_.columns_[shown.size()].align = Table::Align::right;
    shown.push_back(std::move(cells[i].shown));
  }
  table_.row(std::move(shown));
}

fledge::Json Rows::json() const {
  std::vector<fledge::Json> objects;
  for (const auto& row : values_) {
    fledge::Json::Members members;
    for (const Column& column : columns_) {
      if (column.key.empty()) continue;
      const auto& value = row[members.size()];
      const auto* const text = std::get_if<std::string>(&value);
      members.emplace_back(column.key,
                           text ? fledge::Json(fledge::utf8_text(*text)) : std::get<0>(value));
    }
    objects.push_back(fledge::Json::object(members));
  }
  return objects;
}

std::string Rows::csv() const {
  std::vector<std::string> fields;
  for (const Column& column : columns_)
    if (!column.key.empty()) fields.push_back(column.key);
  std::string lines = csv_row(fields);
  for (const auto& row : values_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto* const text = std::get_if<std::string>(&row[i]);
      fields[i] = text ? *text : std::get<0>(row[i]).text();
      if (!text && fields[i] == "null") fields[i] = "";
    }
    lines += csv_row(fields);
  }
  return lines;
}

}  // namespace support
