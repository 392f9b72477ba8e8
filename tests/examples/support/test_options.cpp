#include "examples/support/options.h"
#include "examples/support/text.h"

#include <algorithm>

#include "engine/base/processors.h"
#include "engine/base/thread_pool.h"
#include "tests/examples/support/usage.h"
#include "tests/support/catch.h"

using namespace support;

namespace {

struct Birds {
  std::int64_t steps = 200, shift = 0;
  std::uint64_t seed = 1;
  std::string only, out = "-";
  bool json = false;
  bool operator==(const Birds&) const = default;
};

Options options_of(Birds& birds) {
  Options options("birds", "Q, K and V learn to raise the association of walk with birds.");
  options.add("--steps", "N", birds.steps, "training steps", {1, 5000});
  options.add("--shift", "N", birds.shift, "any number near zero", {-10, 10});
  options.add("--seed", "N", birds.seed, "seed of all random numbers");
  options.add("--only", "NAME", birds.only, "one part alone");
  options.add("--out", "FILE", birds.out, "where to write");
  options.add("--json", "", birds.json, "results as JSON");
  return options;
}

void parse(Options options, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  options.parse(static_cast<int>(arguments.size()), arguments.data());
}

Birds parsed(const std::vector<const char*>& arguments) {
  Birds birds;
  parse(options_of(birds), arguments);
  return birds;
}

/// "PROBLEM | ADVICE" of the UsageError for these arguments.
std::string refused_options(const std::vector<const char*>& arguments) {
  return tests::usage_refusal([&] { parsed(arguments); });
}

}  // namespace

TEST_CASE("options: what is not given keeps its default") {
  CHECK(parsed({}) == Birds{});
  Birds birds;
  Options options = options_of(birds);
  options.parse(0, nullptr);
  CHECK(birds == Birds{});
  CHECK(options.given().empty());
}

TEST_CASE("options: both forms, any order") {
  const Birds birds = parsed({"--json", "--steps=5000", "--shift", "-10", "--only", "a=b", "--seed",
                              "18446744073709551615"});
  CHECK(birds == Birds{5000, -10, 18446744073709551615U, "a=b", "-", true});
  CHECK(parsed({"--only=--json"}).only == "--json");
  CHECK(parsed({"--only=a=b"}).only == "a=b");
  CHECK(parsed({"--only", "-"}).only == "-");
  CHECK(parsed({"--steps", "007"}).steps == 7);
}

TEST_CASE("options: unknown ones get a suggestion where one is near") {
  CHECK(refused_options({"--sede", "5"}) ==
        "unknown option '--sede' | "
        "did you mean '--seed'? all options: birds --help");
  CHECK_THAT(refused_options({"--sede=5"}), ContainsSubstring("'--sede' | "));
  CHECK_THAT(refused_options({"-json"}), ContainsSubstring("did you mean '--json'?"));
  CHECK_THAT(refused_options({"--hepl"}), ContainsSubstring("did you mean '--help'?"));
  CHECK_THAT(refused_options({"--ste=1"}), ContainsSubstring("did you mean '--steps'?"));
  CHECK(refused_options({"--verbose"}) == "unknown option '--verbose' | see 'birds --help'");
  CHECK(refused_options({"-x"}) == "unknown option '-x' | see 'birds --help'");
  CHECK_THAT(refused_options({"-5"}), StartsWith("unknown option '-5' | "));
  CHECK_THAT(refused_options({"---"}), StartsWith("unknown option '---' | "));
}

TEST_CASE("options: a name that another tool has for an option is answered with the right one") {
  const auto refused = [](const char* name) {
    return tests::usage_refusal([&] {
      Birds birds;
      Options options = options_of(birds);
      bool flies = false;
      std::int64_t wings = 2;
      options.add("--wings", "N", wings, "how many");
      options.also_known_as("--n-wings --pinions");
      options.add("--flies", "", flies, "or walks");
      options.also_known_as("--volant");
      parse(options, {name});
    });
  };
  CHECK(refused("--pinions=3") == "unknown option '--pinions' | use --wings N");
  CHECK(refused("--n_wings") == "unknown option '--n_wings' | use --wings N");
  CHECK(refused("--volant") == "unknown option '--volant' | use --flies");
}

