#include "nn/text/pieces.h"

#include <algorithm>

#include "nn/io/utf8.h"
#include "nn/text/unicode.h"

namespace fledge {

namespace {

constexpr std::size_t longest_ascii_piece = 64;

CodePointClass ascii_class(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 ? class_of(byte) : CodePointClass::letter;
}

std::string_view ascii_piece_at(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.size(), at + longest_ascii_piece);
  const bool space_before = text[at] == ' ' && at + 1 < end;
  std::size_t to = at + (space_before ? 1 : 0);
  const CodePointClass kind = ascii_class(text[to]);
  while (to < end && ascii_class(text[to]) == kind) ++to;
  // The last of several spaces belongs to the word after it.
  if (kind == CodePointClass::space && to < text.size() && to - at > 1 && text[to - 1] == ' ' &&
      ascii_class(text[to]) != CodePointClass::space)
    --to;
  return text.substr(at, to - at);
}

// Code points of one class in a row.
struct ClassRun {
  CodePointClass kind;
  std::size_t end;   // the place after the run
  std::size_t last;  // the place where its last code point begins
};

// For a byte that is not UTF-8, code_point_at() gives U+FFFD. The class of this code point is "other".
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

std::string_view gpt2_piece_at(std::string_view text, std::size_t at) {
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

}  // namespace

std::string_view piece_at(std::string_view text, std::size_t at, PieceRule rule) {
  return rule == PieceRule::ascii ? ascii_piece_at(text, at) : gpt2_piece_at(text, at);
}

}  // namespace fledge
