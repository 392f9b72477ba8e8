#include "nn/text/pieces.h"

#include "nn/io/utf8.h"
#include "nn/text/unicode.h"

namespace fledge {

namespace {

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

}  // namespace fledge