TEST_CASE("options: wrong numbers are refused with what is allowed, what came and what to do") {
  CHECK(refused_options({"--steps", "5001"}) ==
        "--steps must be a whole number from 1 to 5000: got '5001' | write --steps N; all options: "
        "birds --help");
  for (const char* text : {"x", "5x", "x5", " 5", "5 ", "0x5", "+5", "1e3", "5.0", "5,0", "--5",
                           "-", "\xEF\xBC\x95", "5\n", "٥", "-1", "-99999999999999999999"}) {
    const std::string given = std::string("--steps=") + text;
    CHECK_THAT(refused_options({given.c_str()}),
               StartsWith("--steps must be a whole number from 1 to 5000: got "));
    const std::string seed = std::string("--seed=") + text;
    CHECK_THAT(refused_options({seed.c_str()}),
               StartsWith("--seed must be a whole number from 0 to 18446744073709551615: got "));
  }
  for (const char* text : {"0", "5001", "9223372036854775808"}) {
    const std::string given = std::string("--steps=") + text;
    CHECK_THAT(refused_options({given.c_str()}),
               StartsWith("--steps must be a whole number from 1"));
  }
  CHECK_THAT(refused_options({"--seed=18446744073709551616"}),
             StartsWith("--seed must be a whole number"));
}

TEST_CASE("options: missing, empty, doubled and superfluous values") {
  CHECK(refused_options({"--steps"}) == "--steps needs a value | write --steps N");
  CHECK(refused_options({"--only", "--json"}) == "--only needs a value | write --only NAME");
  CHECK_THAT(refused_options({"--only", "--"}), StartsWith("--only needs a value | "));
  for (const char* text : {"---", "--", "--jsn", "--- a b"}) {  // what may be meant as the value
    const std::string form = "--only=" + std::string(text);
    CHECK(refused_options({"--only", text}) == "--only needs a value | write --only NAME, or " +
                                                   shell_word(form) +
                                                   " for a value that begins with --");
    CHECK(parsed({form.c_str()}).only == text);
  }
  CHECK_THAT(refused_options({"--only", "--", "--help"}), StartsWith("--only needs a value | "));
  CHECK_THAT(refused_options({"--only="}), StartsWith("--only has an empty value | "));
  CHECK_THAT(refused_options({"--only", ""}), StartsWith("--only has an empty value | "));
  CHECK_THAT(refused_options({"--seed="}), StartsWith("--seed has an empty value | "));
  CHECK_THAT(refused_options({"--seed", "1", "--seed", "1"}),
             StartsWith("--seed was given twice | "));
  CHECK_THAT(refused_options({"--seed=1", "--seed"}), StartsWith("--seed was given twice | "));
  CHECK_THAT(refused_options({"--json", "--json"}), StartsWith("--json was given twice | "));
  CHECK_THAT(refused_options({"--json=yes"}), StartsWith("--json takes no value | "));
  CHECK_THAT(refused_options({"--json="}), StartsWith("--json takes no value | "));
}

TEST_CASE("options: arguments only where they are declared, '--' ends the options") {
  CHECK(refused_options({"walk"}) == "unexpected argument 'walk' | see 'birds --help'");
  CHECK_THAT(refused_options({"seed", "5"}), ContainsSubstring("did you mean '--seed'?"));
  CHECK_THAT(refused_options({""}), Equals("unexpected argument '' | see 'birds --help'"));
  CHECK_THAT(refused_options({"--", "--json"}), StartsWith("unexpected argument '--json' | "));
  CHECK(parsed({"--json", "--"}).json);

  const auto read = [](std::vector<const char*> arguments) {
    bool json = false;
    Options options("fledge inspect", "Shows what a file holds.");
    options.add("--json", "", json, "as JSON");
    options.arguments("FILE", 1, 3);
    arguments.insert(arguments.begin(), "program");
    options.parse(static_cast<int>(arguments.size()), arguments.data());
    return options.arguments();
  };
  CHECK(tests::usage_refusal([&] { read({}); }) == "FILE is missing | see 'fledge inspect --help'");
  CHECK_THAT(tests::usage_refusal([&] {
               read({"a", "b", "c", "d"});
             }),
             ContainsSubstring("unexpected argument 'd'"));
  using Words = std::vector<std::string>;
  CHECK(read({"-", "--json", "b"}) == Words{"-", "b"});
  CHECK(read({"--", "--json", "--", "-h"}) == Words{"--json", "--", "-h"});
}

