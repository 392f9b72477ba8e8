// Decimals, choices, letters and groups of options.
#include <cmath>
#include <sstream>

#include "examples/support/options.h"
#include "examples/support/text.h"
#include "tests/support/catch.h"

using namespace support;

namespace {

Options train() {
  Options options("train", "Trains.");
  options.group("Model").number("--lr", "X", 0.001, 0, 10, "the rate");
  options.choice("--tokens", {"char", "word", "byte"}, "what a token is");
  options.group("Output").text("--out", "DIR", "", "where it goes").letter('o');
  options.flag("--quiet", "says little").letter('q');
  options.exit_statuses("0 done, 4 diverged");
  return options;
}

Options parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "train");
  Options options = train();
  options.parse(static_cast<int>(arguments.size()), arguments.data());
  return options;
}

std::string refusal(const std::vector<const char*>& arguments) {
  try {
    parsed(arguments);
  } catch (const UsageError& error) {
    CHECK(error.status == Exit::usage);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("option values: decimals") {
  CHECK(parsed({}).number("--lr") == 0.001);
  CHECK(parsed({"--lr", "0.25"}).number("--lr") == 0.25);
  CHECK(parsed({"--lr=1e-3"}).number("--lr") == 1e-3);
  CHECK(parsed({"--lr", "10"}).number("--lr") == 10);
  CHECK(parsed({"--lr", "0"}).number("--lr") == 0);
  for (const char* wrong : {"nan", "abc", "0,1", "1x", "0x1p3", " 1", "1 ", "+1", "--", "-"})
    CHECK_THAT(refusal({"--lr", wrong}), StartsWith("train: --lr"));
  for (const char* wrong : {"nan", "0,1", "1x", " 1", "+1"})
    CHECK_THAT(refusal({"--lr", wrong}), ContainsSubstring(" is not a number\n"
                                                           "       use a number from 0 to 10"));
  for (const char* wrong : {"-0.1", "10.01", "inf", "-inf", "1e400", "1e-400"})
    CHECK_THAT(refusal({"--lr", wrong}), ContainsSubstring(" is out of range\n"));
}

TEST_CASE("option values: one of several words") {
  CHECK(parsed({}).text("--tokens") == "char");
  CHECK(parsed({"--tokens", "byte"}).text("--tokens") == "byte");
  CHECK(refusal({"--tokens", "wrod"}) ==
        "train: --tokens 'wrod' is none of char|word|byte\n       did you mean 'word'?");
  CHECK(refusal({"--tokens", "sentence"}) ==
        "train: --tokens 'sentence' is none of char|word|byte\n       use one of them");
  CHECK_THAT(refusal({"--tokens", ""}), StartsWith("train: --tokens has an empty value"));
}

TEST_CASE("option values: letters") {
  CHECK(parsed({"-o", "run"}).text("--out") == "run");
  CHECK(parsed({"-o", "-"}).text("--out") == "-");
  CHECK(parsed({"-q"}).has("--quiet"));
  CHECK(refusal({"-o", "a", "--out", "b"}) == "train: --out was given twice\n       give it once");
  CHECK_THAT(refusal({"-x"}), StartsWith("train: unknown option '-x'"));
  CHECK_THAT(refusal({"-o"}), StartsWith("train: --out needs a value"));
  CHECK_THAT(refusal({"-o", "-q"}), StartsWith("train: --out needs a value"));
  Options options = train();
  CHECK_THROWS_AS(options.letter('o'), std::logic_error);
  CHECK_THROWS_AS(Options("x", "X.").letter('o'), std::logic_error);
}

TEST_CASE("option values: contradictory declarations and questions") {
  CHECK_THROWS_AS(train().number("--x", "X", 2, 0, 1, ""), std::logic_error);
  CHECK_THROWS_AS(train().choice("--x", {}, ""), std::logic_error);
  CHECK_THROWS_AS(train().flag("--help-all", ""), std::logic_error);
  CHECK_THROWS_AS(train().number("--tokens"), std::logic_error);
  CHECK_THROWS_AS(train().text("--lr"), std::logic_error);
}

TEST_CASE("option values: a page of names by group, and all that they mean") {
  CHECK(train().help() ==
        "Trains.\n"
        "\n"
        "usage: train [options]\n"
        "\n"
        "  Model     --lr X [0.001]  --tokens char|word|byte [char]\n"
        "  Output    -o DIR  -q\n"
        "  Help      -h, --help, --help-all: what each means\n"
        "\n"
        "exit status: 0 done, 4 diverged\n");
  CHECK_THAT(train().help_all(),
             ContainsSubstring("  --lr X                   the rate [0.001]\n"));
  CHECK_THAT(train().help_all(), ContainsSubstring("  -o, --out DIR            where it goes\n"));
  CHECK_THROWS_AS(parsed({"--help-all"}), HelpRequest);
}

TEST_CASE("option values: a refusal has two lines whatever is in it") {
  const CommandError refusal(Exit::unusable_input, "fledge train", "cannot read 'a\nb'",
                             "look\x1b[2J");
  CHECK(refusal.status == Exit::unusable_input);
  CHECK(std::string(refusal.what()) ==
        "fledge train: cannot read 'a\\x0ab'\n              look\\x1b[2J");
}
