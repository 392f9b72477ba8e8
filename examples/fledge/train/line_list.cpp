#include "examples/fledge/train/line_list.h"

#include <algorithm>
#include <unordered_set>

#include "nn/io/utf8.h"
#include "nn/text/corpus.h"

namespace fledge::train {

namespace {

constexpr std::size_t least_lines = 20, most_characters = 40, most_words = 4;
constexpr char32_t first_east_asian = 0x2E80;
constexpr std::u32string_view closing_marks = U".,;:!?…{}()[]>\\\"”«»—。，、；：！？」』）";

bool is_entry(std::string_view line) {
  std::size_t characters = 0, words = 0;
  bool in_word = false;
  char32_t last = U' ';
  for (std::size_t at = 0; at < line.size();) {
    const CodePoint point = code_point_at(line, at);
    const bool is_blank = point.value == U' ' || point.value == U'\t';
    if (!is_blank && (!in_word || point.value >= first_east_asian)) ++words;
    if (is_blank && at == 0) return false;
    in_word = !is_blank;
    if (!is_blank) last = point.value;
    ++characters;
    at += point.bytes;
  }
  return characters <= most_characters && words <= most_words &&
         closing_marks.find(last) == std::u32string_view::npos;
}

}  // namespace

bool is_list_of_lines(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  const auto line_ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const std::size_t blank = line_ends > lines.size() ? line_ends - lines.size() : 0;
  if (lines.size() < least_lines || 50 * blank > lines.size()) return false;
  const auto entries =
      static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), is_entry));
  const std::unordered_set<std::string_view> different(lines.begin(), lines.end());
  return 20 * entries >= 19 * lines.size() && 2 * different.size() >= lines.size();
}

}  // namespace fledge::train
