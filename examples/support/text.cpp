#include "examples/support/text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "nn/io/checksum.h"

namespace support {

namespace {

struct Range {
  char32_t first, last;
};

// Unicode 15: categories Mn, Me and Cf of the scripts in common use, vowels of conjoining Hangul.
constexpr Range combining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05C7}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0670, 0x0670}, {0x06D6, 0x06ED}, {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0941, 0x0948},
    {0x094D, 0x094D}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1160, 0x11FF},
    {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};

// UAX 11, classes W and F, and pictures shown two columns wide.
constexpr Range wide[] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},  {0xA960, 0xA97F},
                          {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
                          {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                          {0x1F680, 0x1FAFF}, {0x20000, 0x3FFFD}};

int width_of(char32_t c) {
  const auto holds = [c](const Range& range) { return range.first <= c && c <= range.last; };
  if (std::any_of(std::begin(combining), std::end(combining), holds)) return 0;
  return std::any_of(std::begin(wide), std::end(wide), holds) ? 2 : 1;
}

/// The bytes of a colour ESC [ … m that starts at `at`, 0 when there is none.
std::size_t colour_at(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "\x1b[") return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", at + 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 - at : 0;
}

constexpr std::size_t longest_word = 100;     // bytes of a word that closest() compares
constexpr std::size_t most_work = 8'000'000;  // cells of its tables: some 50 ms

/// Letters more, less or other, and neighbours exchanged (optimal string alignment). table[i][j] is
/// the distance of the first i letters of a from the first j of b.
int edit_distance(std::string_view a, std::string_view b) {
  int table[longest_word + 1][longest_word + 1];
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = static_cast<int>(i + j);
        continue;
      }
      const int other = a[i - 1] == b[j - 1] ? 0 : 1;
      table[i][j] =
          std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  return table[a.size()][b.size()];
}

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

constexpr int widest = 200;

/// An environment variable, "" when it is not there.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// A side of the stream's terminal, else the environment variable, else the fallback.
int asked_size(std::FILE* stream, unsigned short winsize::*side, const char* name, int fallback) {
  winsize size{};
  if (is_terminal(stream) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.*side > 0)
    return size.*side;
  const std::uint64_t asked = fledge::unsigned_number(variable(name), 10).value_or(0);
  return asked == 0 ? fallback : static_cast<int>(std::min<std::uint64_t>(asked, 1000));
}

}  // namespace

std::string thousands(std::int64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string counted(std::int64_t number, std::string_view noun) {
  return thousands(number).append(" ").append(noun).append(number == 1 ? "" : "s");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string percent(double share) {
  if (share > 0 && share < 0.5e-4) return "<0.01 %";
  return formatted(share == 0 ? "%.0f %%" : share < 0.00995 ? "%.2f %%" : "%.1f %%", 100 * share);
}

int display_width(std::string_view text) {
  int columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t colour = colour_at(text, at);
    const fledge::CodePoint point = fledge::code_point_at(text, at);
    if (colour == 0) columns += width_of(point.value);
    at += colour > 0 ? colour : point.bytes;
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

std::string wrapped(std::string_view text, int columns, int indent) {
  std::string lines;
  int column = 0, blanks = 0;
  bool has_word = false;  // on this line
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      lines += '\n';
      column = blanks = 0;
      has_word = false;
      ++at;
    } else if (text[at] == ' ') {
      ++blanks;
      ++at;
    } else {
      std::size_t end = std::min(text.find_first_of(" \n|", at), text.size());
      if (end < text.size() && text[end] == '|') ++end;
      const int width = display_width(text.substr(at, end - at));
      if (has_word && column + blanks + width > columns) {
        lines += '\n' + spaces(indent);
        column = indent;
      } else {
        lines += spaces(blanks);
        column += blanks;
      }
      lines += text.substr(at, end - at);
      column += width;
      blanks = 0;
      has_word = true;
      at = end;
    }
  }
  return lines;
}

std::string printable_line(std::string_view line, std::size_t column) {
  std::string shown;
  for (std::size_t begin = 0, end = 0; end < line.size(); begin = end + 1) {
    end = std::min(line.find('\t', begin), line.size());
    const std::string part = printable(line.substr(begin, end - begin));
    column += static_cast<std::size_t>(display_width(part));
    shown += part;
    if (end == line.size()) break;
    shown.append(8 - column % 8, ' ');
    column += 8 - column % 8;
  }
  return shown;
}

std::string markup_escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text))
    result += c == '&'   ? "&amp;"
              : c == '<' ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-./,:+@%=";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return std::string(text);
  if (printable(text) != text) {  // only $'...' has escapes
    std::string word;
    for (const char c : text)
      word += c == '\\' || c == '\'' ? std::string{'\\', c} : std::string{c};
    return "$'" + printable(word) + "'";
  }
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string closest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t work = 0;
  int fewest = longest_word;
  if (word.size() > longest_word) return best;
  for (const std::string& one : known) {
    if (one.empty() || one.size() > longest_word) continue;
    const int size = static_cast<int>(one.size());
    const int most = std::min(std::max(1, size / 3), size - 1);
    const bool is_beginning = word.size() >= 2 && one.starts_with(word);
    if (!is_beginning && std::abs(size - static_cast<int>(word.size())) > most) continue;
    work += word.size() * one.size();
    if (work > most_work) break;
    const int errors = is_beginning ? 1 : edit_distance(word, one);
    if (errors <= most && errors < fewest) best = one, fewest = errors;
  }
  return best;
}

