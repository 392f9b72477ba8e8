// builds: f64
#include "nn/io/json_cursor.h"

#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

std::string string_in(const std::string& text) {
  JsonCursor cursor(text);
  std::string found = cursor.string();
  cursor.end();
  return found;
}
std::string number_in(const std::string& text) {
  JsonCursor cursor(text);
  const std::string found(cursor.number());
  cursor.end();
  return found;
}

}  // namespace

TEST_CASE("json cursor: strings, their escapes undone") {
  for (const auto& [text, value] :
       {std::pair<std::string, std::string>{R"("")", ""},
        {R"( "birds" )", "birds"},
        {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
        {R"("\u0041\u00e9\u6F22\ud83d\udc26")", "Aé漢🐦"},
        {R"("\uD800\uDC00\udbff\uDFFF\ud7ff\ue000")", "𐀀\U0010FFFF\uD7FF\uE000"},
        {R"("\u0000x")", std::string("\0x", 2)},
        {"\"\x7f é\"", "\x7f é"}})
    CHECK(string_in(text) == value);
  for (const auto& [text, problem] :
       {std::pair<const char*, const char*>{"\"a", "line 1, column 3: a string does not end"},
        {"\"a\\", "line 1, column 4: no such escape"},
        {"\"\\x\"", "line 1, column 3: no such escape"},
        {"\"\\u12x4\"", "line 1, column 6: expected four hexadecimal digits"},
        {"\"\\ud83d\"", "line 1, column 8: half of a surrogate pair"},
        {"\"\\ud83d\\ud83d\"", "line 1, column 14: half of a surrogate pair"},
        {"\"\\udc26\"", "line 1, column 8: half of a surrogate pair"},
        {"\"\n\"", "line 1, column 2: a control character in a string"},
        {"x", "line 1, column 1: expected a string"},
        {"\"\" \"", "line 1, column 4: nothing may follow the value"}}) {
    INFO(text);
    CHECK(refusal<JsonError>([&, bad = text] { string_in(bad); }) == problem);
  }
}

TEST_CASE("json cursor: numbers as they are written") {
  for (const char* text :
       {"0", "-0", "10", "-1.50", "0.1e5", "1E+2", "1e-2", "123456789012345678901"})
    CHECK(number_in(text) == text);
  for (const char* text : {"", "-", "+1", "01", "-01", ".5", "1.", "1.e2", "1e", "1e+", "0x10",
                           "1 2", "NaN", "Infinity", "--1", "1,"})
    CHECK_THAT(refusal<JsonError>([&] { number_in(text); }), StartsWith("line 1, column "));
}

TEST_CASE("json cursor: objects and arrays, one piece after the other") {
  JsonCursor cursor(" { \"a\" : [ 1 , true ] , \"b\" : { } , \"c\":[],\"d\":null} ");
  std::string said;
  cursor.members([&](const std::string& key) {
    said += key + " ";
    if (key == "b")
      cursor.members([&](const std::string&) { said += "never"; });
    else if (!cursor.take_word("null"))
      cursor.elements(
          [&] { said += cursor.take_word("true") ? "yes " : std::string(cursor.number()) + " "; });
  });
  cursor.end();
  CHECK(said == "a 1 yes b c d ");
  for (const auto& [text, problem] :
       {std::pair<const char*, const char*>{"", "line 1, column 1: expected an object"},
        {"[]", "line 1, column 1: expected an object"},
        {"{\n 1:2}", "line 2, column 2: expected a key in double quotes"},
        {"{\"ß\" 2}", "line 1, column 6: expected ':' after a key"},
        {"{\"a\":1\r\n\r\n\"b\"}", "line 3, column 1: expected ',' or '}'"},
        {"{\"a\":1,}", "line 1, column 8: expected a key in double quotes"},
        {"{\"a\":1", "line 1, column 7: expected ',' or '}'"}}) {
    INFO(text);
    CHECK(refusal<JsonError>([&, bad = text] {
            JsonCursor at(bad);
            at.members([&](const std::string&) { at.number(); });
          }) == problem);
  }
  CHECK(refusal<JsonError>([] { JsonCursor("{}").elements([] {}); }) ==
        "line 1, column 1: expected an array");
  CHECK(refusal<JsonError>([] {
          JsonCursor at("[1 1]");
          at.elements([&] { at.number(); });
        }) == "line 1, column 4: expected ',' or ']'");
}

TEST_CASE("json cursor: a zero byte is no end") {
  JsonCursor cursor(std::string_view("\0", 1));
  CHECK(cursor.next() == '\0');
  CHECK_FALSE(cursor.at_value());
  CHECK(refusal<JsonError>([] { JsonCursor(std::string_view("\0", 1)).end(); }) ==
        "line 1, column 1: nothing may follow the value");
}
