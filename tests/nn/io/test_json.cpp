// JSON, written and read. What is accepted and refused is in tests/formats/json.txt, and how
// strings are written in texts.txt.
#include "nn/io/json.h"

#include <bit>
#include <clocale>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

#include "tests/support/catch.h"
#include "tests/support/json_reader.h"
#include "tests/support/refuses.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using testing::StrictJson;
using tests::refusal;

namespace {

std::string any_random_text(std::mt19937_64& random) {
  std::string text(random() % 12, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

Json random_json(std::mt19937_64& random, int depth) {
  const auto kind = random() % (depth < 6 ? 7 : 5);
  if (kind == 0) return nullptr;
  if (kind == 1) return random() % 2 == 0;
  if (kind == 2) return std::bit_cast<double>(random());
  if (kind == 3) return static_cast<std::int64_t>(random());
  if (kind == 4) return any_random_text(random);
  const auto count = random() % 5;
  if (kind == 5) {
    std::vector<Json> items;
    for (unsigned i = 0; i < count; ++i) items.push_back(random_json(random, depth + 1));
    return items;
  }
  std::vector<std::string> keys;
  for (unsigned i = 0; i < count; ++i) keys.push_back(any_random_text(random) + std::to_string(i));
  Json::Members members;
  for (const std::string& key : keys) members.emplace_back(key, random_json(random, depth + 1));
  return Json::object(members);
}

/// Whether another reader finds the same values in the same text.
bool same_values(const JsonValue& ours, const StrictJson& theirs) {
  if (ours.is_null() || theirs.is_null()) return ours.is_null() == theirs.is_null();
  bool same = true;
  std::size_t next = 0;
  if (ours.is_object()) {
    ours.each_member([&](const std::string& key, const JsonValue& value) {
      same = same && key == theirs.object().at(next).first &&
             same_values(value, theirs.object().at(next).second) && ours.has(key) &&
             same_values(ours[key], theirs[key]);
      ++next;
    });
    return same && next == theirs.object().size();
  }
  if (ours.is_array()) {
    ours.each_item([&](const JsonValue& value) {
      same = same && same_values(value, theirs.array().at(next++));
    });
    return same && next == theirs.array().size();
  }
  const char first = ours.shown()[0];
  if (first == 't' || first == 'f') return ours.boolean() == theirs.boolean();
  if (first == '"') return ours.string() == theirs.string();
  return ours.number() == theirs.number();
}

template <class F>
std::string wrong_access(F f) {
  return refusal<FormatError>(f);
}
std::string reading_json(const std::string& text) {
  return wrong_access([&] { read_json(text); });
}
bool accepted_json(const std::string& text) { return reading_json(text) == "<nothing was thrown>"; }
bool accepted_by_another(const std::string& text) {
  return refusal<testing::JsonError>([&] { testing::strict_json(text); }) == "<nothing was thrown>";
}

}  // namespace

TEST_CASE("json: numbers are short and read back exactly, whatever the locale") {
  const char* const before = std::setlocale(LC_NUMERIC, nullptr);
  const std::string kept = before == nullptr ? "C" : before;
  for (const char* locale : {"C", "de_DE.UTF-8", "fr_FR.UTF-8"}) {
    std::setlocale(LC_NUMERIC, locale);  // where it is not installed, nothing changes
    std::mt19937_64 random(1);
    int wrong = 0;
    for (int i = 0; i < 20'000; ++i) {
      // Any bits, subnormal numbers, and numbers of few digits.
      const std::uint64_t bits = random();
      for (const double value :
           {std::bit_cast<double>(bits), std::bit_cast<double>(bits >> 12),
            static_cast<double>(bits % 100'000) / 1000, std::numeric_limits<double>::max()}) {
        const std::string text = json_number(value);
        wrong += std::isfinite(value) ? read_json(text).number() != value : text != "null";
      }
      const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (std::isfinite(single))
        wrong += static_cast<float>(testing::strict_json(json_number(single)).number()) != single;
    }
    CHECK(wrong == 0);
  }
  std::setlocale(LC_NUMERIC, kept.c_str());
  CHECK(read_json("1e-400").number() == 0);
  CHECK_THAT(wrong_access([] { read_json("1e400").number(); }), EndsWith("double: got 1e400"));
}

TEST_CASE("json: no string commands or misleads a terminal, and each reads back") {
  int raw = 0, escaped = 0;
  for (char32_t c = 0; c < 0x3000; ++c) {
    const std::string text = utf8_of(c), written = json_string(text);
    raw += is_misleading(c) && written.find(text) != std::string::npos;
    escaped += is_misleading(c);
    if (testing::strict_json(written).string() != text) FAIL_CHECK(written);
  }
  CHECK(raw == 0);
  CHECK(escaped == 32 + 33 + 1 + 2 + 7 + 4);
}

TEST_CASE("json: values of each kind, in one line and with line ends") {
  using Row = std::pair<Json, const char*>;
  for (const auto& [json, text] :
       {Row(Json(), "null"), Row(nullptr, "null"), Row(false, "false"), Row(-5, "-5"),
        Row(std::uint64_t{18446744073709551615u}, "18446744073709551615"), Row(0.25f, "0.25"),
        Row(1.0 / 3, "0.3333333333333333"), Row("x", "\"x\""), Row(std::string("x"), "\"x\""),
        Row(std::string_view("x"), "\"x\""), Row(std::optional<int>(7), "7"),
        Row(std::optional<int>(), "null"),
        Row(std::vector<std::vector<double>>{{1, 2.5}, {}}, "[[1,2.5],[]]"),
        Row(std::vector<Json>{1, "x", nullptr}, "[1,\"x\",null]"), Row(Json::object({}), "{}"),
        Row(Json::object({{"a", "b"}, {"c", 1}}), R"({"a":"b","c":1})")})
    CHECK(json.text() == text);
  // Only what has a meaning in JSON: not a pointer, which would be true, and not one byte.
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Json, const int*>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Json, char>);
  const Json json = Json::object({{"name", "walk: {\"a\", [b]}\\"},
                                  {"list", std::vector<Json>{true, -5, Json::object({})}},
                                  {"none", std::vector<int>{}}});
  CHECK(json.indented() ==
        "{\n  \"name\": \"walk: {\\\"a\\\", [b]}\\\\\",\n  \"list\": [\n    true,\n    -5,\n"
        "    {}\n  ],\n  \"none\": []\n}");
}

TEST_CASE("json: whatever is written is read, in both layouts alike, and as another reader does") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    const Json json = random_json(random, 0);
    const StrictJson theirs = testing::strict_json(json.text());
    CHECK(same_values(read_json(json.text()), theirs));
    CHECK(same_values(read_json(json.indented()), theirs));
  }
}

TEST_CASE("json: every byte changed to every value, and every beginning") {
  const std::string whole = R"({"a": [1.5e3, -0, "ß\n\u12abc"], "b": {"c": null, "d": true}})";
  constexpr int step = testing::sanitized ? 15 : 1;  // 255 is among them
  std::size_t differ = 0, taken = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CHECK_FALSE(accepted_json(whole.substr(0, at)));
    for (int value = 0; value < 256; value += step) {
      std::string text = whole;
      text[at] = static_cast<char>(value);
      const bool ours = accepted_json(text);
      taken += ours;
      if (ours != accepted_by_another(text) && ++differ < 5) FAIL_CHECK(text);
    }
  }
  CHECK(differ == 0);
  CHECK(taken > (step == 1 ? 900 : 0));
}

