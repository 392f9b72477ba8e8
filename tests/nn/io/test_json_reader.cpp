#include "nn/io/json_reader.h"

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

const char* const good_texts[] = {"null",
                                  " true ",
                                  "false\n",
                                  "0",
                                  "-0",
                                  "-0.0e-0",
                                  "1E+2",
                                  "0.1",
                                  "123456789012345678901234567890",
                                  "\"\"",
                                  "\"a\"",
                                  R"("\u0060\u012a\u12AB\ud801\udc37")",
                                  R"("\ud7ff\ue000\ud800\udc00\udbff\udfff\uffff")",
                                  R"("\"\\\/\b\f\n\r\t")",
                                  "\"\x7f\"",
                                  "\"漢🐦\"",
                                  "\"\u2028\"",
                                  R"("\u0000")",
                                  "[]",
                                  "[ ]",
                                  "[[]]",
                                  "[\"\"]",
                                  "[1\n,2\r\n,3\t]",
                                  "[null,1,\"1\",{}]",
                                  "{}",
                                  "{ }",
                                  R"({"":0})",
                                  R"({"a":[],"b":{"a":1}})",
                                  "\t\r\n {\"a\"\n:\n1} ",
                                  R"({"a":1,"A":2})"};

const std::string bad_texts[] = {
    // nothing, or more than one value
    "", " ", "1 2", "{}{}", "[]]", "[]a", "{}}", "\"\"x", std::string("1\0", 2), "[1]\xef\xbb\xbf",
    // arrays
    "[", "[1", "[1,", "[,1]", "[1,]", "[1,,2]", "[,]", "[1 2]", "[1:2]", "(1)", "[1}", "[*]",
    // objects
    "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{\"a\"}", "{\"a\" 1}",
    "{\"a\"::1}", "{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{\"a\":1 \"b\":2}", "{\"a\":1]",
    "{\"a\",1}", "{[:1}",
    // words
    "nul", "tru", "True", "NULL", "nan", "NaN", "Infinity", "-Infinity", "undefined", "truefalse",
    "nulll",
    // numbers
    "-", "+1", "01", "-01", "00", ".5", "-.5", "1.", "1.e2", "1e", "1E+", "1e1.5", "0x10", "0b1",
    "1_000", "1,000.0", "--1", "1-1", "1e-", "- 1", "\uff11", "1a",
    // strings
    "\"", "\"a", "'a'", "\"\n\"", "\"\t\"", std::string("\"\0\"", 3), R"("\x41")", R"("\a")",
    R"("\u12")", R"("\u12G4")", R"("\U0041")", R"("\")", R"("\ud800")", R"("\ud800\n")",
    R"("\ud800\u0041")", R"("\udc00\ud800")", R"("\u-123")", R"("\ud800\ue000")",
    R"("\ud800\udbff")", R"("\ud800\ud7ff")", R"("\udbff\ue000")", R"("\udbff\uffff")",
    R"("\udbff")", R"("\udc00")", R"("\udfff")", R"("\udfff\udc00")",
    // comments and other languages
    "/**/1", "1//", "#1", "{\"a\":1/**/}", "{\"a\":1;}", "<a/>", "a: 1",
    // bytes
    "\xef\xbb\xbf{}", "\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
    "\"\xe2\x82\"", "[1\xa0]", std::string("\xfe\xff\0[\0]", 6), "\v1", "\f1",
    "\u00a0"
    "1",
    "\u2060[]",
    // keys
    R"({"a":1,"a":1})", R"({"a":1,"b":{},"\u0061":2})", R"([{"x":{"a":1,"a":null}}])"};

}  // namespace

