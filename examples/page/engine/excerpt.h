// The part of a text that a page shows first: a whole line or a whole sentence.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "nn/io/utf8.h"
#include "nn/text/corpus.h"

namespace fledge {

struct Excerpt {
  std::string text;
  bool goes_on = false;  // the line is longer
};

/// The byte behind the first sentence of a line that has more; else its size. Behind a mark of
/// Chinese stands no blank.
inline std::size_t end_of_sentence(std::string_view line) {
  std::size_t end = line.size();
  for (const std::string_view mark : {". ", "! ", "? ", "。", "！", "？"})
    if (const std::size_t at = line.find(mark); at != std::string_view::npos)
      end = std::min(end, at + (mark.ends_with(' ') ? 1 : mark.size()));
  return end;
}

/// The first line of 3 to 14 tokens, so few that a page shows each number of them, or the first
/// sentence of a line that is longer; without one the shortest that the context has room for. If
/// none fits, what fits of the first line, in whole words. "" if the tokenizer does not know it.
inline Excerpt excerpt_of(std::string_view text, const Tokenizer& tokenizer, Reading reading,
                          Dim context) {
  constexpr Dim few = 14, many = 160, of_cut = 40;
  const bool lines = reading == Reading::lines, words = tokenizer.kind() == Tokens::word;
  const Dim room = std::min(context, many) - (lines ? 1 : 0);
  const auto is_known = [&](std::string_view part) {
    return first_not_utf8(part) >= part.size() && tokenizer.unknown_symbols(part).counts.empty();
  };
  std::string_view best, first;
  Dim least = many + 1;
  const auto fits = [&](std::string_view part) {
    if (least <= few || !is_known(part)) return false;
    const Dim count = std::ssize(tokenizer.encode(part));
    if (count >= 3 && count <= room && count < least) best = part, least = count;
    return count <= room;
  };
  std::vector<std::string_view> all = lines_of(text);
  all.resize(std::min(all.size(), std::size_t{200}));
  for (std::string_view line : all) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (first.empty()) first = line.substr(0, first_not_utf8(line));
    // What begins with a small letter is the end of a sentence. In byte pairs, a part of a line is
    // not what the model has read.
    const bool has_parts = !lines && tokenizer.kind() != Tokens::bpe;
    const std::size_t end = end_of_sentence(line);
    if (!fits(line) && has_parts && end < line.size() && (line[0] < 'a' || line[0] > 'z'))
      fits(line.substr(0, end));
  }
  if (!best.empty()) return {std::string(best)};

  if (first.empty()) first = "?";
  if (!is_known(first)) return {};
  std::vector<Dim> ids = tokenizer.encode(first);
  const auto most = static_cast<std::size_t>(std::clamp<Dim>(room, 1, of_cut));
  if (ids.size() <= most) return {std::string(first)};
  ids.resize(most);
  std::string cut = tokenizer.decode(ids);
  cut.resize(std::min(first_not_utf8(cut), cut.size()));
  if (!words && first[cut.size()] != ' ') cut.resize(std::min(cut.rfind(' '), cut.size()));
  return {cut, true};
}

}  // namespace fledge
