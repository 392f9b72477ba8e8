#include "nn/io/json_scanner.h"

#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

std::string string_in(const std::string& text) {
  JsonScanner scanner(text);
  std::string found = scanner.string();
  scanner.require_end();
  return found;
}
std::string number_in(const std::string& text) {
  JsonScanner scanner(text);
  const std::string found(scanner.number());
  scanner.require_end();
  return found;
}

}  // namespace

TEST_CASE("json scanner: strings, their escapes undone") {
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
    CHECK(refusal<FormatError>([&, bad = text] { string_in(bad); }) == problem);
  }
}

TEST_CASE("json scanner: numbers as they are written") {
  for (const char* text :
       {"0", "-0", "10", "-1.50", "0.1e5", "1E+2", "1e-2", "123456789012345678901"})
    CHECK(number_in(text) == text);
  for (const char* text : {"", "-", "+1", "01", "-01", ".5", "1.", "1.e2", "1e", "1e+", "0x10",
                           "1 2", "NaN", "Infinity", "--1", "1,"})
    CHECK_THAT(refusal<FormatError>([&] { number_in(text); }), StartsWith("line 1, column "));
}

TEST_CASE("json scanner: lists, one piece after the other") {
  JsonScanner scanner(" [ 1 , true , [ ] ,null] ");
  std::string said;
  scanner.list('[', ']', [&] {
    if (scanner.next() == '[')
      scanner.list('[', ']', [&] { said += "never"; });
    else if (!scanner.take_word("null"))
      said += scanner.take_word("true") ? "yes " : std::string(scanner.number()) + " ";
  });
  scanner.require_end();
  CHECK(said == "1 yes ");
  for (const auto& [text, problem] :
       {std::pair<const char*, const char*>{"[1 1]", "line 1, column 4: expected ',' or ']'"},
        {"[1\r\n\r\n1]", "line 3, column 1: expected ',' or ']'"},
        {"[1,]", "line 1, column 4: expected a digit"},
        {"[1", "line 1, column 3: expected ',' or ']'"}}) {
    INFO(text);
    CHECK(refusal<FormatError>([&, bad = text] {
            JsonScanner at(bad);
            at.list('[', ']', [&] { at.number(); });
          }) == problem);
  }
}

TEST_CASE("json scanner: a zero byte is no end") {
  JsonScanner scanner(std::string_view("\0", 1));
  CHECK(scanner.next() == '\0');
  CHECK(refusal<FormatError>([] { JsonScanner(std::string_view("\0", 1)).require_end(); }) ==
        "line 1, column 1: nothing may follow the value");
}