TEST_CASE("json: what is accepted and what is not, as another strict reader says too") {
  for (const std::string text : good_texts) {
    INFO(text);
    CHECK(reading_json(text) == "<nothing was thrown>");
    CHECK(accepted_by_another(text));
  }
  for (const std::string& text : bad_texts) {
    INFO(text);
    CHECK_THAT(reading_json(text), StartsWith("line "));
    CHECK_FALSE(accepted_by_another(text));
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

TEST_CASE("json: where a text stops being JSON") {
  CHECK(reading_json("") == "line 1, column 1: expected a value");
  CHECK(reading_json("{\n  \"é\": 1,\r\n  // no\n}") ==
        "line 3, column 3: expected a key in double quotes");
  CHECK(reading_json("{\"é\": nil}") == "line 1, column 7: expected a value");
  CHECK(reading_json("[\n1,\n\n2\n3]") == "line 5, column 1: expected ',' or ']'");
  CHECK(reading_json("{\"ß\" 2}") == "line 1, column 6: expected ':' after a key");
  CHECK(reading_json("{\"a\":1") == "line 1, column 7: expected ',' or '}'");
  CHECK(reading_json("\xef\xbb\xbf{}") ==
        "line 1, column 1: the text begins with a byte order mark");
  CHECK(reading_json("{\n\"\xff\"}") == "line 2, column 2: not UTF-8");
  CHECK(reading_json("{\"a\": {\"b\": 1,\n \"\\u0062\": 2}}") ==
        "line 2, column 2: the key 'b' occurs twice");
  // The hashes of these two keys are equal.
  const std::string one = "\"8yn0iYCKYHlIj4-BwPqk\":0", other = "\"GReLUrM4wMqfg9yzV3KQ\":0";
  CHECK(accepted_json("{" + one + "," + other + "}"));
  CHECK_THAT(reading_json("{" + one + "," + other + "," + one + "}"),
             StartsWith("line 1, column 52: the key '8yn0"));
  CHECK(accepted_json(std::string(64, '[') + std::string(64, ']')));
  CHECK(reading_json(std::string(65, '[')) == "line 1, column 65: more than 64 levels");
  CHECK(reading_json(std::string(10'000'000, '[')) == "line 1, column 65: more than 64 levels");
  CHECK(reading_json(std::string(most_json_bytes + 1, ' ')) ==
        "line 1, column 1: the text has 67108865 bytes; at most 67108864 are read");
  CHECK(reading_json(std::string("\0", 1)) == "line 1, column 1: expected a value");
  CHECK(reading_json(std::string("1\0", 2)) == "line 1, column 2: nothing may follow the value");
  CHECK(reading_json("[1\r\n\r\n1]") == "line 3, column 1: expected ',' or ']'");
}

TEST_CASE("json: strings are decoded, and the wrong byte of a string is named") {
  for (const auto& [text, value] :
       {std::pair<std::string, std::string>{R"("")", ""},
        {R"( "birds" )", "birds"},
        {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
        {R"("\u0041\u00e9\u6F22\ud83d\udc26")", "Aé漢🐦"},
        {R"("\uD800\uDC00\udbff\uDFFF\ud7ff\ue000")", "𐀀\U0010FFFF\uD7FF\uE000"},
        {R"("\u0Aa1\ubBCc\u2dDE\u0eFf")", "\u0aa1\ubbcc\u2dde\u0eff"},
        {R"("\u0000x")", std::string("\0x", 2)},
        {"\"\x7f é\"", "\x7f é"}})
    CHECK(read_json(text).string() == value);
  for (const auto& [text, problem] :
       {std::pair<const char*, const char*>{"\"a", "line 1, column 3: a string does not end"},
        {"\"a\\", "line 1, column 4: no such escape"},
        {"\"\\x\"", "line 1, column 3: no such escape"},
        {"\"\\u12x4\"", "line 1, column 6: expected four hexadecimal digits"},
        {"\"\\ud83d\"", "line 1, column 8: half of a surrogate pair"},
        {"\"\\ud83d\\ud83d\"", "line 1, column 14: half of a surrogate pair"},
        {"\"\\udc26\"", "line 1, column 8: half of a surrogate pair"},
        {"\"\n\"", "line 1, column 2: a control character in a string"},
        {"\"\" \"", "line 1, column 4: nothing may follow the value"}})
    CHECK(reading_json(text) == problem);
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

  const auto list = [&] { return items_of(all["list"])[1]; };
  CHECK(wrong_access([&] { all["yes"].number(); }) ==
        "line 1, column 9: yes must be a number: got true");
  CHECK(wrong_access([&] { items_of(list())[1].boolean(); }) ==
        "line 1, column 75: list[1][1] must be true or false: got \"x\"");
  CHECK(wrong_access([&] { all["in"]["deep"]["k"].string(); }) ==
        "line 2, column 32: in.deep.k must be a string: got null");
  CHECK(wrong_access([&] { items_of(all["n"]); }) ==
        "line 1, column 45: n must be an array: got -7");
  CHECK(wrong_access([&] { keys_of(list()); }) ==
        "line 1, column 71: list[1] must be an object: got [2, \"x\"]");
  CHECK(wrong_access([&] { list()["x"]; }) ==
        "line 1, column 71: list[1] must be an object: got [2, \"x\"]");
  CHECK(wrong_access([&] { all["in"]["k"]; }) == "line 2, column 17: in must have a key 'k'");
  CHECK(wrong_access([&] { all["k"]; }) == "line 1, column 1: the text must have a key 'k'");
  CHECK(wrong_access([&] { all["in"].integer(0, 1); }) ==
        "line 2, column 17: in must be a whole number from 0 to 1: got {\"deep\": {\"k\": null}}");
  CHECK(wrong_access([&] { all["s"].fail("is no word"); }) == "line 1, column 54: s is no word");
}

TEST_CASE("json: a value outlives the text and the other values") {
  JsonValue kept;
  {
    const std::string text = R"({"a": {"b": "birds"}})";
    kept = read_json(text)["a"];
  }
  CHECK(kept["b"].string() == "birds");
  CHECK(wrong_access([&] { kept["b"].number(); }) ==
        "line 1, column 13: a.b must be a number: got \"birds\"");
}

TEST_CASE("json: keys that are not known are named") {
  const JsonValue value = read_json("{\"a\": {\"b\": 1,\n\"\x7f\": 2}}");
  value.allow_only({"a", "z"});
  CHECK(wrong_access([&] { value.allow_only({}); }) ==
        "line 1, column 7: the key 'a' is not known");
  CHECK(wrong_access([&] {
          value["a"].allow_only({"a", "b"});
        }) == "line 2, column 6: the key 'a.\\x7f' is not known");
  CHECK(wrong_access([&] { value["a"]["b"].allow_only({}); }) ==
        "line 1, column 13: a.b must be an object: got 1");
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
               StartsWith("line 1, column 1: the text must be a whole number from 0 to " +
                          std::to_string(most) + ": got "));
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
  CHECK(wrong_access([] { read_json("1e400").number(); }) ==
        "line 1, column 1: the text must fit into a double: got 1e400");
}
