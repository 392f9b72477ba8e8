// How many columns a stream has, and what is painted. Who gets colours and Unicode:
// fledge/test_terminals.cpp.
#include "examples/support/text.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cstdlib>
#include <map>

#include "tests/support/catch.h"
#include "tests/support/process.h"

using namespace support;

namespace {

using Variables = std::map<std::string, std::string>;

/// What f says, in a process that has of these variables only those given, about a terminal of so many
/// columns and about a file.
std::string said_with(const Variables& variables, unsigned short columns,
                      const std::function<std::string(std::FILE* terminal, std::FILE* file)>& f) {
  return testing::run_here([&] {
           for (const char* name :
                {"NO_COLOR", "FORCE_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG", "COLUMNS"})
             unsetenv(name);
           for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
           const int other_end = posix_openpt(O_RDWR | O_NOCTTY);
           if (other_end < 0 || grantpt(other_end) != 0 || unlockpt(other_end) != 0) return 1;
           std::FILE* terminal = fdopen(open(ptsname(other_end), O_RDWR | O_NOCTTY), "w");
           winsize size{};
           size.ws_col = columns;
           if (terminal == nullptr || ioctl(fileno(terminal), TIOCSWINSZ, &size) != 0) return 1;
           std::fputs(f(terminal, std::tmpfile()).c_str(), stdout);
           return 0;
         })
      .out;
}

}  // namespace

TEST_CASE("terminal_width: the terminal, COLUMNS, 80; within 20 and 200; of sentences 40 to 80") {
  const auto widths = [](unsigned short columns, const Variables& variables) {
    return said_with(variables, columns, [](std::FILE* terminal, std::FILE* file) {
      return formatted("%d %d %d", terminal_width(terminal), text_width(terminal),
                       terminal_width(file));
    });
  };
  CHECK(widths(93, {}) == "93 80 80");
  CHECK(widths(47, {}) == "47 47 80");
  CHECK(widths(5, {}) == "20 40 80");
  CHECK(widths(3000, {{"COLUMNS", "100"}}) == "200 80 100");
  CHECK(widths(0, {{"COLUMNS", "100"}}) == "100 80 100");
  for (const char* none : {"", "x", "100x", " 100", "-100", "0", "99999999999999999999", "0x40"})
    CHECK(widths(0, {{"COLUMNS", none}}) == "80 80 80");
}

TEST_CASE("Paint: colours when on, the text itself when off") {
  const Paint on{true}, off;
  CHECK(off.bold("x") + off.good("y") == "xy");
  CHECK(on.bold("").empty());
  CHECK(on.bold(on.bad("x") + "y") == "\x1b[1m\x1b[38;5;166mx\x1b[39my\x1b[22m");
  for (const std::string& text :
       {on.bold("ä鳥"), on.dim("ä鳥"), on.good("ä鳥"), on.bad("ä鳥"), on.accent("ä鳥")})
    CHECK(display_width(text) == 3);
  CHECK(on.good("x") != on.bad("x"));
}
