// The parser of options, and what is saved, loaded and resumed. tests/command/usage.txt has the
// sentences of the commands' own options; the last test walks all of these.
#include "examples/support/options.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "engine/base/processors.h"
#include "engine/base/thread_pool.h"
#include "examples/fledge/commands.h"
#include "examples/support/version.h"
#include "tests/examples/fledge/command.h"
#include "tests/examples/support/usage.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using namespace support;
using tests::refusal;
using tests::usage_refusal;

namespace {

enum class Order { sorted, shuffled, reversed };
enum class Case { kept, ignored };

struct Colours {
  bool red = false, green = false, blue = false;
  void each(auto&& f) { f("red", red), f("green", green), f("blue", blue); }
  bool operator==(const Colours&) const = default;
};

struct Config {
  std::int64_t count = 3, shift = 0, waits = 1;
  double rate = 0.5;
  std::uint64_t seed = 1;
  bool loud = false, bias = true;
  Order order = Order::sorted;
  Case letters = Case::kept;
  Colours colours;
  std::string only, folder;
  bool operator==(const Config&) const = default;
};

Options options_for(Config& config) {
  constexpr auto lasting = Lifetime::lasting, may_change = Lifetime::may_change;
  Options options("train", "Trains.");
  options.group("First");
  options.add("--count", "N", config.count, "how many", {1, 10}, lasting);
  options.also_known_as("--n-count --number");
  options.add("--shift", "N", config.shift, "any number near zero", {-10, 10}, lasting);
  options.add("--rate", "X", config.rate, "how fast", {0, 1}, may_change);
  options.add("--order", "sorted|shuffled|reversed", config.order, "of the words", {}, lasting);
  options.add("--ignore-case", "", config.letters, "letters", {}, lasting);
  options.add("--seed", "N", config.seed, "of all draws", {}, lasting);
  options.add("--with", "red|green|blue,...", config.colours, "the colours", {}, lasting);
  options.group("Second");
  options.add("--only", "NAME", config.only, "one part alone");
  options.add("-o, --out", "DIR", config.folder, "where it goes");
  options.add("--waits", "N", config.waits, "seconds", {0, 9});
  options.add("-l, --loud", "", config.loud, "says more");
  options.also_known_as("--noisy");
  options.gone("--old-way", "the page shows it");
  options.add("--no-bias", "", config.bias, "no bias", {}, Lifetime::of_model);
  options.exit_statuses("0 done, 4 diverged");
  return options;
}

using Arguments = std::vector<const char*>;

void parse_words(Options& options, Arguments arguments) {
  arguments.insert(arguments.begin(), "program");
  options.parse(static_cast<int>(arguments.size()), arguments.data());
}

Config config_from(const Arguments& arguments) {
  Config config;
  Options options = options_for(config);
  parse_words(options, arguments);
  return config;
}

std::string refused_words(const Arguments& arguments) {
  return usage_refusal([&] { config_from(arguments); });
}

std::string saved(Config config) { return options_for(config).saved().text(); }

Config loaded(const std::string& text) {
  Config config;
  options_for(config).load(read_json(text));
  return config;
}

/// Options of a command that takes a folder and a text.
std::vector<std::string> generate_arguments(const Arguments& words) {
  std::string stop;
  Options options("fledge generate", "A trained model continues a text.");
  options.arguments("DIR [WORDS]", 1, 2, true);
  options.add("--stop", "END", stop, "end a text before END");
  options.is_text();
  parse_words(options, words);
  return options.arguments();
}

}  // namespace