TEST_CASE("json: a text is read to its limits of depth and size") {
  CHECK(accepted_json(std::string(64, '[') + std::string(64, ']')));
  for (const std::size_t levels : {65u, 10'000'000u})
    CHECK_THAT(reading_json(std::string(levels, '[')),
               StartsWith("line 1, column 65: ") && ContainsSubstring("64 levels"));
  CHECK_THAT(reading_json(std::string(most_json_bytes + 1, ' ')),
             ContainsSubstring("67108865 bytes") && ContainsSubstring("67108864"));
}

TEST_CASE("json: a value is refused as anything else, with its line, column and path") {
  const JsonValue all = read_json(
      R"({"yes": true, "no": false, "pi": 3.25, "n": -7, "s": "ß", "list": [1, [2, "x"]],
          "in": {"deep": {"k": null}}, "\u0062\u0069rd": [3, {"x": 4}], "bir": 2})");
  const auto item = [](const JsonValue& array, std::size_t number) {
    std::vector<JsonValue> items;
    array.each_item([&](const JsonValue& value) { items.push_back(value); });
    return items.at(number);
  };
  CHECK((all["n"].integer(-7, 7) == -7 && all.find("deep").is_null() && JsonValue().is_null()));
  CHECK(item(all["bird"], 1)["x"].path() == "bird[1].x");  // a key that is written with escapes
  CHECK_FALSE(all.has("bi"));
  all["in"].allow_only({"deep", "z"});
  const JsonValue list = item(all["list"], 1), in = all["in"];
  const auto as = [](const JsonValue& value, void (*access)(const JsonValue&)) {
    return wrong_access([&] { access(value); });
  };
  struct Access {
    std::string message;
    const char *place, *what;
  };
  for (const Access& wrong : std::vector<Access>{
           {as(all["yes"], [](auto& v) { v.number(); }), "1, column 9: yes", "number: got true"},
           {as(item(list, 1), [](auto& v) { v.boolean(); }), "1, column 75: list[1][1]",
            "true or false: got \"x\""},
           {as(in["deep"]["k"], [](auto& v) { v.string(); }), "2, column 32: in.deep.k",
            "string: got null"},
           {as(all["n"], [](auto& v) { v.each_item([](auto&) {}); }), "1, column 45: n",
            "array: got -7"},
           {as(list, [](auto& v) { v.each_member([](auto&, auto&) {}); }), "1, column 71: list[1]",
            "object: got [2, \"x\"]"},
           {as(list, [](auto& v) { v["x"]; }), "1, column 71: list[1]", "object: got [2, \"x\"]"},
           {as(list, [](auto& v) { v.allow_only({}); }), "1, column 71: list[1]",
            "object: got [2, \"x\"]"},
           {as(in, [](auto& v) { v["k"]; }), "2, column 17: in", "'k'"},
           {as(all, [](auto& v) { v["k"]; }), "1, column 1: the text", "'k'"},
           {as(in, [](auto& v) { v.integer(0, 1); }), "2, column 17: in",
            "from 0 to 1: got {\"deep\": {\"k\": null}}"},
           {as(all["s"], [](auto& v) { v.fail("is no word"); }), "1, column 54: s", "is no word"},
           {as(in, [](auto& v) { v.allow_only({"a"}); }), "2, column 26: the key 'in.deep'",
            "is not known"}})
    CHECK_THAT(wrong.message,
               StartsWith(std::string("line ") + wrong.place + " ") && EndsWith(wrong.what));
  JsonValue kept;  // outlives the text and the other values
  {
    const std::string text = R"({"a": {"b": "birds"}})";
    kept = read_json(text)["a"];
  }
  CHECK(kept["b"].string() == "birds");
  CHECK(wrong_access([] {
          located_at("the header", [] { throw FormatError("line 1, column 2: not UTF-8"); });
        }) == "the header: line 1, column 2: not UTF-8");
  CHECK(located_at("the header", [] { return 7; }) == 7);
}

TEST_CASE("json: integers are whole, exact and in their range") {
  const auto most = std::numeric_limits<std::int64_t>::max();
  const auto whole = [&](const std::string& text, std::int64_t low = 0) {
    return read_json(text).integer(low, most);
  };
  CHECK(whole("9223372036854775807") == most);
  CHECK(whole("-9223372036854775808", -most - 1) == -most - 1);
  CHECK(whole("9007199254740993") == 9007199254740993);
  CHECK(whole("-0") == 0);
  for (const char* text :
       {"-1", "9223372036854775808", "\"abc\"", "1.5", "1.0", "\"\"", "\" 7\"", "\"7\"", "1e3",
        "1E0", "null", "true", "[7]", "1000000000000000000000"}) {
    INFO(text);
    CHECK_THAT(wrong_access([&] { whole(text); }),
               StartsWith("line 1, column 1: the text must be a whole number") &&
                   ContainsSubstring(std::to_string(most)));
  }
}
