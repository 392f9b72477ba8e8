#include "examples/support/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "nn/io/utf8.h"

namespace support {

namespace {

struct Range {
  char32_t first, last;
};

template <std::size_t N>
bool within(char32_t c, const std::array<Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](Range range) { return range.first <= c && c <= range.last; });
}

// Unicode 15: categories Mn, Me and Cf of the scripts in common use, vowels of conjoining Hangul.
constexpr std::array<Range, 30> combining{
    {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05C1, 0x05C2}, {0x05C4, 0x05C5},
     {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06DC}, {0x06DF, 0x06E4},
     {0x06E7, 0x06E8}, {0x06EA, 0x06ED}, {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0941, 0x0948},
     {0x094D, 0x094D}, {0x0951, 0x0957}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
     {0x1160, 0x11FF}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x2028, 0x202E},
     {0x2060, 0x2064}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}}};

// UAX 11, classes W and F, and pictures shown two columns wide.
constexpr std::array<Range, 14> wide{{{0x1100, 0x115F},
                                      {0x2E80, 0x303E},
                                      {0x3041, 0x33FF},
                                      {0x3400, 0x4DBF},
                                      {0x4E00, 0xA4CF},
                                      {0xA960, 0xA97F},
                                      {0xAC00, 0xD7A3},
                                      {0xF900, 0xFAFF},
                                      {0xFE30, 0xFE6F},
                                      {0xFF01, 0xFF60},
                                      {0xFFE0, 0xFFE6},
                                      {0x1F300, 0x1F64F},
                                      {0x1F680, 0x1FAFF},
                                      {0x20000, 0x3FFFD}}};

int width_of(char32_t c) { return within(c, combining) ? 0 : within(c, wide) ? 2 : 1; }

/// The bytes of a colour ESC [ … m that starts at `at`, 0 when there is none.
std::size_t colour_at(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "\x1b[") return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", at + 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 - at : 0;
}

constexpr std::size_t longest_word = 100;     // bytes of a word that closest() compares
constexpr std::size_t most_work = 8'000'000;  // cells of tables and bytes of words: some 30 ms

/// The letters of a word as a set of 64, by the low bits of each byte.
std::uint64_t letters_of(std::string_view word) {
  std::uint64_t letters = 0;
  for (const char c : word) letters |= std::uint64_t{1} << (static_cast<unsigned char>(c) & 63);
  return letters;
}

/// Slips between two words: letters more, less or other, and neighbours exchanged (optimal string
/// alignment), one row of the table after another; most + 1 when there are more than `most`. A cell
/// more than `most` places off the diagonal has more slips than that and is not computed.
std::size_t slips(std::string_view a, std::string_view b, std::size_t most) {
  std::array<std::array<std::size_t, longest_word + 2>, 3> rows{};
  std::size_t *before = rows[0].data(), *above = rows[1].data(), *row = rows[2].data();
  const std::size_t too_many = most + 1;
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = std::min(j, too_many);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t first = i > most ? i - most : 1, last = std::min(b.size(), i + most);
    std::size_t least = row[first - 1] = first == 1 ? std::min(i, too_many) : too_many;
    for (std::size_t j = first; j <= last; ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + other, too_many});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    row[last + 1] = too_many;
    if (least > most) return too_many;
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

}  // namespace

std::string printable(std::string_view text) { return fledge::escaped_text(text); }

int display_width(std::string_view text) {
  int columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t colour = colour_at(text, at); colour > 0) {
      at += colour;
      continue;
    }
    const fledge::CodePoint point = fledge::code_point_at(text, at);
    columns += width_of(point.value);
    at += point.bytes;
  }
  return columns;
}

std::string cut(std::string_view text, int columns, std::string_view ellipsis) {
  constexpr int marks_a_column = 4;  // Thai and Hebrew stack up to three on a letter
  const int room = columns - display_width(ellipsis);
  std::size_t kept = 0, at = 0;
  for (int width = 0, points = 0; at < text.size(); ++points) {
    const fledge::CodePoint point = fledge::code_point_at(text, at);
    width += width_of(point.value);
    if (width > columns || points >= marks_a_column * columns) break;
    at += point.bytes;
    if (width <= room) kept = at;
  }
  if (at >= text.size()) return std::string(text);
  if (room < 0) return "";
  return std::string(text.substr(0, kept)).append(ellipsis);
}

std::string pad_left(std::string_view text, int columns) {
  return spaces(columns - display_width(text)).append(text);
}

std::string pad_right(std::string_view text, int columns) {
  return std::string(text) + spaces(columns - display_width(text));
}

std::string quoted(std::string_view text) { return "'" + cut(printable(text), 80, "...") + "'"; }

std::string message_text(std::string_view text) {
  constexpr std::size_t longest = 300, kept = 120;
  const std::string whole = printable(text);
  const auto inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(whole[at]) & 0xC0) == 0x80;  // of a character
  };
  std::string shown;
  for (std::size_t begin = 0; begin < whole.size();) {
    const std::size_t space = std::min(whole.find(' ', begin), whole.size());
    const std::size_t end = std::min(space + 1, whole.size());
    if (space - begin <= longest) {
      shown.append(whole, begin, end - begin);
    } else {
      std::size_t first = begin + kept, last = end - kept;
      while (inside(first)) --first;
      while (inside(last)) ++last;
      shown.append(whole, begin, first - begin).append("...").append(whole, last, end - last);
    }
    begin = end;
  }
  return shown;
}

std::string shell_word(std::string_view text) {
  std::string shown = printable(text);
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("_-./,:+@%=").find(c) != std::string_view::npos;
  };
  if (!shown.empty() && std::all_of(shown.begin(), shown.end(), plain)) return shown;
  std::string word = "'";
  for (const char c : shown) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string closest(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > longest_word) return "";
  const std::uint64_t letters = letters_of(word);
  const std::string* best = nullptr;
  std::size_t fewest = 0, work = 0;
  for (const std::string& candidate : known) {
    ++work;
    if (candidate.empty() || candidate.size() > longest_word) continue;
    std::size_t most =
        std::min(std::max<std::size_t>(1, candidate.size() / 3), candidate.size() - 1);
    if (best) most = std::min(most, fewest - 1);
    std::size_t count = most + 1;
    if (word.size() >= 2 && std::string_view(candidate).starts_with(word)) {
      count = 1;
    } else if (std::max(word.size(), candidate.size()) <=
               std::min(word.size(), candidate.size()) + most) {
      // A slip brings or takes one letter at most.
      const std::uint64_t others = letters_of(candidate);
      work += candidate.size();
      const auto apart =
          std::max(std::popcount(letters & ~others), std::popcount(others & ~letters));
      if (static_cast<std::size_t>(apart) <= most) {
        count = slips(word, candidate, most);
        work += 3 * candidate.size() + word.size() * (2 * most + 1);
      }
    }
    if (count <= most) best = &candidate, fewest = count;
    if (fewest == 0 && best) break;
    if (work > most_work) break;
  }
  return best ? *best : "";
}

}  // namespace support