TEST_CASE("options: arguments set the variables in both forms; the rest keeps its default") {
  CHECK((config_from({}) == Config{}));
  Config none;
  Options options = options_for(none);
  options.parse(0, nullptr);
  CHECK(options.given().empty());
  parse_words(options, {"--count", "7", "--ignore-case", "--order=reversed", "-o", "run", "--loud",
                        "--no-bias", "--seed", "18446744073709551615", "--shift", "-10", "--only",
                        "a=b", "--with", "blue,red", "--rate=1e-3"});
  Config expected;
  expected.count = 7, expected.shift = -10, expected.rate = 1e-3;
  expected.seed = std::numeric_limits<std::uint64_t>::max();
  expected.loud = true, expected.bias = false;
  expected.order = Order::reversed, expected.letters = Case::ignored;
  expected.colours = {true, false, true};
  expected.only = "a=b", expected.folder = "run";
  CHECK((none == expected));
  CHECK((options.given() == std::set<std::string>{"--count", "--ignore-case", "--loud", "--no-bias",
                                                  "--only", "--order", "--out", "--rate", "--seed",
                                                  "--shift", "--with"}));
  for (const char* value : {"--json", "a=b", "--help", "---"})
    CHECK(config_from({("--only=" + std::string(value)).c_str()}).only == value);
  CHECK(config_from({"--only", "-"}).only == "-");
  CHECK(config_from({"--count", "007"}).count == 7);
  for (const char* rate : {"0", "1", "0.25"})
    CHECK(config_from({"--rate", rate}).rate == atof(rate));
}

TEST_CASE("options: values that are none are refused with what is allowed and what came") {
  using Values = std::vector<std::string>;
  const Values no_numbers{"x",
                          "5x",
                          "x5",
                          " 5",
                          "5 ",
                          "0x5",
                          "+5",
                          "1e3",
                          "5.0",
                          "5,0",
                          "--5",
                          "-",
                          "５",
                          "٥",
                          "5\n",
                          "-1",
                          "-99999999999999999999"};
  std::vector<std::tuple<std::string, std::string, Values>> rows{
      {"count", "a whole number from 1 to 10", {"0", "11", "9223372036854775808"}},
      {"seed", "a whole number from 0 to 18446744073709551615", {"18446744073709551616"}},
      {"rate",
       "a number from 0 to 1",
       {"nan", "0,1", "1x", "0x1p3", " 1", "1 ", "+1", "-0.1", "1.01", "-inf", "1e400", "1e-400"}},
      {"order", "one of sorted|shuffled|reversed", {"sentence", "sorted|reversed"}},
      {"with",
       "one or more of red|green|blue, with commas between them",
       {"red,gren", "red,", ",red", "red blue", "red|blue"}}};
  for (const std::size_t of_numbers : {0u, 1u}) {
    Values& values = std::get<2>(rows[of_numbers]);
    values.insert(values.end(), no_numbers.begin(), no_numbers.end());
  }
  for (const auto& [option, must, values] : rows)
    for (const std::string& value : values) {
      const std::string argument = "--" + option + "=" + value;
      CAPTURE(argument);
      CHECK_THAT(refused_words({argument.c_str()}),
                 StartsWith("--" + option + " must be " + must + ": got "));
      if (value.find('\n') != value.npos) continue;
      // A file is refused as the command line would be.
      CHECK_THAT(refusal<FormatError>([&] { loaded("{\"" + option + "\":\"" + value + "\"}"); }),
                 StartsWith("line 1, column ") &&
                     ContainsSubstring(": " + option + " must be " + must + ": got '" + value));
    }
  CHECK(
      refused_words({"--count", "11"}) ==
      "--count must be a whole number from 1 to 10: got '11' | write --count N; all options: train "
      "--help");
  CHECK_THAT(refused_words({"--order", "sortde"}), ContainsSubstring(" | did you mean 'sorted'?"));
}