bool is_terminal(std::FILE* stream) {
  const int descriptor = stream ? fileno(stream) : -1;
  return descriptor >= 0 && isatty(descriptor) == 1;
}

bool obeys_escapes(std::FILE* stream) {
  const std::string_view kind = variable("TERM");
  return is_terminal(stream) && !kind.empty() && kind != "dumb";
}

bool colour_wanted(std::FILE* stream) {
  if (!variable("NO_COLOR").empty()) return false;
  if (!variable("FORCE_COLOR").empty()) return true;
  return obeys_escapes(stream);
}

bool unicode_wanted() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = variable(name);
    if (locale.empty()) continue;
    for (const char* utf8 : {"UTF-8", "utf-8", "UTF8", "utf8"})
      if (locale.find(utf8) != std::string_view::npos) return true;
    return false;
  }
  return false;
}

int terminal_width(std::FILE* stream) {
  return std::clamp(asked_size(stream, &winsize::ws_col, "COLUMNS", 80), 20, widest);
}

void say(std::FILE* stream, std::string_view text, int indent) {
  std::fprintf(stream, "%s\n", wrapped(text, text_width(stream), indent).c_str());
}

std::string paragraph(const std::string& text, const std::string& lead) {
  return wrapped(lead + text, text_width(stdout), display_width(lead)) + "\n";
}

int terminal_height(std::FILE* stream) {
  return std::clamp(asked_size(stream, &winsize::ws_row, "LINES", 24), 2, 500);
}

std::string Paint::painted(std::string_view begin, std::string_view text,
                           std::string_view end) const {
  if (!on || text.empty()) return std::string(text);
  std::string result = "\x1b[";
  result.append(begin).append("m").append(text).append("\x1b[").append(end).append("m");
  return result;
}

std::string token_label(std::string_view token, bool unicode) {
  if (token.empty()) return "''";
  std::string label;
  for (std::size_t at = 0; at < token.size();) {
    const char c = token[at];
    if (c == '\n' || c == ' ' || c == '\t') {
      label += c == '\n'  ? (unicode ? "⏎" : "\\n")
               : c == ' ' ? (unicode ? "␣" : "_")
                          : (unicode ? "⇥" : "\\t");
      ++at;
      continue;
    }
    const std::size_t end = std::min(token.find_first_of("\n \t", at), token.size());
    label += printable(token.substr(at, end - at));
    at = end;
  }
  return label;
}

std::string short_label(std::string_view token, int columns) {
  const bool unicode = unicode_wanted();
  return cut(token_label(token, unicode), columns, unicode ? "…" : ".");
}

}  // namespace support
