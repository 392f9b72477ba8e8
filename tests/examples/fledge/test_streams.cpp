// The output of fledge gradcheck to a pipe, a terminal, a full disk, and a closed stream.
#include <unistd.h>

#include "examples/support/terminal.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

const std::vector<std::string> one_op{"gradcheck", sanitized ? "neg" : "matmul"};
const std::vector<std::string> one_op_json{"gradcheck", "--json", one_op.back()};

// Under a sanitizer a few rows are enough here: other tests run all of them.
std::vector<std::string> with_enough_rows(std::vector<std::string> arguments) {
  if (sanitized) arguments.emplace_back("softmax");
  return arguments;
}

const std::string& whole_table_text() {
  static const std::string text = fledge_says(with_enough_rows({"gradcheck"})).out;
  return text;
}

const std::string& whole_json_text() {
  static const std::string text = fledge_says(with_enough_rows({"gradcheck", "--json"})).out;
  return text;
}

std::string all_replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

}  // namespace

TEST_CASE("fledge gradcheck: nothing but text and line ends goes into a pipe or file") {
  for (const std::string& out : {whole_table_text(), whole_json_text()}) {
    REQUIRE(out.size() > (sanitized ? 300 : 7000));
    CHECK(out.back() == '\n');
    std::size_t others = 0;
    for (const char c : out) others += !(c == '\n' || (c >= ' ' && c <= '~'));
    CHECK(others == 0);
    CHECK(count(out, " \n") == 0);
    CHECK(count(out, "\n\n") == 0);
  }
}

TEST_CASE("fledge gradcheck: the same bytes from run to run") {
  CHECK(without_seconds(fledge_says(one_op).out) == without_seconds(fledge_says(one_op).out));
  if (sanitized) return;
  CHECK(without_seconds(fledge_says({"gradcheck"}).out) == without_seconds(whole_table_text()));
  CHECK(fledge_says({"gradcheck", "--json"}).out == whole_json_text());
}

TEST_CASE(
    "fledge gradcheck: the same bytes in every language, save the rule where there is UTF-8") {
  const std::string plain = without_seconds(fledge_says(one_op).out);
  const std::string plain_json = fledge_says(one_op_json).out;
  REQUIRE(count(plain, "\n---") == 1);
  for (const char* language :
       {"C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "ar_EG.UTF-8", "fr_FR"})
    for (const char* variable : {"LC_ALL", "LANG", "LC_NUMERIC"}) {
      if (sanitized && *language != 'd') continue;
      CAPTURE(language, variable);
      const Environment extra{{variable, language}};
      CHECK(fledge_says(one_op_json, extra).out == plain_json);
      CHECK(all_replaced(without_seconds(fledge_says(one_op, extra).out), "─", "-") == plain);
    }
  CHECK(count(fledge_says(one_op, {{"LC_ALL", "C.UTF-8"}}).out, "\n───") == 1);
}

TEST_CASE("fledge gradcheck: colours on a terminal, and the same words under them") {
  const std::string good = support::Paint{true}.bold(support::Paint{true}.good("ok"));
  const std::string plain = without_seconds(fledge_says(one_op).out);
  const std::size_t rows = lines_of(plain).size() - 4;

  const Result terminal = run_on_terminal(with_program(one_op));
  CHECK(terminal.status == 0);
  CHECK(count(terminal.out, good) == rows);
  CHECK(without_seconds(without_colours(terminal.out)) == plain);
  const Result forced = fledge_says(one_op, {{"FORCE_COLOR", "1"}});
  CHECK(count(forced.out, good) == rows);
  CHECK(without_seconds(without_colours(forced.out)) == plain);
}

TEST_CASE("fledge gradcheck: NO_COLOR, a plain terminal and --json have no colours") {
  const std::string plain = without_seconds(fledge_says(one_op).out);
  const Result asked = run_on_terminal(with_program(one_op), {{"NO_COLOR", "1"}});
  CHECK(asked.status == 0);
  CHECK(without_seconds(asked.out) == plain);
  CHECK(without_seconds(run_on_terminal(with_program(one_op), {{"TERM", "dumb"}}).out) == plain);
  const Environment both{{"NO_COLOR", "1"}, {"FORCE_COLOR", "1"}};
  CHECK(without_seconds(fledge_says(one_op, both).out) == plain);

  const std::string plain_json = fledge_says(one_op_json).out;
  CHECK(run_on_terminal(with_program(one_op_json)).out == plain_json);
  CHECK(fledge_says(one_op_json, {{"FORCE_COLOR", "1"}}).out == plain_json);
}

TEST_CASE("fledge: help and refusals have no colours either") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"gradcheck", "--help"}, {"gradcheck", "--jsn"}}) {
    const Result terminal = run_on_terminal(with_program(arguments));
    CHECK_FALSE(terminal.out.empty());
    CHECK(count(terminal.out, "\x1b") == 0);
  }
}

TEST_CASE("fledge: on a terminal messages are wrapped between words") {
  const std::vector<std::string> wrong{"gradcheck", "softmax", "layernorm"};
  const std::string whole = fledge_says(wrong).err;
  CHECK(lines_of(whole).size() == 2);
  for (const int columns : {50, 80}) {
    const std::string shown = run_on_terminal(with_program(wrong), {}, columns).out;
    const std::vector<std::string> lines = lines_of(shown);
    CHECK(lines.size() > 2);
    for (const std::string& line : lines) CHECK(line.size() <= static_cast<std::size_t>(columns));
    const std::string indent(std::string("fledge gradcheck: ").size(), ' ');
    for (std::size_t i = 1; i < lines.size(); ++i) CHECK(lines[i].starts_with(indent));
    CHECK(all_replaced(all_replaced(shown, "\n" + indent, " "), "\n", "") ==
          all_replaced(all_replaced(whole, "\n" + indent, " "), "\n", ""));
  }
}

TEST_CASE("fledge: results that cannot be written are a failure") {
  std::vector<std::string> lines{"--help", "gradcheck --help", "gradcheck add",
                                 "gradcheck add --json"};
  const auto message = [](const std::string& line) {
    const bool is_gradcheck = line.starts_with("gradcheck");
    return std::string(is_gradcheck ? "fledge gradcheck" : "fledge") +
           ": cannot write to standard output: ";
  };
  for (const std::string& line : lines) {
    CAPTURE(line);
    const Result closed = in_shell("\"$0\" " + line + " >&-");
    CHECK(closed.status == 1);
    CHECK_THAT(closed.err, StartsWith(message(line)));
    CHECK(lines_of(closed.err).size() == 2);
  }
  CHECK(in_shell("\"$0\" gradcheck --jsn >&-").status == 2);
  if (access("/dev/full", W_OK) != 0) return;              // Linux and NetBSD have it
  if (!sanitized) lines.emplace_back("gradcheck --json");  // more than a buffer holds
  for (const std::string& line : lines) {
    CAPTURE(line);
    const Result full = in_shell("\"$0\" " + line + " >/dev/full");
    CHECK(full.status == 1);
    CHECK_THAT(full.err, StartsWith(message(line)));
    CHECK_THAT(full.err, EndsWith("make room on the disk; then try again\n"));
    CHECK(lines_of(full.err).size() == 2);
  }
}

TEST_CASE("fledge gradcheck: a reader that has gone is told nothing") {
  for (const std::string signal : {"", "trap '' PIPE; "}) {
    const Result gone = in_shell(signal + "\"$0\" gradcheck --json " +
                                 (sanitized ? "neg" : "LanguageModel") + " | true");
    CHECK(gone.status == 0);
    CHECK(gone.err.empty());
  }
}