TEST_CASE("options: what is no option, no argument, or has no value") {
  const std::vector<std::pair<Arguments, std::string>> rows{
      {{"--sede=5"}, "unknown option '--sede' | did you mean '--seed'? all options: train --help"},
      {{"-loud"}, "unknown option '-loud' | did you mean '--loud'? all options: train --help"},
      {{"--verbose"}, "unknown option '--verbose' | see 'train --help'"},
      {{"-x"}, "unknown option '-x' | see 'train --help'"},
      {{"-5"}, "unknown option '-5' | "},
      {{"---"}, "unknown option '---' | "},
      {{"--number=3"}, "unknown option '--number' | use --count N"},
      {{"--n_count"}, "unknown option '--n_count' | use --count N"},
      {{"--noisy"}, "unknown option '--noisy' | use --loud"},
      {{"--old-way=x"}, "unknown option '--old-way' | the page shows it"},
      {{"-o"}, "--out needs a value | "},
      {{"-o", "-l"}, "--out needs a value | "},
      {{"--only", "--loud"}, "--only needs a value | write --only NAME"},
      {{"--only", "--", "--help"}, "--only needs a value | write --only NAME, or --only=-- for"},
      {{"--only", "--- a b"}, "--only needs a value | write --only NAME, or '--only=--- a b' for"},
      {{"--only="}, "--only has an empty value | "},
      {{"--order", ""}, "--order has an empty value | "},
      {{"-o", "a", "--out", "b"}, "--out was given twice | give it once"},
      {{"--seed=1", "--seed"}, "--seed was given twice | "},
      {{"--loud="}, "--loud takes no value | "},
      {{"-o", "-"}, "--out must be a name: got '-' | write --out DIR, or ./- if this is the name"},
      {{"walk"}, "unexpected argument 'walk' | see 'train --help'"},
      {{"seed", "5"}, "unexpected argument 'seed' | did you mean '--seed'?"},
      {{""}, "unexpected argument '' | see 'train --help'"},
      {{"--", "--loud"}, "unexpected argument '--loud' | "}};
  for (const auto& [arguments, said] : rows) CHECK_THAT(refused_words(arguments), StartsWith(said));
  CHECK(config_from({"--loud", "--"}).loud);
}

TEST_CASE("options: arguments are counted, and a text of several words needs quotes") {
  using Strings = std::vector<std::string>;
  CHECK(generate_arguments({"run", "birds"}) == Strings{"run", "birds"});
  CHECK(generate_arguments({"--", "run", "--stop"}) == Strings{"run", "--stop"});
  const auto refused = [](const Arguments& words) {
    return usage_refusal([&] { generate_arguments(words); });
  };
  CHECK(refused({}) == "DIR [WORDS] is missing | see 'fledge generate --help'");
  const std::string quotes = " | a text of several words needs quotes around it: ";
  CHECK(refused({"run", "birds", "walk", "far"}) ==
        "unexpected argument 'walk'" + quotes + "'birds walk'");
  CHECK(refused({"run", "birds", "--stop", "a", "b"}) ==
        "unexpected argument 'b'" + quotes + "'a b'");
  for (const char* prompt : {"- birds", "---", "--- birds"}) {
    CHECK(refused({"run", prompt}) ==
          "unknown option '" + std::string(prompt) +
              "' | write -- in front of an argument that begins with -");
    CHECK(generate_arguments({"run", "--", prompt}).back() == prompt);
  }
}

TEST_CASE("options: help and the version win anywhere before '--'") {
  CHECK_THROWS_AS(config_from({"-h"}), HelpRequest);
  CHECK_THROWS_AS(config_from({"--help-all"}), HelpRequest);
  CHECK_THROWS_AS(config_from({"--nonsense", "--count", "x", "--help"}), HelpRequest);
  CHECK_THROWS_AS(config_from({"--only", "--help"}), HelpRequest);
  CHECK_THROWS_WITH(config_from({"--nonsense", "--version"}), Equals(version_of("train") + "\n"));
  for (const char* word : {"--help", "--version"})
    CHECK_THROWS_AS(config_from({"--", word}), UsageError);
}

TEST_CASE("options: whatever is typed, the message is short and harmless") {
  const std::string bell = "\x1b]0;title\x07\n\r\t\x7f\xC2\x9B\xFF\xE2\x80\xAE";
  for (const std::string& hostile :
       {bell, "a" + std::string(3000, '\xCC'), std::string(1000000, '9'), std::string("%s%n\n\n")})
    for (const char* before : {"", "--", "--count=", "--loud=", "-"}) {
      const std::string message = refused_words({(before + hostile).c_str()});
      CHECK(message.size() < 500);
      CHECK(message.find_first_of("\x1b\x07\r\n\x7f\xFF") == std::string::npos);
    }
}

