// The parser of options, and what is saved, loaded and resumed. The options of all commands:
// fledge/test_changes_nothing.cpp.
#include "examples/support/options.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>

#include "engine/base/thread_pool.h"
#include "tests/support/given.h"
#include "tests/support/refuses.h"

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
  options.add("--count --n-count --number", "N", config.count, "how many", {1, 10}, lasting);
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
  options.add("-l, --loud --noisy", "", config.loud, "says more");
  options.add("--no-bias", "", config.bias, "no bias", {}, Lifetime::of_model);
  return options;
}

using Arguments = std::vector<std::string>;

void parse_words(Options& options, const Arguments& arguments) {
  std::vector<const char*> all{"program"};
  for (const std::string& argument : arguments) all.push_back(argument.c_str());
  options.parse(static_cast<int>(all.size()), all.data());
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
  std::istringstream line(
      "--count 007 --ignore-case --order=reversed -o run --loud --no-bias --shift -10 --only a=b "
      "--seed 18446744073709551615 --with blue,red --rate=1e-3 --layer=0 here -- -l");
  parse_words(options, {std::istream_iterator<std::string>(line), {}});
  Config expected;
  expected.count = 7, expected.shift = -10, expected.rate = 1e-3, expected.layer = 0;
  expected.seed = std::numeric_limits<std::uint64_t>::max();
  expected.loud = true, expected.bias = false;
  expected.order = Order::reversed, expected.letters = Case::ignored;
  expected.colours = {true, false, true};
  expected.only = "a=b", expected.folder = "run";
  CHECK((found == expected));
  CHECK(options.arguments() == Arguments{"here", "-l"});
  CHECK((options.given() == std::set<std::string>{"--count", "--ignore-case", "--layer", "--loud",
                                                  "--no-bias", "--only", "--order", "--out",
                                                  "--rate", "--seed", "--shift", "--with"}));
  for (const char* value : {"--json", "a=b", "--help", "---"})
    CHECK(config_from({"--only=" + std::string(value)}).only == value);
  CHECK(config_from({"--only", "-"}).only == "-");
}

TEST_CASE("options: what is no option, no argument or no value is refused, as refused.txt says") {
  const auto arguments = [](const std::string& given) {
    Arguments texts(1);
    for (const char c : given)
      c == '|' ? static_cast<void>(texts.emplace_back()) : texts.back().push_back(c);
    return refused_words(texts);
  };
  const auto value_of = [](const std::string& option) {
    return [option](const std::string& value) {
      const std::string must = option + " must be ",
                        file = "{\"" + option + "\":\"" + value + "\"}",
                        said = refused_words({"--" + option + "=" + value});
      const std::string what = said.substr(0, said.find(": got "));
      CHECK_THAT(said, StartsWith("--" + must));
      CHECK_THAT(refusal<FormatError>([&] { loaded(file); }),
                 StartsWith("line 1, column ") &&
                     ContainsSubstring(": " + what.substr(2) + ": got '" + value));
      return what.substr(std::min(must.size() + 2, what.size()));
    };
  };
  testing::check_given(FLEDGE_SOURCE_DIR "/tests/examples/support/refused.txt",
                       {{"arguments", arguments},
                        {"value of --count", value_of("count")},
                        {"value of --seed", value_of("seed")},
                        {"value of --rate", value_of("rate")},
                        {"value of --order", value_of("order")},
                        {"value of --with", value_of("with")}});
  CHECK_THROWS_AS(config_from({"--nonsense", "--count", "x", "-h"}), HelpRequest);
  CHECK_THROWS_AS(config_from({"--only", "--help-all"}), HelpRequest);
  // Whatever is typed, the message is short and harmless.
  for (const std::string& hostile :
       {std::string("\x1b]0;title\x07\n\r\t\x7f\xC2\x9B\xFF\xE2\x80\xAE"),
        "a" + std::string(3000, '\xCC'), std::string(1000000, '9'), std::string("%s%n\n\n")})
    for (const char* before : {"--", "--count=", "--loud=", "-"}) {
      const std::string message = refused_words({before + hostile});
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
    parse_words(options, {"--threads", std::to_string(count)});
    CHECK(threads() == std::min(count, processors));
  }
  set_threads(before);
  std::ifstream file(FLEDGE_SOURCE_DIR "/CMakeLists.txt", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string version = version_of("fledge train").substr(std::string("fledge ").size());
  CHECK_THAT(text, ContainsSubstring("project(fledge VERSION " + version + " "));
  CHECK_THROWS_WITH(config_from({"--nonsense", "--version"}), Equals("train " + version + "\n"));
}
