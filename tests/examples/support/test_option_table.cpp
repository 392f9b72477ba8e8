// One table of options: what a row brings, in every place where options are used.
#include "examples/support/option_table.h"

#include <limits>

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
  bool loud = false;
  Order order = Order::sorted;
  Case letters = Case::kept;
  std::string folder;
  bool operator==(const Config&) const = default;
};

using Row = OptionRow<Config>;
constexpr auto lasting = Lifetime::lasting, may_change = Lifetime::may_change;

std::vector<OptionGroup<Config>> groups() {
  return {
      {"First",
       {Row("--count", "N", "how many", member_at(&Config::count), {1, 10}, lasting, {"count", 2}),
        Row("--rate", "X", "how fast", member_at(&Config::rate), {0, 1}, may_change, {"rate", 1}),
        Row("--order", "sorted|shuffled|reversed", "of the words", member_at(&Config::order), {},
            lasting, {"order", 4}),
        Row("--ignore-case", "", "letters", member_at(&Config::letters), {}, lasting,
            {"ignore_case", 3}),
        Row("--seed", "N", "of all draws", member_at(&Config::seed), {}, lasting, {"seed", 5})}},
      {"Second",
       {Row("-o, --out", "DIR", "where", member_at(&Config::folder)),
        Row("--waits", "N", "seconds", member_at(&Config::waits), {0, 9}),
        Row("--loud", "", "says more", member_at(&Config::loud))}}};
}

OptionTable<Config> table() { return OptionTable<Config>(groups()); }

/// The same with one row more.
OptionTable<Config> longer_table() {
  auto rows = groups();
  rows[0].rows.emplace_back("--added", "X", "a new option", member_at(&Config::added),
                            OptionLimits{0, 2}, lasting, SavedKey{"added"});
  return OptionTable<Config>(rows);
}

Options declared(const OptionTable<Config>& rows) {
  Options options("program", "Does it.");
  rows.declare(options);
  return options;
}

/// The config that these arguments give, and the names of the options that were given.
std::pair<Config, std::set<std::string>> read(const OptionTable<Config>& rows,
                                              std::vector<const char*> arguments) {
  Options options = declared(rows);
  arguments.insert(arguments.begin(), "program");
  options.parse(static_cast<int>(arguments.size()), arguments.data());
  Config config;
  auto given = rows.read(options, config);
  return {config, given};
}

std::string saved(const OptionTable<Config>& rows, const Config& config) {
  JsonWriter json;
  rows.save(json.begin_object(), config);
  return json.end_object().text();
}

Config loaded(const OptionTable<Config>& rows, const std::string& text,
              std::vector<std::string_view> other_keys = {}) {
  Config config;
  rows.load(read_json(text), config, std::move(other_keys));
  return config;
}

}  // namespace

TEST_CASE("option table: arguments set the members, and the rest keeps its default") {
  const auto [config, given] =
      read(table(), {"--count", "7", "--ignore-case", "--order=reversed", "-o", "run", "--loud",
                     "--seed", "18446744073709551615"});
  Config expected;
  expected.count = 7;
  expected.letters = Case::ignored;
  expected.order = Order::reversed;
  expected.folder = "run";
  expected.loud = true;
  expected.seed = std::numeric_limits<std::uint64_t>::max();
  CHECK((config == expected));
  CHECK((given == std::set<std::string>{"--count", "--ignore-case", "--loud", "--order", "--out",
                                        "--seed"}));
  CHECK((read(table(), {}).first == Config{}));
}

TEST_CASE("option table: help shows the rows by group, with the defaults of the struct") {
  CHECK_THAT(declared(table()).help(),
             ContainsSubstring("\n  First     --count N [3]  --rate X [0.5]\n"
                               "            --order sorted|shuffled|reversed [sorted]  "
                               "--ignore-case\n            --seed N [1]\n"
                               "  Second    -o DIR  --waits N [1]  --loud\n"));
  CHECK_THAT(declared(table()).help_all(), ContainsSubstring("-o, --out DIR"));
}

