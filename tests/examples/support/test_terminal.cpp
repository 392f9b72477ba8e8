// What a stream is, and what it gets: colours, Unicode, so many columns; how tokens are shown.
#include "examples/support/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "tests/support/catch.h"

using namespace support;

namespace {

/// Sets environment variables (or removes them), and puts back what was there.
class Variables {
 public:
  explicit Variables(const std::map<std::string, std::optional<std::string>>& values) {
    for (const auto& [name, value] : values) {
      const char* old = std::getenv(name.c_str());
      before_[name] = old ? std::optional<std::string>(old) : std::nullopt;
      put(name, value);
    }
  }
  ~Variables() {
    for (const auto& [name, value] : before_) put(name, value);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  static void put(const std::string& name, const std::optional<std::string>& value) {
    if (value)
      setenv(name.c_str(), value->c_str(), 1);
    else
      unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> before_;
};

/// A pseudo terminal, seen from the program's side.
class Terminal {
 public:
  Terminal() : other_end_(posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(other_end_ >= 0);
    REQUIRE(grantpt(other_end_) == 0);
    REQUIRE(unlockpt(other_end_) == 0);
    stream = fdopen(open(ptsname(other_end_), O_RDWR | O_NOCTTY), "w");
    REQUIRE(stream != nullptr);
  }
  ~Terminal() {
    std::fclose(stream);
    close(other_end_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void resize(unsigned short columns) const {
    winsize size{};
    size.ws_col = columns;
    REQUIRE(ioctl(fileno(stream), TIOCSWINSZ, &size) == 0);
  }

  std::FILE* stream = nullptr;

 private:
  int other_end_;
};

}  // namespace

TEST_CASE("colour_wanted: the user's wish, then the stream") {
  const Terminal terminal;
  std::FILE* file = std::tmpfile();
  struct Wish {
    std::optional<std::string> no, force, term;
    bool on_terminal, in_file;
  };
  CHECK(is_terminal(terminal.stream));
  CHECK_FALSE(is_terminal(file));
  CHECK_FALSE(is_terminal(nullptr));
  const std::string kind = "xterm-256color";
  for (const auto& [no, force, term, on_terminal, in_file] :
       std::vector<Wish>{{{}, {}, kind, true, false},
                         {"1", {}, kind, false, false},
                         {"", "", kind, true, false},
                         {{}, "1", kind, true, true},
                         {"0", "1", kind, false, false},
                         {{}, {}, "dumb", false, false},
                         {{}, {}, "", false, false},
                         {{}, {}, {}, false, false}}) {
    const Variables set{{{"NO_COLOR", no}, {"FORCE_COLOR", force}, {"TERM", term}}};
    CHECK(colour_wanted(terminal.stream) == on_terminal);
    CHECK(colour_wanted(file) == in_file);
  }
  std::fclose(file);
}

TEST_CASE("unicode_wanted: the first locale variable that says anything decides") {
  using Value = std::optional<std::string>;
  struct Language {
    Value all, type, language;
    bool wanted;
  };
  for (const auto& [all, type, language, wanted] :
       std::vector<Language>{{{}, {}, {}, false},
                             {{}, {}, "de_DE.UTF-8", true},
                             {{}, "C", "de_DE.UTF-8", false},
                             {"C.utf8", "C", "de_DE.UTF-8", true},
                             {"", "", "de_DE.UTF-8", true},
                             {{}, {}, "de_DE.ISO-8859-1", false}}) {
    const Variables set{{{"LC_ALL", all}, {"LC_CTYPE", type}, {"LANG", language}}};
    CHECK(unicode_wanted() == wanted);
  }
}

TEST_CASE("terminal_width: the terminal, COLUMNS, 80; within 20 and 200") {
  const Terminal terminal;
  std::FILE* file = std::tmpfile();
  const Variables none{{{"COLUMNS", {}}}};
  terminal.resize(93);
  CHECK(terminal_width(terminal.stream) == 93);
  CHECK(text_width(terminal.stream) == 80);  // of sentences
  terminal.resize(47);
  CHECK(text_width(terminal.stream) == 47);
  terminal.resize(5);
  CHECK(terminal_width(terminal.stream) == 20);
  CHECK(text_width(terminal.stream) == 40);
  terminal.resize(3000);
  CHECK(terminal_width(terminal.stream) == 200);
  CHECK(terminal_width(file) == 80);
  const Variables columns{{{"COLUMNS", "100"}}};
  CHECK(terminal_width(terminal.stream) == 200);
  terminal.resize(0);
  CHECK(terminal_width(terminal.stream) == 100);
  CHECK(terminal_width(file) == 100);
  for (const char* nonsense :
       {"", "x", "100x", " 100", "-100", "0", "99999999999999999999", "0x40"}) {
    const Variables wrong{{{"COLUMNS", nonsense}}};
    CHECK(terminal_width(file) == 80);
  }
  std::fclose(file);
}

TEST_CASE("Paint: colours and grounds when on, the text itself when off") {
  const Paint on{true}, off;
  CHECK(off.bold("x") + off.good("y") + off.ground("z", 1) == "xyz");
  CHECK(on.bold("").empty());
  CHECK(on.bold(on.bad("x") + "y") == "\x1b[1m\x1b[38;5;166mx\x1b[39my\x1b[22m");
  for (const std::string& text :
       {on.bold("ä鳥"), on.dim("ä鳥"), on.good("ä鳥"), on.bad("ä鳥"), on.accent("ä鳥")})
    CHECK(display_width(text) == 3);
  CHECK(on.good("x") != on.bad("x"));
  for (const auto& [share, colour] : {std::pair{0.05, "230"},
                                      {0.25, "222"},
                                      {0.5, "214"},
                                      {0.74, "214"},
                                      {0.75, "208"},
                                      {1., "208"}})
    CHECK(on.ground("walk", share) ==
          "\x1b[38;5;16;48;5;" + std::string(colour) + "mwalk\x1b[39;49m");
  CHECK(on.ground("walk", 0.04) == "walk");
  CHECK(on.ground("walk", NAN) == "walk");
}

TEST_CASE("token_label: line breaks, blanks and tabs are visible; the rest is harmless") {
  CHECK(token_label(" the\n\t", true) == "␣the⏎⇥");
  CHECK(token_label(" the\n\t", false) == "_the\\n\\t");
  CHECK(token_label("\x1b[2J x鳥\xff", true) == "\\x1b[2J␣x鳥\\xff");
  CHECK(token_label("", true) == "''");
}
