#include "examples/support/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "nn/io/checksum.h"

namespace support {

namespace {

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

std::string Paint::ground(std::string_view text, double share) const {
  if (!(share >= 0.05)) return std::string(text);
  const char* colour = share < 0.25 ? "230" : share < 0.5 ? "222" : share < 0.75 ? "214" : "208";
  return painted(std::string("38;5;16;48;5;") + colour, text, "39;49");
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

}  // namespace support
