#include "examples/support/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace support {

namespace {

/// An environment variable, "" when it is not there.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

int asked_columns(std::FILE* stream) {
  winsize size{};
  if (is_terminal(stream) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  const std::string_view columns = variable("COLUMNS");
  const char* const end = columns.data() + columns.size();
  int count = 0;
  const auto [stopped, error] = std::from_chars(columns.data(), end, count);
  return error == std::errc() && stopped == end && count > 0 ? count : 80;
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
    const std::string locale = lower_case(variable(name));
    if (locale.empty()) continue;
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

int terminal_width(std::FILE* stream) { return std::clamp(asked_columns(stream), 20, 200); }

std::string Paint::painted(std::string_view begin, std::string_view text,
                           std::string_view end) const {
  if (!on || text.empty()) return std::string(text);
  std::string result = "\x1b[";
  result.append(begin).append("m").append(text).append("\x1b[").append(end).append("m");
  return result;
}

}  // namespace support
