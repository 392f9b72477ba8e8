// Decimals, choices, letters and groups of options; what is saved, loaded and resumed.
#include <limits>
#include <optional>

#include "examples/support/options.h"
#include "tests/examples/support/usage.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using namespace support;
using tests::refusal;

namespace {

enum class Order { sorted, shuffled, reversed };
enum class Case { kept, ignored };

struct Config {
  std::int64_t count = 3, waits = 1;
  double rate = 0.5, added = 0.25;
  std::uint64_t seed = 1;
  bool loud = false, bias = true;
  Order order = Order::sorted;
  Case letters = Case::kept;
  std::string folder;
  bool operator==(const Config&) const = default;
};

constexpr auto lasting = Lifetime::lasting, may_change = Lifetime::may_change;

Options options_for(Config& config) {
  Options options("train", "Trains.");
  options.group("First");
  options.add("--count", "N", config.count, "how many", {1, 10}, lasting);
  options.add("--rate", "X", config.rate, "how fast", {0, 1}, may_change);
  options.add("--order", "sorted|shuffled|reversed", config.order, "of the words", {}, lasting);
  options.add("--ignore-case", "", config.letters, "letters", {}, lasting);
  options.add("--seed", "N", config.seed, "of all draws", {}, lasting);
  options.group("Second");
  options.add("-o, --out", "DIR", config.folder, "where it goes");
  options.add("--waits", "N", config.waits, "seconds", {0, 9});
  options.add("-l, --loud", "", config.loud, "says more");
  options.add("--no-bias", "", config.bias, "no bias", {}, Lifetime::of_model);
  options.exit_statuses("0 done, 4 diverged");
  return options;
}

/// The same with one row more.
Options longer_options_of(Config& config) {
  Options options = options_for(config);
  options.add("--added", "X", config.added, "a new option", {0, 2}, lasting);
  return options;
}

void parse_words(Options& options, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  options.parse(static_cast<int>(arguments.size()), arguments.data());
}

/// The config that these arguments give, and the names of the options that were given.
std::pair<Config, std::set<std::string>> read(const std::vector<const char*>& arguments,
                                              Options (*rows)(Config&) = options_for) {
  Config config;
  Options options = rows(config);
  parse_words(options, arguments);
  return {config, options.given()};
}

Config config_from(const std::vector<const char*>& arguments) { return read(arguments).first; }

std::string refused_value(const std::vector<const char*>& arguments) {
  return tests::usage_refusal([&] { config_from(arguments); });
}

std::string saved(Config config, Options (*rows)(Config&) = options_for) {
  return rows(config).saved().text();
}

Config loaded(const std::string& text, Options (*rows)(Config&) = options_for) {
  Config config;
  rows(config).load(fledge::read_json(text));
  return config;
}

Config resumed_config(Config saved, Config call, const std::set<std::string>& given,
                      Options (*rows)(Config&) = options_for) {
  rows(saved).resume(rows(call), given);
  return saved;
}

/// What a call that resumes a run is told about these arguments.
std::string told_on_resume(const std::vector<const char*>& arguments,
                           Options (*rows)(Config&) = options_for) {
  Config config;
  Options options = rows(config);
  parse_words(options, arguments);
  return tests::usage_refusal([&] { options.require_resumable(); });
}

}  // namespace

TEST_CASE("option values: decimals") {
  CHECK(config_from({"--rate", "0.25"}).rate == 0.25);
  CHECK(config_from({"--rate=1e-3"}).rate == 1e-3);
  CHECK(config_from({"--rate", "1"}).rate == 1);
  CHECK(config_from({"--rate", "0"}).rate == 0);
  for (const char* wrong : {"nan", "abc", "0,1", "1x", "0x1p3", " 1", "1 ", "+1", "-", "-0.1",
                            "1.01", "inf", "-inf", "1e400", "1e-400"})
    CHECK(refused_value({"--rate", wrong}) ==
          std::string("--rate must be a number from 0 to 1: got '") + wrong +
              "' | write --rate X; all options: train --help");
  CHECK_THAT(refused_value({"--rate", "--"}), StartsWith("--rate needs a value"));
}

TEST_CASE("option values: one of several words") {
  CHECK(config_from({"--order", "reversed"}).order == Order::reversed);
  CHECK(refused_value({"--order", "sortde"}) ==
        "--order must be one of sorted|shuffled|reversed: got 'sortde' | did you mean 'sorted'? "
        "all options: train --help");
  CHECK(refused_value({"--order", "sentence"}) ==
        "--order must be one of sorted|shuffled|reversed: got 'sentence' | write --order "
        "sorted|shuffled|reversed; all options: train --help");
  CHECK_THAT(refused_value({"--order", ""}), StartsWith("--order has an empty value"));
}