TEST_CASE("options: a text of several words without quotes gets the advice to quote it") {
  const auto arguments = [](std::vector<const char*> words) {
    std::string stop;
    Options options("fledge generate", "A trained model continues a text.");
    options.arguments("DIR [WORDS]", 1, 2, true);
    options.add("--stop", "END", stop, "end a text before END");
    options.is_text();
    words.insert(words.begin(), "generate");
    options.parse(static_cast<int>(words.size()), words.data());
    return options.arguments();
  };
  CHECK(arguments({"run", "birds"}) == std::vector<std::string>{"run", "birds"});
  const std::string quotes = "a text of several words needs quotes around it: ";
  CHECK(tests::usage_refusal([&] {
          arguments({"run", "birds", "walk", "far"});
        }) == "unexpected argument 'walk' | " + quotes + "'birds walk'");
  CHECK(tests::usage_refusal([&] {
          arguments({"run", "--stop", "a", "birds", "walk"});
        }) == "unexpected argument 'walk' | " + quotes + "'birds walk'");
  CHECK(tests::usage_refusal([&] {
          arguments({"run", "birds", "--stop", "a", "b"});
        }) == "unexpected argument 'b' | " + quotes + "'a b'");
  for (const char* prompt : {"- birds", "---", "--- birds"}) {
    CHECK(tests::usage_refusal([&] {
            arguments({"run", prompt});
          }) == "unknown option '" + std::string(prompt) +
                    "' | write -- in front of an argument that begins with -");
    CHECK(arguments({"run", "--", prompt}).back() == prompt);
  }
  CHECK_THAT(tests::usage_refusal([&] { arguments({}); }), StartsWith("DIR [WORDS] is missing"));
}

TEST_CASE("options: help wins anywhere before '--'") {
  CHECK_THROWS_AS(parsed({"-h"}), HelpRequest);
  CHECK_THROWS_AS(parsed({"--nonsense", "--steps", "x", "--help"}), HelpRequest);
  CHECK_THROWS_AS(parsed({"--only", "--help"}), HelpRequest);
  CHECK_THROWS_AS(parsed({"--", "--help"}), UsageError);
  CHECK(parsed({"--only=--help"}).only == "--help");
  Birds birds;
  CHECK_THROWS_WITH(parsed({"--help"}), Equals(options_of(birds).help()));
}

TEST_CASE("options: --version wins anywhere before '--'") {
  CHECK_THROWS_WITH(parsed({"--version"}), StartsWith("birds ") && EndsWith("\n"));
  CHECK_THROWS_AS(parsed({"--nonsense", "--version"}), HelpRequest);
  CHECK_THROWS_AS(parsed({"--", "--version"}), UsageError);
}

TEST_CASE("options: whatever is typed, the message is short and harmless") {
  const std::string bell = "\x1b]0;title\x07\n\r\t\x7f\xC2\x9B\xFF\xE2\x80\xAE";
  const std::string tower = "a" + std::string(3000, '\xCC');
  const std::string huge(1000000, '9');
  for (const std::string& hostile :
       {bell, tower, huge, std::string("%s%n"), std::string("\n\n\n")}) {
    for (const std::string& argument :
         {hostile, "--" + hostile, "--steps=" + hostile, "--json=" + hostile, "-" + hostile}) {
      const std::string message = refused_options({argument.c_str()});
      CHECK(message.size() < 500);
      CHECK(message.find_first_of("\x1b\x07\r\n\x7f\xFF") == std::string::npos);
    }
  }
  CHECK_THAT(refused_options({"--steps", "\x1b[31m5"}), ContainsSubstring(R"('\x1b[31m5')"));
}

TEST_CASE("options: --threads sets the number of threads, at most one for each processor") {
  const int before = fledge::threads();
  const auto threads_with = [](const char* count) {
    Options options("birds", "Q, K and V learn to raise the association of walk with birds.");
    options.threads();
    parse(options, {"--threads", count});
    return fledge::threads();
  };
  const int processors = fledge::available_processors();
  for (const int count : {1, 2, 256})
    CHECK(threads_with(std::to_string(count).c_str()) == std::min(count, processors));
  fledge::set_threads(before);
}

TEST_CASE("options: a command refuses what contradicts itself in the same form") {
  CHECK(tests::usage_refusal([] { refuse_usage("no op 'sofmax'", "did you mean 'softmax'?"); }) ==
        "no op 'sofmax' | did you mean 'softmax'?");
}
