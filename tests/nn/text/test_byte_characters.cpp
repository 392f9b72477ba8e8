#include "nn/text/tokenizer_json.h"

#include <set>

#include "nn/io/utf8.h"
#include "tests/support/catch.h"

using namespace fledge;

TEST_CASE("byte characters: the table of GPT-2's files") {
  CHECK(characters_of_bytes(" the\n") == "ĠtheĊ");
  CHECK(characters_of_bytes("!~") == "!~");
  CHECK(characters_of_bytes({"\0\x20\x7f\xa0\xad", 5}) == "Ā\u0120\u0121\u0142\u0143");
  CHECK(characters_of_bytes("鳥") == "é³¥");
  std::string characters;
  std::set<std::string> different;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    const std::string character = characters_of_bytes(bytes);
    different.insert(character);
    characters += character;
    const CodePoint point = code_point_at(character, 0);
    CHECK(point.bytes == character.size());
    CHECK_FALSE(is_misleading(point.value));
    CHECK(bytes_of_characters(character) == bytes);
  }
  CHECK(different.size() == 256);
  CHECK(bytes_of_characters(characters)->size() == 256);
}

TEST_CASE("byte characters: other characters stand for no byte") {
  CHECK(bytes_of_characters("") == "");
  for (const char* wrong : {"a b", "\n", "\u0144", "鳥", "\xff", "\u00AD", "\u00A0"})
    CHECK_FALSE(bytes_of_characters(wrong).has_value());
}