TEST_CASE("options: what is saved are texts, which are loaded again; a new row has its default") {
  const Config config = config_from({"--count", "7", "--rate", "0.1", "--ignore-case", "--order",
                                     "shuffled", "--seed", "18446744073709551615", "--waits", "5"});
  const std::string text = saved(config);
  CHECK(text == R"({"count":"7","shift":"0","rate":"0.1","order":"shuffled","ignore-case":"true",)"
                R"("seed":"18446744073709551615"})");
  Config expected = config;
  expected.waits = 1;  // of the call alone
  CHECK((loaded(text) == expected));
  CHECK((loaded("{}") == Config{}));
  CHECK_THAT(saved(config_from({"--with", "blue,red"})), EndsWith(R"(,"with":"red,blue"})"));
  CHECK((loaded(R"({"with":"blue"})").colours == Colours{false, false, true}));
  for (const double rate : {1e-300, 0.1 + 0.2, 1.0 / 3, 1e-17}) {
    Config exact;
    exact.rate = rate;
    CHECK(loaded(saved(exact)).rate == rate);
  }
  for (const auto& wrong : {std::pair{R"({"rate":0.5})", "rate must be a string"},
                            {R"({"new":"1"})", "is not known"},
                            {R"({"waits":"1"})", "waits is not known"},
                            {R"({"seed":""})", "seed must be a whole"},
                            {R"({"ignore-case":"yes"})", "must be one of false|true"}})
    CHECK_THAT(refusal<FormatError>([&] { loaded(wrong.first); }), ContainsSubstring(wrong.second));
}

TEST_CASE("options: a resumed run keeps what lasts, and takes what may change and the call's") {
  const auto resumed = [](const Arguments& begun, const Arguments& again) {
    Config run = config_from(begun), call;
    Options options = options_for(call);
    parse_words(options, again);
    options.require_resumable();
    options_for(run).resume(options, options.given());
    return run;
  };
  const Arguments begun{"--count", "7", "--rate", "0.25", "--waits", "5"};
  const Config config = resumed(begun, {"--rate", "0.75", "--loud"});
  CHECK(config.count == 7);
  CHECK(config.rate == 0.75);
  CHECK(config.waits == 1);
  CHECK(config.loud);
  CHECK(resumed(begun, {}).rate == 0.25);
  CHECK(usage_refusal([&] {
          resumed(begun, {"--loud", "--seed", "2", "--count", "2"});
        }) ==
        "--count belongs to the run since it began | leave it out, or begin a new run in another "
        "folder with -o");
  CHECK_THAT(usage_refusal([&] { resumed(begun, {"--no-bias"}); }),
             StartsWith("--no-bias belongs to the run"));
}

TEST_CASE("options: a number that may be absent") {
  std::optional<std::int64_t> layer;
  const OptionVariable variable = option_variable(layer, "N", {0, 9});
  CHECK(variable.get().empty());
  CHECK(variable.set("").size() > 0);
  CHECK(variable.set("10") == "a whole number from 0 to 9");
  CHECK_FALSE(layer);
  CHECK(variable.set("0").empty());
  CHECK(layer == 0);
  CHECK(variable.get() == "0");
}

TEST_CASE("options: --threads sets the number of threads, at most one for each processor") {
  const int before = threads(), processors = available_processors();
  for (const int count : {1, 2, 256}) {
    Options options("birds", "Q, K and V learn to raise the association of walk with birds.");
    options.threads();
    parse_words(options, {"--threads", std::to_string(count).c_str()});
    CHECK(threads() == std::min(count, processors));
  }
  set_threads(before);
}

TEST_CASE("options: every option of every command refuses to be empty, repeated or alone") {
  const auto refused = [](const std::string& command, const std::vector<std::string>& words) {
    std::vector<std::string> line = words;
    line.insert(line.begin(), command);
    const testing::Result result = testing::fledge_says(line);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    return testing::lines_of(result.err).at(0);
  };
  for (const Command& command : commands())
    for (const auto& [name, argument] : testing::options_of(command.name)) {
      const std::string before = "fledge " + command.name + ": " + name;
      CAPTURE(before);
      if (argument.empty()) {
        CHECK(refused(command.name, {name, name}) == before + " was given twice");
        CHECK(refused(command.name, {name + "=1"}) == before + " takes no value");
        continue;
      }
      CHECK(refused(command.name, {name}) == before + " needs a value");
      CHECK(refused(command.name, {name, ""}) == before + " has an empty value");
      // One of these is a value of the option.
      std::set<std::string> said;
      for (const std::string& value :
           {std::string("2"), std::string("50"), std::string("300"), std::string("0.5"),
            argument.substr(0, argument.find_first_of("|,"))})
        said.insert(refused(command.name, {name + "=" + value, name + "=" + value}));
      CHECK(said.contains(before + " was given twice"));
    }
}
