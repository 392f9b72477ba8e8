// birds as a command: its story on each kind of stream, its help, and what it refuses.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "examples/support/text.h"
#include "tests/examples/birds/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

using namespace testing;

namespace {

const std::vector<std::string> headings{
    "1. By hand: 'birds sometimes walk'", "2. Learning on those three vectors",
    "3. On a text: to predict the next word, the model must look at 'birds'",
    "4. The gradient check of exactly this model"};

const std::string birds_introduction =
    "Attention is the part of a language model that computes, for each word of a";

const Result& whole_story() {
  static const Result result = birds_says({});
  return result;
}

/// "birds: what came | what to do" of a wrong use.
std::string refused_birds(const std::vector<std::string>& arguments) {
  CAPTURE(arguments);
  const Result result = birds_says(arguments);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  return two_lines(result.err);
}

}  // namespace

TEST_CASE("birds: four parts in order, every claim in them, nothing on stderr, status 0") {
  if (sanitized) {
    testing::report_skipped(
        "a sanitizer sees these parts in birds --json, and their words in test_story.cpp");
    return;
  }
  const Result& result = whole_story();
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  std::vector<std::string> found;
  for (const std::string& line : lines_of(result.out))
    if (!line.empty() && std::isdigit(static_cast<unsigned char>(line[0])) != 0)
      found.push_back(line);
  CHECK(found == headings);
  CHECK_THAT(result.out, StartsWith(birds_introduction));
  for (const char* claim :
       {"v3 . v1     =  -0.09", "(0.18, 0.11, 0.01)", "0.043", "sums to 1.1", "0.0391", "0.075",
        "0.14 is the ceiling", "after: walk ", "after: slowly ", "after: flying ",
        "'walk' ignores 'birds'", "finite differences   every parameter: 3680",
        "dual numbers         every parameter: 3680"})
    CHECK_THAT(result.out, ContainsSubstring(claim));
  CHECK(result.out.find("FAIL") == std::string::npos);
}

TEST_CASE("birds: in a pipe and without UTF-8 there is nothing but ASCII text and line ends") {
  if (sanitized) {
    testing::report_skipped(
        "a sanitizer sees these parts in birds --json, and their words in test_story.cpp");
    return;
  }
  const std::string& out = whole_story().out;
  REQUIRE(out.size() > 3000);
  CHECK(out.find('\x1b') == std::string::npos);
  const auto text = [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); };
  CHECK(std::all_of(out.begin(), out.end(), text));
  for (const std::string& line : lines_of(out)) CHECK(line.size() <= 80);
}

TEST_CASE("birds: colours on a terminal over the same words, and shades where there is UTF-8") {
  if (sanitized) {
    testing::report_skipped("a sanitizer has seen birds");
    return;
  }
  const Result terminal = run_on_terminal(birds_with({}));
  CHECK(terminal.status == 0);
  CHECK_THAT(terminal.out, ContainsSubstring("\n\x1b[1m" + headings[0] + "\x1b[22m\n"));
  CHECK(without_colours(terminal.out) == whole_story().out);
  const Result shades = run_on_terminal(birds_with({}), {{"LC_ALL", "C.UTF-8"}});
  CHECK_THAT(shades.out, ContainsSubstring("█"));
  CHECK_THAT(shades.out, ContainsSubstring("\x1b["));
  for (const std::string& line : lines_of(shades.out)) CHECK(support::display_width(line) <= 80);
}

TEST_CASE("birds: NO_COLOR on a terminal gives the bytes of a pipe") {
  if (sanitized) {
    testing::report_skipped("a sanitizer has seen birds");
    return;
  }
  const Result result = run_on_terminal(birds_with({}), {{"NO_COLOR", "1"}});
  CHECK(result.status == 0);
  CHECK(result.out == whole_story().out);
}

TEST_CASE("birds: results that cannot be written are a failure, reported in two lines") {
  std::vector<std::string> lines{"\"$0\" --help >&-"};
  if (access("/dev/full", W_OK) == 0)  // Linux and NetBSD have it
    for (const char* arguments : {"--help", "--json", ""})
      if (!sanitized || std::string_view(arguments) == "--help")
        lines.push_back(std::string("\"$0\" ") + arguments + " >/dev/full");
  for (const std::string& line : lines) {
    CAPTURE(line);
    const Result lost = birds_in_shell(line);
    CHECK(lost.status == 1);
    CHECK_THAT(lost.err, StartsWith("birds: cannot write to standard output: "));
    CHECK(lines_of(lost.err).size() == 2);
  }
}

TEST_CASE("birds: each part is told when it is found, and a reader that has gone is told nothing") {
  const Result first = birds_in_shell("\"$0\" | head -n 1");
  CHECK(first.out == birds_introduction + "\n");
  CHECK(first.err.empty());
  if (sanitized) return;
  const Result ignored = birds_in_shell("trap '' PIPE; \"$0\" --json | true");
  CHECK(ignored.err.empty());
}

TEST_CASE("birds: help is asked for, goes to stdout and fits a terminal of 80 by 24") {
  for (const std::vector<std::string>& question :
       {std::vector<std::string>{"--help"}, {"-h"}, {"--seed", "x", "--help"}}) {
    CAPTURE(question);
    const Result result = birds_says(question);
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    const std::vector<std::string> lines = lines_of(result.out);
    CHECK(lines.size() <= 24);
    for (const std::string& line : lines) CHECK(support::display_width(line) <= 80);
    for (const char* part : {"usage: birds", "--json", "--seed N", "[1]", "exit status"})
      CHECK_THAT(result.out, ContainsSubstring(part));
  }
}

TEST_CASE("birds: wrong options are two lines on stderr, nothing on stdout, status 2") {
  CHECK(refused_birds({"--sede"}) ==
        "birds: unknown option '--sede' | did you mean '--seed'? all options: birds --help");
  CHECK(refused_birds({"--jsn"}) ==
        "birds: unknown option '--jsn' | did you mean '--json'? all options: birds --help");
  CHECK(refused_birds({"--colour"}) == "birds: unknown option '--colour' | see 'birds --help'");
  CHECK(refused_birds({"--seed"}) == "birds: --seed needs a value | write --seed N");
  CHECK(refused_birds({"--seed", "--json"}) == refused_birds({"--seed"}));
  CHECK(refused_birds({"--seed="}) == "birds: --seed has an empty value | write --seed N");
  for (const char* seed : {"-1", "18446744073709551616", "x", "1.5", "1e3", "0x10", " 1"})
    CHECK(refused_birds({"--seed", seed}) ==
          "birds: --seed must be a whole number from 0 to 18446744073709551615: got '" +
              std::string(seed) + "' | write --seed N; all options: birds --help");
  CHECK(refused_birds({"--seed", "1", "--seed", "1"}) ==
        "birds: --seed was given twice | give it once");
  CHECK(refused_birds({"--json=1"}) == "birds: --json takes no value | write --json alone");
  CHECK(refused_birds({"--json", "--json"}) == "birds: --json was given twice | give it once");
  CHECK_THAT(refused_birds({"walk"}), StartsWith("birds: unexpected argument 'walk' | "));
  CHECK_THAT(refused_birds({"--json", "walk\x1b[2J\n"}),
             StartsWith("birds: unexpected argument 'walk\\x1b[2J\\x0a' | "));
  CHECK_THAT(refused_birds({""}), StartsWith("birds: unexpected argument '' | "));
}
