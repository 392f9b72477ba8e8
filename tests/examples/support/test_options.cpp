// The parser of options, and what is saved, loaded and resumed. tests/command/usage.txt has the
// sentences; the last test walks the options of all commands.
#include "examples/support/options.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>

#include "engine/base/processors.h"
#include "engine/base/thread_pool.h"
#include "examples/fledge/commands.h"
#include "examples/support/version.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using namespace support;
using tests::refusal;

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
  std::optional<std::int64_t> layer;
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
  constexpr auto lasting = Lifetime::lasting;
  Options options("train", "Trains.");
  options.arguments("DIR [WORDS]", 0, 2, true);
  options.group("First");
  options.add("--count", "N", config.count, "how many", {1, 10}, lasting);
  options.also_known_as("--n-count --number");
  options.add("--shift", "N", config.shift, "any number near zero", {-10, 10}, lasting);
  options.add("--rate", "X", config.rate, "how fast", {0, 1}, Lifetime::may_change);
  options.add("--order", "sorted|shuffled|reversed", config.order, "of the words", {}, lasting);
  options.add("--ignore-case", "", config.letters, "letters", {}, lasting);
  options.add("--seed", "N", config.seed, "of all draws", {}, lasting);
  options.add("--with", "red|green|blue,...", config.colours, "the colours", {}, lasting);
  options.group("Second");
  options.add("--only", "NAME", config.only, "one part alone");
  options.is_text();
  options.add("-o, --out", "DIR", config.folder, "where it goes");
  options.add("--waits", "N", config.waits, "seconds", {0, 9});
  options.add("--layer", "N", config.layer, "of all", {0, 9});
  options.add("-l, --loud", "", config.loud, "says more");
  options.also_known_as("--noisy");
  options.gone("--old-way", "the page shows it");
  options.add("--no-bias", "", config.bias, "no bias", {}, Lifetime::of_model);
  return options;
}

using Arguments = std::vector<const char*>;
using OptionTexts = std::vector<std::string>;

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

/// "PROBLEM | ADVICE" of the UsageError that f throws.
template <class F>
std::string usage_refusal(F f) {
  try {
    f();
  } catch (const UsageError& error) {
    return std::string(error.what()) + " | " + error.advice;
  }
  return "<nothing was thrown>";
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

}  // namespace

TEST_CASE("options: arguments set the variables in both forms; the rest keeps its default") {
  CHECK((config_from({}) == Config{}));
  Config found;
  Options options = options_for(found);
  options.parse(0, nullptr);
  CHECK(options.given().empty());
  parse_words(options, {"--count",
                        "007",
                        "--ignore-case",
                        "--order=reversed",
                        "-o",
                        "run",
                        "--loud",
                        "--no-bias",
                        "--seed",
                        "18446744073709551615",
                        "--shift",
                        "-10",
                        "--only",
                        "a=b",
                        "--with",
                        "blue,red",
                        "--rate=1e-3",
                        "--layer=0",
                        "here",
                        "--",
                        "-l"});
  Config expected;
  expected.count = 7, expected.shift = -10, expected.rate = 1e-3, expected.layer = 0;
  expected.seed = std::numeric_limits<std::uint64_t>::max();
  expected.loud = true, expected.bias = false;
  expected.order = Order::reversed, expected.letters = Case::ignored;
  expected.colours = {true, false, true};
  expected.only = "a=b", expected.folder = "run";
  CHECK((found == expected));
  CHECK(options.arguments() == OptionTexts{"here", "-l"});
  CHECK((options.given() == std::set<std::string>{"--count", "--ignore-case", "--layer", "--loud",
                                                  "--no-bias", "--only", "--order", "--out",
                                                  "--rate", "--seed", "--shift", "--with"}));
  for (const char* value : {"--json", "a=b", "--help", "---"})
    CHECK(config_from({("--only=" + std::string(value)).c_str()}).only == value);
  CHECK(config_from({"--only", "-"}).only == "-");
}

TEST_CASE("options: values that are none are refused, on the command line and in a file") {
  const std::vector<std::tuple<std::string, std::string, OptionTexts>> rows{
      {"count",
       "a whole number from 1 to 10",
       {"0", "11", "9223372036854775808", "x", "5x", " 5", "0x5", "+5", "1e3", "5.0", "--5", "-",
        "５", "٥", "-99999999999999999999"}},
      {"seed", "a whole number from 0 to 18446744073709551615", {"18446744073709551616", "-1"}},
      {"rate",
       "a number from 0 to 1",
       {"nan", "0,1", "1x", "0x1p3", " 1", "1 ", "+1", "-0.1", "1.01", "-inf", "1e400", "1e-400"}},
      {"order", "one of sorted|shuffled|reversed", {"sentence", "sorted|reversed"}},
      {"with",
       "one or more of red|green|blue, with commas between them",
       {"red,gren", "red,", ",red", "red blue", "red|blue"}}};
  for (const auto& [option, must, values] : rows)
    for (const std::string& value : values) {
      const std::string argument = "--" + option + "=" + value;
      CAPTURE(argument);
      CHECK_THAT(refused_words({argument.c_str()}),
                 StartsWith("--" + option + " must be " + must + ": got "));
      const std::string file = "{\"" + option + "\":\"" + value + "\"}";
      CHECK_THAT(refusal<FormatError>([&] { loaded(file); }),
                 StartsWith("line 1, column ") &&
                     ContainsSubstring(": " + option + " must be " + must + ": got '" + value));
    }
  CHECK(
      refused_words({"--layer=10"}).starts_with("--layer must be a whole number from 0 to 9: got"));
}