TEST_CASE("option values: letters") {
  CHECK(config_from({"-o", "run"}).folder == "run");
  CHECK(refused_value({"-o", "-"}) ==
        "--out must be a name: got '-' | write --out DIR, or ./- if this is the name");
  CHECK(config_from({"-l"}).loud);
  CHECK(refused_value({"-o", "a", "--out", "b"}) == "--out was given twice | give it once");
  CHECK_THAT(refused_value({"-x"}), StartsWith("unknown option '-x'"));
  CHECK_THAT(refused_value({"-o"}), StartsWith("--out needs a value"));
  CHECK_THAT(refused_value({"-o", "-l"}), StartsWith("--out needs a value"));
}

TEST_CASE("option values: arguments set the variables, and the rest keeps its default") {
  const auto [config, given] =
      read({"--count", "7", "--ignore-case", "--order=reversed", "-o", "run", "--loud", "--no-bias",
            "--seed", "18446744073709551615"});
  Config expected;
  expected.count = 7;
  expected.letters = Case::ignored;
  expected.order = Order::reversed;
  expected.folder = "run";
  expected.loud = true;
  expected.bias = false;
  expected.seed = std::numeric_limits<std::uint64_t>::max();
  CHECK((config == expected));
  CHECK((given == std::set<std::string>{"--count", "--ignore-case", "--loud", "--no-bias",
                                        "--order", "--out", "--seed"}));
  CHECK((read({}).first == Config{}));
}

TEST_CASE("option values: a page of names by group, and all that they mean") {
  Config config;
  CHECK(options_for(config).help() ==
        "Trains.\n"
        "\n"
        "usage: train [options]\n"
        "\n"
        "  First     --count N [3]  --rate X [0.5]\n"
        "            --order sorted|shuffled|reversed [sorted]  --ignore-case\n"
        "            --seed N [1]\n"
        "  Second    -o DIR  --waits N [1]  -l  --no-bias\n"
        "  Help      -h, --help, --help-all: what each means; --version\n"
        "\n"
        "exit status: 0 done, 4 diverged\n");
  const std::string all = options_for(config).help_all();
  CHECK_THAT(all, ContainsSubstring("how fast [0.5]\n"));
  CHECK_THAT(all, ContainsSubstring("  -o, --out DIR "));
  CHECK_THROWS_AS(config_from({"--help-all"}), HelpRequest);
}

TEST_CASE("option values: what is saved are texts, and it is loaded again") {
  const auto config = read({"--count", "7", "--rate", "0.1", "--ignore-case", "--order", "shuffled",
                            "--seed", "18446744073709551615", "--waits", "5"})
                          .first;
  const std::string text = saved(config);
  CHECK(text == R"({"count":"7","rate":"0.1","order":"shuffled","ignore-case":"true",)"
                R"("seed":"18446744073709551615"})");
  Config expected = config;
  expected.waits = 1;  // of the call alone
  CHECK((loaded(text) == expected));
  for (const double rate : {1e-300, 0.1 + 0.2, 1.0 / 3, 1e-17}) {
    Config exact;
    exact.rate = rate;
    CHECK(loaded(saved(exact)).rate == rate);
  }
}

TEST_CASE("option values: a file is refused as the command line would be") {
  const auto wrong = [](const std::string& text) {
    return refusal<FormatError>([&] { loaded(text); });
  };
  CHECK(wrong(R"({"rate":"0.5","count":"11"})") ==
        "line 1, column 23: count must be a whole number from 1 to 10: got '11'");
  CHECK(wrong(R"({"rate":"1.5"})") ==
        "line 1, column 9: rate must be a number from 0 to 1: got '1.5'");
  CHECK_THAT(wrong(R"({"rate":0.5})"), ContainsSubstring("rate must be a string"));
  CHECK_THAT(wrong(R"({"new":"1"})"), ContainsSubstring("new is not known"));
  CHECK_THAT(wrong(R"({"waits":"1"})"), ContainsSubstring("waits is not known"));  // of a call
  CHECK_THAT(wrong(R"({"order":"up"})"),
             ContainsSubstring("order must be one of sorted|shuffled|reversed: got 'up'"));
  CHECK_THAT(wrong(R"({"seed":"-9"})"), ContainsSubstring("seed must be a whole number from 0"));
  CHECK_THAT(wrong(R"({"ignore-case":"yes"})"), ContainsSubstring("must be one of false|true"));
  CHECK_THAT(wrong(R"({"seed":""})"), ContainsSubstring("seed must be a whole number"));
  CHECK((loaded("{}") == Config{}));
}

