#include "nn/text/pieces.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "nn/io/utf8.h"

namespace fledge {

namespace {

// The classes of Unicode 14.0 (2021; section 4.5, table 4-4, and PropList.txt). Surrogates, numbers
// over U+10FFFF and code points that have no character there are "other".
enum class CodePointClass : std::uint8_t {
  letter,  // \p{L}: general category Lu, Ll, Lt, Lm or Lo
  number,  // \p{N}: Nd, Nl or No
  space,   // \s: the property White_Space
  other
};

// Code points of one class that follow each other.
struct ClassRange {
  std::uint32_t first;
  std::uint16_t count;
  CodePointClass kind;
};

// Binary search.
CodePointClass class_in_ranges(char32_t point) {
  constexpr auto L = CodePointClass::letter, N = CodePointClass::number, W = CodePointClass::space;
  static constexpr ClassRange ranges[] = {
#include "nn/text/unicode_ranges.inc"
  };
  const auto after =
      std::upper_bound(std::begin(ranges), std::end(ranges), point,
                       [](char32_t value, const ClassRange& range) { return value < range.first; });
  if (after == std::begin(ranges)) return CodePointClass::other;
  const ClassRange& range = *std::prev(after);
  return point - range.first < range.count ? range.kind : CodePointClass::other;
}

CodePointClass class_of(char32_t point) {
  static const auto of_ascii = [] {  // most code points of most texts
    std::array<CodePointClass, 128> table{};
    for (char32_t c = 0; c < 128; ++c) table[c] = class_in_ranges(c);
    return table;
  }();
  return point < 128 ? of_ascii[point] : class_in_ranges(point);
}

// Code points of one class in a row.
struct ClassRun {
  CodePointClass kind;
  std::size_t end;   // the position after the run
  std::size_t last;  // the position where its last code point begins
};

// For a byte that is not UTF-8, code_point_at() gives U+FFFD. The class of this code point is
// "other".
ClassRun run_at(std::string_view text, std::size_t at) {
  CodePoint point = code_point_at(text, at);
  ClassRun run{class_of(point.value), at + point.bytes, at};
  while (run.end < text.size()) {
    point = code_point_at(text, run.end);
    if (class_of(point.value) != run.kind) break;
    run.last = run.end;
    run.end += point.bytes;
  }
  return run;
}

}  // namespace

std::string_view piece_at(std::string_view text, std::size_t at) {
  if (text[at] == '\'')
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text.substr(at, ending.size()) == ending) return text.substr(at, ending.size());
  if (text[at] == ' ' && at + 1 < text.size()) {
    const ClassRun after = run_at(text, at + 1);
    if (after.kind != CodePointClass::space) return text.substr(at, after.end - at);
  }
  const ClassRun run = run_at(text, at);
  // Before a sign, the last of several blanks is not in the run: \s+(?!\S).
  const bool is_cut = run.kind == CodePointClass::space && run.end < text.size() && run.last > at;
  return text.substr(at, (is_cut ? run.last : run.end) - at);
}

namespace {

constexpr char join_mark = '\t';

constexpr std::u32string_view split_marks =
    U"\"()[]{};!?…“”„«»‹›—–¡¿"
    U"。，、；：！？（）「」『』《》〈〉【】〔〕・～";
constexpr std::u32string_view end_marks = U".,:";

// Equal code points in a row.
struct EqualMarks {
  char32_t value;
  std::size_t at, bytes, count;
  bool is_mark;
};

std::vector<EqualMarks> runs_of(std::string_view text) {
  std::vector<EqualMarks> runs;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!runs.empty() && point.valid && runs.back().value == point.value) {
      runs.back().bytes += point.bytes;
      ++runs.back().count;
    } else {
      runs.push_back({point.valid ? point.value : U'\0', at, point.bytes, 1, false});
    }
    at += point.bytes;
  }
  return runs;
}

bool is_one_of(std::u32string_view list, char32_t value) {
  return list.find(value) != std::u32string_view::npos;
}

void find_marks(std::vector<EqualMarks>& runs) {
  for (EqualMarks& run : runs)
    run.is_mark = is_one_of(split_marks, run.value) || (run.value == U'-' && run.count > 1) ||
                  (is_one_of(end_marks, run.value) && run.count > 1);
  const auto is_beside_word = [&](std::size_t r) {  // on both sides
    return r > 0 && r + 1 < runs.size() && !runs[r - 1].is_mark && !runs[r + 1].is_mark &&
           !is_one_of(end_marks, runs[r + 1].value);
  };
  for (std::size_t r = 0; r < runs.size(); ++r)
    if (is_one_of(end_marks, runs[r].value) && !is_beside_word(r)) runs[r].is_mark = true;
}

}  // namespace

std::vector<WordPiece> word_pieces(std::string_view text) {
  std::vector<EqualMarks> runs = runs_of(text);
  find_marks(runs);
  std::vector<EqualMarks> parts;  // runs of marks, and whole words
  for (const EqualMarks& run : runs)
    if (parts.empty() || run.is_mark || parts.back().is_mark)
      parts.push_back(run);
    else
      parts.back().bytes += run.bytes;

  const auto first_word = std::find_if(parts.begin(), parts.end(),
                                       [](const EqualMarks& part) { return !part.is_mark; });
  const bool has_word = first_word != parts.end();
  const std::size_t leading = has_word ? static_cast<std::size_t>(first_word - parts.begin()) : 0;
  std::size_t trailing = parts.size();  // the first of the marks after the last word
  while (has_word && parts[trailing - 1].is_mark) --trailing;
  if (!has_word) trailing = std::min<std::size_t>(1, parts.size());

  std::vector<WordPiece> pieces;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const bool joins_left = parts[p].is_mark && p >= leading && p > 0;
    const bool joins_right = parts[p].is_mark && p < trailing && has_word;
    std::string symbol(text.substr(parts[p].at, parts[p].bytes));
    if (joins_left) symbol.insert(symbol.begin(), join_mark);
    if (joins_right) symbol += join_mark;
    pieces.push_back({std::move(symbol), parts[p].at, parts[p].is_mark});
  }
  return pieces;
}

std::string_view without_joins(std::string_view symbol) {
  if (symbol.starts_with(join_mark)) symbol.remove_prefix(1);
  if (symbol.ends_with(join_mark)) symbol.remove_suffix(1);
  return symbol;
}

bool are_apart(std::string_view first, std::string_view second) {
  return !first.ends_with(join_mark) && !second.starts_with(join_mark);
}

bool is_word_piece(std::string_view symbol) {
  const std::string_view text = without_joins(symbol);
  if (text.empty() || text.find(join_mark) != std::string_view::npos) return false;
  const std::vector<WordPiece> pieces = word_pieces(text);
  // With a tab it must be a mark: between two letters it is a piece of its own, or it is . , :
  return pieces.size() == 1 && (text.size() == symbol.size() || pieces[0].is_mark);
}

}  // namespace fledge
