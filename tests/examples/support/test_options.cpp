#include "examples/support/options.h"

#include <limits>

#include "tests/support/catch.h"

using namespace support;

namespace {

Options birds() {
  Options options("birds", "Q, K and V learn to raise the association of walk with birds.");
  options.integer("--steps", "N", 200, 1, 5000, "training steps")
      .integer("--shift", "N", 0, -10, 10, "any number near zero")
      .seed(1, "seed of all random numbers")
      .text("--only", "NAME", "", "one part alone")
      .text("--out", "FILE", "-", "where to write")
      .flag("--json", "results as JSON");
  return options;
}

Options parsed(std::vector<const char*> arguments, Options options = birds()) {
  arguments.insert(arguments.begin(), "program");
  options.parse(static_cast<int>(arguments.size()), arguments.data());
  return options;
}

/// The message of the UsageError that these arguments are answered with.
std::string refusal(const std::vector<const char*>& arguments, const Options& options = birds()) {
  try {
    parsed(arguments, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

std::size_t lines_of(const std::string& message) {
  std::size_t count = 1;
  for (const char c : message) count += c == '\n';
  return count;
}

}  // namespace

TEST_CASE("options: defaults stand when nothing is given") {
  const Options options = parsed({});
  CHECK(options.integer("--steps") == 200);
  CHECK(options.seed() == 1);
  CHECK(options.text("--only").empty());
  CHECK(options.text("--out") == "-");
  CHECK_FALSE(options.has("--json"));
  CHECK_FALSE(options.has("--steps"));
  Options nothing = birds();
  nothing.parse(0, nullptr);
  CHECK(nothing.integer("--steps") == 200);
}

TEST_CASE("options: both forms, any order") {
  const Options options = parsed({"--json", "--steps=5000", "--shift", "-10", "--only", "a=b",
                                  "--seed", "18446744073709551615"});
  CHECK(options.has("--json"));
  CHECK(options.has("--steps"));
  CHECK(options.integer("--steps") == 5000);
  CHECK(options.integer("--shift") == -10);
  CHECK(options.text("--only") == "a=b");
  CHECK(options.seed() == std::numeric_limits<std::uint64_t>::max());
  CHECK(parsed({"--only=--json"}).text("--only") == "--json");
  CHECK(parsed({"--only=a=b"}).text("--only") == "a=b");
  CHECK(parsed({"--only", "-"}).text("--only") == "-");
  CHECK(parsed({"--steps", "007"}).integer("--steps") == 7);
}

TEST_CASE("options: unknown ones get a suggestion where one is near") {
  CHECK(refusal({"--sede", "5"}) ==
        "birds: unknown option '--sede'\n"
        "       did you mean '--seed'? all options: birds --help");
  CHECK_THAT(refusal({"--sede=5"}), ContainsSubstring("'--sede'\n"));
  CHECK_THAT(refusal({"-json"}), ContainsSubstring("did you mean '--json'?"));
  CHECK_THAT(refusal({"--hepl"}), ContainsSubstring("did you mean '--help'?"));
  CHECK_THAT(refusal({"--ste=1"}), ContainsSubstring("did you mean '--steps'?"));
  CHECK(refusal({"--verbose"}) == "birds: unknown option '--verbose'\n       see 'birds --help'");
  CHECK(refusal({"-x"}) == "birds: unknown option '-x'\n       see 'birds --help'");
  CHECK_THAT(refusal({"-5"}), StartsWith("birds: unknown option '-5'\n"));
  CHECK_THAT(refusal({"---"}), StartsWith("birds: unknown option '---'\n"));
}

TEST_CASE("options: wrong numbers are refused with what is allowed") {
  for (const char* text : {"x", "5x", "x5", " 5", "5 ", "0x5", "+5", "1e3", "5.0", "5,0", "--5",
                           "-", "\xEF\xBC\x95", "5\n", "٥"}) {
    const std::string given = std::string("--steps=") + text;
    CHECK_THAT(refusal({given.c_str()}), ContainsSubstring("is not a whole number\n"));
    const std::string seed = std::string("--seed=") + text;
    CHECK_THAT(refusal({seed.c_str()}), ContainsSubstring("is not a whole number\n"));
  }
  CHECK(refusal({"--steps", "5001"}) ==
        "birds: --steps '5001' is out of range\n       use a number from 1 to 5000");
  for (const char* text : {"0", "-1", "5001", "9223372036854775808", "-99999999999999999999"}) {
    const std::string given = std::string("--steps=") + text;
    CHECK_THAT(refusal({given.c_str()}), ContainsSubstring("is out of range\n"));
  }
  for (const char* text : {"-1", "18446744073709551616", "-99999999999999999999"}) {
    const std::string given = std::string("--seed=") + text;
    CHECK_THAT(refusal({given.c_str()}),
               EndsWith("out of range\n       use a number from 0 to 18446744073709551615"));
  }
}

TEST_CASE("options: missing, empty, doubled and superfluous values") {
  CHECK(refusal({"--steps"}) == "birds: --steps needs a value\n       write --steps N");
  CHECK(refusal({"--only", "--json"}) == "birds: --only needs a value\n       write --only NAME");
  CHECK_THAT(refusal({"--only", "--"}), StartsWith("birds: --only needs a value\n"));
  CHECK_THAT(refusal({"--only", "--", "--help"}), StartsWith("birds: --only needs a value\n"));
  CHECK_THAT(refusal({"--only="}), StartsWith("birds: --only has an empty value\n"));
  CHECK_THAT(refusal({"--only", ""}), StartsWith("birds: --only has an empty value\n"));
  CHECK_THAT(refusal({"--seed="}), StartsWith("birds: --seed has an empty value\n"));
  CHECK_THAT(refusal({"--seed", "1", "--seed", "1"}),
             StartsWith("birds: --seed was given twice\n"));
  CHECK_THAT(refusal({"--seed=1", "--seed"}), StartsWith("birds: --seed was given twice\n"));
  CHECK_THAT(refusal({"--json", "--json"}), StartsWith("birds: --json was given twice\n"));
  CHECK_THAT(refusal({"--json=yes"}), StartsWith("birds: --json takes no value\n"));
  CHECK_THAT(refusal({"--json="}), StartsWith("birds: --json takes no value\n"));
}

TEST_CASE("options: arguments only where they are declared, '--' ends the options") {
  CHECK(refusal({"walk"}) == "birds: unexpected argument 'walk'\n       see 'birds --help'");
  CHECK_THAT(refusal({"seed", "5"}), ContainsSubstring("did you mean '--seed'?"));
  CHECK_THAT(refusal({""}), Equals("birds: unexpected argument ''\n       see 'birds --help'"));
  CHECK_THAT(refusal({"--", "--json"}), StartsWith("birds: unexpected argument '--json'\n"));
  CHECK(refusal({"--json", "--"}) == "accepted");

  Options read("fledge inspect", "Shows what a file holds.");
  read.flag("--json", "as JSON").arguments("FILE", 1, 3);
  CHECK(refusal({}, read) ==
        "fledge inspect: FILE is missing\n                see 'fledge inspect --help'");
  CHECK(refusal({"a", "b", "c", "d"}, read).find("unexpected argument 'd'") != std::string::npos);
  using Words = std::vector<std::string>;
  CHECK(parsed({"-", "--json", "b"}, read).arguments() == Words{"-", "b"});
  CHECK(parsed({"--", "--json", "--", "-h"}, read).arguments() == Words{"--json", "--", "-h"});
}

TEST_CASE("options: help wins anywhere before '--'") {
  CHECK_THROWS_AS(parsed({"-h"}), HelpRequest);
  CHECK_THROWS_AS(parsed({"--nonsense", "--steps", "x", "--help"}), HelpRequest);
  CHECK_THROWS_AS(parsed({"--only", "--help"}), HelpRequest);
  CHECK_THROWS_AS(parsed({"--", "--help"}), UsageError);
  CHECK(parsed({"--only=--help"}).text("--only") == "--help");
  CHECK_THROWS_WITH(parsed({"--help"}), Equals(birds().help()));
}

TEST_CASE("options: whatever is typed, the message has two harmless lines") {
  const std::string bell = "\x1b]0;title\x07\n\r\t\x7f\xC2\x9B\xFF\xE2\x80\xAE";
  const std::string tower = "a" + std::string(3000, '\xCC');
  const std::string huge(1000000, '9');
  for (const std::string& hostile :
       {bell, tower, huge, std::string("%s%n"), std::string("\n\n\n")}) {
    for (const std::string& argument :
         {hostile, "--" + hostile, "--steps=" + hostile, "--json=" + hostile, "-" + hostile}) {
      const std::string message = refusal({argument.c_str()});
      CHECK(lines_of(message) == 2);
      CHECK(message.size() < 400);
      CHECK(message.find_first_of("\x1b\x07\r\x7f\xFF") == std::string::npos);
    }
  }
  CHECK_THAT(refusal({"--steps", "\x1b[31m5"}), ContainsSubstring(R"('\x1b[31m5')"));
  CHECK(lines_of(UsageError("birds", "a\nb", "c\nd").what()) == 2);
}

TEST_CASE("options: contradicting declarations and questions are refused") {
  using Error = std::logic_error;
  CHECK_THROWS_AS(birds().flag("--json", "again"), Error);
  CHECK_THROWS_AS(birds().flag("--help", "own"), Error);
  CHECK_THROWS_AS(birds().flag("json", "no dashes"), Error);
  CHECK_THROWS_AS(birds().flag("--", "no name"), Error);
  CHECK_THROWS_AS(birds().integer("--more", "N", 5, 6, 7, "default below"), Error);
  CHECK_THROWS_AS(birds().arguments("FILE", 2, 1), Error);
  const Options options = parsed({});
  CHECK_THROWS_AS(options.has("--sede"), Error);
  CHECK_THROWS_AS(options.integer("--only"), Error);
  CHECK_THROWS_AS(options.text("--steps"), Error);
  CHECK_THROWS_AS(Options("x", "y").seed(), Error);
  CHECK_THROWS_AS(options.refuse("no op 'sofmax'", "did you mean 'softmax'?"), UsageError);
}