TEST_CASE("options: what is no option, no argument, or has no value") {
  const std::string quotes = " | a text of several words needs quotes around it: ";
  const std::vector<std::pair<Arguments, std::string>> rows{
      {{"-loud"}, "unknown option '-loud' | did you mean '--loud'? all options: train --help"},
      {{"-x"}, "unknown option '-x' | see 'train --help'"},
      {{"---"}, "unknown option '---' | "},
      {{"--number=3"}, "unknown option '--number' | use --count N"},
      {{"--n_count"}, "unknown option '--n_count' | use --count N"},
      {{"--noisy"}, "unknown option '--noisy' | use --loud"},
      {{"--old-way=x"}, "unknown option '--old-way' | the page shows it"},
      {{"-o", "-l"}, "--out needs a value | "},
      {{"--only", "--loud"}, "--only needs a value | write --only NAME"},
      {{"--only", "--", "--help"}, "--only needs a value | write --only NAME, or --only=-- for"},
      {{"--only", "--- a b"}, "--only needs a value | write --only NAME, or '--only=--- a b' for"},
      {{"--order", ""}, "--order has an empty value | "},
      {{"--order", "sortde"},
       "--order must be one of sorted|shuffled|reversed: got 'sortde' | did you "
       "mean 'sorted'?"},
      {{"-o", "a", "--out", "b"}, "--out was given twice | give it once"},
      {{"-o", "-"}, "--out must be a name: got '-' | write --out DIR, or ./- if this is the name"},
      {{"run", "a", "b"}, "unexpected argument 'b'" + quotes + "'a b'"},
      {{"run", "a", "--only", "c", "d"}, "unexpected argument 'd'" + quotes + "'c d'"},
      {{"run", "--- birds"},
       "unknown option '--- birds' | write -- in front of an argument that begins with -"}};
  for (const auto& [arguments, said] : rows) CHECK_THAT(refused_words(arguments), StartsWith(said));
  CHECK_THROWS_AS(config_from({"--nonsense", "--count", "x", "-h"}), HelpRequest);
  CHECK_THROWS_AS(config_from({"--only", "--help-all"}), HelpRequest);
  // Whatever is typed, the message is short and harmless.
  for (const std::string& hostile :
       {std::string("\x1b]0;title\x07\n\r\t\x7f\xC2\x9B\xFF\xE2\x80\xAE"),
        "a" + std::string(3000, '\xCC'), std::string(1000000, '9'), std::string("%s%n\n\n")})
    for (const char* before : {"--", "--count=", "--loud=", "-"}) {
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
  for (const auto& [wrong, said] : {std::pair{R"({"rate":0.5})", "rate must be a string"},
                                    {R"({"new":"1"})", "is not known"},
                                    {R"({"waits":"1"})", "waits is not known"},
                                    {R"({"seed":""})", "seed must be a whole"},
                                    {R"({"ignore-case":"yes"})", "must be one of false|true"}})
    CHECK_THAT(refusal<FormatError>([&, file = wrong] { loaded(file); }), ContainsSubstring(said));
}

TEST_CASE("options: a resumed run keeps what lasts, and takes what may change and the call's") {
  const auto resumed = [](const Arguments& again) {
    Config run = config_from({"--count", "7", "--rate", "0.25", "--waits", "5"}), call;
    Options options = options_for(call);
    parse_words(options, again);
    options.require_resumable();
    options_for(run).resume(options, options.given());
    return run;
  };
  const Config config = resumed({"--rate", "0.75", "--loud"});
  CHECK(config.count == 7);
  CHECK(config.rate == 0.75);
  CHECK(config.waits == 1);
  CHECK(config.loud);
  CHECK(resumed({}).rate == 0.25);
  CHECK(usage_refusal([&] {
          resumed({"--loud", "--seed", "2", "--count", "2"});
        }) ==
        "--count belongs to the run since it began | leave it out, or begin a new run in another "
        "folder with -o");
  CHECK_THAT(usage_refusal([&] { resumed({"--no-bias"}); }),
             StartsWith("--no-bias belongs to the run"));
}

TEST_CASE("options: --threads sets their number, at most one for each processor; the version") {
  const int before = threads(), processors = available_processors();
  for (const int count : {1, 2, 256}) {
    Options options("birds", "Q, K and V learn to raise the association of walk with birds.");
    options.threads();
    parse_words(options, {"--threads", std::to_string(count).c_str()});
    CHECK(threads() == std::min(count, processors));
  }
  set_threads(before);
  std::ifstream file(FLEDGE_SOURCE_DIR "/CMakeLists.txt", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string version = version_of("fledge train").substr(std::string("fledge ").size());
  CHECK_THAT(text, ContainsSubstring("project(fledge VERSION " + version + " "));
  CHECK_THROWS_WITH(config_from({"--nonsense", "--version"}), Equals("train " + version + "\n"));
}

TEST_CASE("options: every option of every command refuses to be empty, repeated or alone") {
  const auto refused = [](const std::string& command, const OptionTexts& words) {
    OptionTexts line = words;
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