TEST_CASE(
    "option values: a resumed run keeps what lasts, and takes what may change and the call's") {
  const auto run = read({"--count", "7", "--rate", "0.25", "--waits", "5"}).first;
  const auto [call, given] = read({"--rate", "0.75", "--loud"});
  const Config config = resumed_config(run, call, given);
  CHECK(config.count == 7);
  CHECK(config.rate == 0.75);
  CHECK(config.waits == 1);
  CHECK(config.loud);
  CHECK(told_on_resume({"--rate", "0.75", "--loud"}) == "<nothing was thrown>");
  const auto [same, nothing] = read({});
  CHECK(resumed_config(run, same, nothing).rate == 0.25);
  CHECK(told_on_resume({"--loud", "--seed", "2", "--count", "2"}) ==
        "--count belongs to the run since it began | leave it out, or begin a new run in another "
        "folder with -o");
  CHECK_THAT(told_on_resume({"--no-bias"}), StartsWith("--no-bias belongs to the run"));
}

TEST_CASE("option values: a new option is one row: parsed, explained, saved, loaded and resumed") {
  const auto rows = longer_options_of;
  const auto [config, given] = read({"--added", "1.5"}, rows);
  CHECK(config.added == 1.5);
  Config fallback;
  CHECK_THAT(rows(fallback).help(), ContainsSubstring("--added X [0.25]"));
  CHECK_THAT(rows(fallback).help_all(), ContainsSubstring("a new option [0.25]"));
  const std::string text = saved(config, rows);
  CHECK_THAT(text, EndsWith(R"(,"added":"1.5"})"));
  CHECK((loaded(text, rows) == config));
  CHECK_THAT(tests::usage_refusal([&] {
               read({"--added", "3"}, rows);
             }),
             StartsWith("--added must be a number from 0 to 2: got '3'"));
  CHECK_THAT(told_on_resume({"--added", "1.5"}, rows), StartsWith("--added belongs to the run"));
  CHECK(resumed_config(config, Config{}, {}, rows).added == 1.5);
  // A file that was written before the row was there has the default.
  CHECK(loaded(saved(config), rows).added == 0.25);
}

TEST_CASE("option values: a number that may be absent") {
  std::optional<std::int64_t> layer;
  const support::OptionVariable variable = support::option_variable(layer, "N", {0, 9});
  CHECK(variable.get().empty());
  CHECK(variable.set("").size() > 0);
  CHECK(variable.set("10") == "a whole number from 0 to 9");
  CHECK_FALSE(layer);
  CHECK(variable.set("0").empty());
  CHECK(layer == 0);
  CHECK(variable.get() == "0");
}

namespace {

struct Colours {
  bool red = false, green = false, blue = false;
  void each(auto&& f) { f("red", red), f("green", green), f("blue", blue); }
};

Options options_for(Colours& colours) {
  Options options("paint", "Paints.");
  options.add("--with", "red|green|blue,...", colours, "the colours", {}, lasting);
  return options;
}

std::string saved_colours(const std::vector<const char*>& words) {
  Colours colours;
  Options options = options_for(colours);
  options.parse(static_cast<int>(words.size()), words.data());
  return options.saved().text();
}

}  // namespace

TEST_CASE("option values: some of several words, in any order, saved in one") {
  CHECK(saved_colours({"paint"}) == "{}");
  CHECK(saved_colours({"paint", "--with", "blue,red"}) == R"({"with":"red,blue"})");
  Colours colours{.green = true};
  options_for(colours).load(fledge::read_json(R"({"with":"blue"})"));
  CHECK(colours.blue);
  CHECK_FALSE(colours.green);
  const auto refused = [](const char* value) {
    return refusal<UsageError>([&] { saved_colours({"paint", "--with", value}); });
  };
  CHECK(refused("red,gren") ==
        "--with must be one or more of red|green|blue, with commas between them: got 'red,gren'");
  for (const char* value : {"red,", ",red", "red blue", "red|blue"})
    CHECK_THAT(refused(value), EndsWith("got '" + std::string(value) + "'"));
}
