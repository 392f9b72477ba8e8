
#include <clocale>
#include <limits>

#include "nn/io/json.h"
#include "tests/support/catch.h"
#include "tests/support/json_reader.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using tests::refusal;

namespace {

template <class F>
std::string wrong_access(F f) {
  return refusal<FormatError>(f);
}
std::string reading_json(const std::string& text) {
  return wrong_access([&] { read_json(text); });
}
std::vector<std::string> keys_of(const JsonValue& object) {
  std::vector<std::string> keys;
  object.each_member([&](const std::string& key, const JsonValue&) { keys.push_back(key); });
  return keys;
}
std::vector<JsonValue> items_of(const JsonValue& array) {
  std::vector<JsonValue> items;
  array.each_item([&](const JsonValue& item) { items.push_back(item); });
  return items;
}
bool accepted_json(const std::string& text) { return reading_json(text) == "<nothing was thrown>"; }
bool accepted_by_another(const std::string& text) {
  try {
    testing::read_json(text);
    return true;
  } catch (const testing::JsonError&) {
    return false;
  }
}

}  // namespace

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
  CHECK_THROWS_WITH(testing::strict_json(std::string(100000, '[')), ContainsSubstring("too deep"));
}

TEST_CASE("json: values as what they are, and refused as anything else") {
  const JsonValue all = read_json(
      R"({"yes": true, "no": false, "pi": 3.25, "n": -7, "s": "ß", "list": [1, [2, "x"]],
          "in": {"deep": {"k": null}}})");
  CHECK((all["yes"].boolean() && !all["no"].boolean()));
  CHECK(all["pi"].number() == 3.25);
  CHECK(all["n"].number() == -7);
  CHECK(all["n"].integer(-7, 7) == -7);
  CHECK(all["s"].string() == "ß");
  CHECK(items_of(all["list"]).size() == 2);
  CHECK(items_of(items_of(all["list"])[1])[1].string() == "x");
  CHECK(all["in"]["deep"]["k"].is_null());
  CHECK(all.has("in"));
  CHECK_FALSE(all.has("deep"));
  CHECK(all.find("deep").is_null());
  CHECK(keys_of(all) == std::vector<std::string>{"yes", "no", "pi", "n", "s", "list", "in"});
  CHECK((all["in"].is_object() && !all["list"].is_object()));
  CHECK(JsonValue().is_null());

  const JsonValue list = items_of(all["list"])[1], in = all["in"];
  const auto as = [](const JsonValue& value, void (*access)(const JsonValue&)) {
    return wrong_access([&] { access(value); });
  };
  struct Access {
    std::string message;
    const char *place, *what;
  };
  for (const Access& wrong : std::vector<Access>{
           {as(all["yes"], [](auto& v) { v.number(); }), "1, column 9: yes", "number: got true"},
           {as(items_of(list)[1], [](auto& v) { v.boolean(); }), "1, column 75: list[1][1]",
            "true or false: got \"x\""},
           {as(in["deep"]["k"], [](auto& v) { v.string(); }), "2, column 32: in.deep.k",
            "string: got null"},
           {as(all["n"], [](auto& v) { items_of(v); }), "1, column 45: n", "array: got -7"},
           {as(list, [](auto& v) { keys_of(v); }), "1, column 71: list[1]",
            "object: got [2, \"x\"]"},
           {as(list, [](auto& v) { v["x"]; }), "1, column 71: list[1]", "object: got [2, \"x\"]"},
           {as(in, [](auto& v) { v["k"]; }), "2, column 17: in", "'k'"},
           {as(all, [](auto& v) { v["k"]; }), "1, column 1: the text", "'k'"},
           {as(in, [](auto& v) { v.integer(0, 1); }), "2, column 17: in",
            "from 0 to 1: got {\"deep\": {\"k\": null}}"},
           {as(all["s"], [](auto& v) { v.fail("is no word"); }), "1, column 54: s", "is no word"}})
    CHECK_THAT(wrong.message,
               StartsWith(std::string("line ") + wrong.place + " ") && EndsWith(wrong.what));
  JsonValue kept;  // outlives the text and the other values
  {
    const std::string text = R"({"a": {"b": "birds"}})";
    kept = read_json(text)["a"];
  }
  CHECK(kept["b"].string() == "birds");
}

TEST_CASE("json: keys that are not known are named") {
  const JsonValue value = read_json("{\"a\": {\"b\": 1,\n\"\x7f\": 2}}");
  value.allow_only({"a", "z"});
  CHECK_THAT(wrong_access([&] { value.allow_only({}); }),
             StartsWith("line 1, column 7: ") && ContainsSubstring("'a'"));
  CHECK_THAT(wrong_access([&] {
               value["a"].allow_only({"a", "b"});
             }),
             StartsWith("line 2, column 6: ") && ContainsSubstring("'a.\\x7f'"));
  CHECK_THAT(wrong_access([&] { value["a"]["b"].allow_only({}); }),
             StartsWith("line 1, column 13: a.b must be an object"));
  // A key may be written with escapes, and be longer or shorter than another.
  const JsonValue escaped = read_json(R"({"\u0062\u0069rd": 1, "bir": 2, "birds": [3, {"x": 4}]})");
  CHECK(escaped["bird"].number() == 1);
  CHECK(escaped["bir"].number() == 2);
  CHECK_FALSE(escaped.has("bi"));
  CHECK(items_of(escaped["birds"])[1]["x"].path() == "birds[1].x");
  CHECK(keys_of(escaped).front() == "bird");
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

TEST_CASE("json: numbers read back what the writer wrote, whatever the locale") {
  const char* const before = std::setlocale(LC_NUMERIC, nullptr);
  const std::string kept = before == nullptr ? "C" : before;
  for (const char* locale : {"C", "de_DE.UTF-8", "fr_FR.UTF-8"}) {
    std::setlocale(LC_NUMERIC, locale);  // where it is not installed, nothing changes
    for (const double x : {0.1, -1.5e300, 5e-324, 1.0 / 3, 123456.0, 0.0})
      CHECK(read_json(json_number(x)).number() == x);
  }
  std::setlocale(LC_NUMERIC, kept.c_str());
  CHECK(read_json("1e-400").number() == 0);
  CHECK_THAT(wrong_access([] { read_json("1e400").number(); }), EndsWith("double: got 1e400"));
}

TEST_CASE("errors: located_at puts the place before the message, and returns what f returns") {
  CHECK(wrong_access([] {
          located_at("the header", [] { throw FormatError("line 1, column 2: not UTF-8"); });
        }) == "the header: line 1, column 2: not UTF-8");
  CHECK(located_at("the header", [] { return 7; }) == 7);
}