TEST_CASE("option table: what is saved stands in the order of its places, and is loaded again") {
  const auto config = read(table(), {"--count", "7", "--rate", "0.25", "--ignore-case", "--order",
                                     "shuffled", "--seed", "9", "--waits", "5"})
                          .first;
  const std::string text = saved(table(), config);
  CHECK(text == R"({"rate":0.25,"count":7,"ignore_case":true,"order":"shuffled","seed":"9"})");
  Config expected = config;
  expected.waits = 1;  // of the call alone
  CHECK((loaded(table(), text) == expected));
}

TEST_CASE("option table: a file is refused as the command line would be") {
  const auto wrong = [](const std::string& text) {
    return refusal<FormatError>([&] { loaded(table(), text); });
  };
  const std::string rest = R"("ignore_case":true,"order":"sorted","seed":"9"})";
  CHECK(wrong(R"({"rate":0.5,"count":11,)" + rest) ==
        "line 1, column 21: count must be a whole number from 1 to 10: got 11");
  CHECK(wrong(R"({"rate":1.5,"count":1,)" + rest) ==
        "line 1, column 9: rate must be a number from 0 to 1");
  CHECK_THAT(wrong(R"({"count":1,)" + rest), ContainsSubstring("'rate'"));
  CHECK_THAT(wrong(R"({"new":1,"rate":0.5,"count":1,)" + rest),
             ContainsSubstring("the key 'new' is not known"));
  CHECK((loaded(table(), R"({"new":1,"rate":0.5,"count":3,)" + rest, {"new"}).seed == 9));
  CHECK_THAT(wrong(R"({"rate":0.5,"count":1,"ignore_case":true,"order":"up","seed":"9"})"),
             ContainsSubstring("order must be one of sorted|shuffled|reversed"));
  CHECK_THAT(wrong(R"({"rate":0.5,"count":1,"ignore_case":true,"order":"sorted","seed":"-9"})"),
             ContainsSubstring("seed must be a whole number from 0 in quotes"));
}

TEST_CASE(
    "option table: a resumed run keeps what lasts, and takes what may change and the call's") {
  const auto run = read(table(), {"--count", "7", "--rate", "0.25", "--waits", "5"}).first;
  const auto [call, given] = read(table(), {"--rate", "0.75", "--loud"});
  const Config resumed = table().resume(run, call, given);
  CHECK(resumed.count == 7);
  CHECK(resumed.rate == 0.75);
  CHECK(resumed.waits == 1);
  CHECK(resumed.loud);
  CHECK(table().first_given(lasting, given).empty());
  const auto [same, nothing] = read(table(), {});
  CHECK(table().resume(run, same, nothing).rate == 0.25);
  const auto [wrong, more] = read(table(), {"--loud", "--seed", "2", "--count", "2"});
  CHECK(table().first_given(lasting, more) == "--count");
}

TEST_CASE("option table: a new option is one row: parsed, explained, saved, loaded and resumed") {
  const OptionTable<Config> rows = longer_table();
  const auto [config, given] = read(rows, {"--added", "1.5"});
  CHECK(config.added == 1.5);
  CHECK_THAT(declared(rows).help(), ContainsSubstring("--added X [0.25]"));
  CHECK_THAT(declared(rows).help_all(), ContainsSubstring("a new option [0.25]"));
  const std::string text = saved(rows, config);
  CHECK_THAT(text, EndsWith(R"(,"added":1.5})"));
  CHECK((loaded(rows, text) == config));
  CHECK_THAT(refusal<UsageError>([&] {
               read(rows, {"--added", "3"});
             }),
             ContainsSubstring("--added '3' is out of range"));
  CHECK(rows.first_given(lasting, given) == "--added");
  CHECK(rows.resume(config, Config{}, {}).added == 1.5);
  // A file that was written before the row was there has the default.
  CHECK(loaded(rows, saved(table(), config)).added == 0.25);
}
