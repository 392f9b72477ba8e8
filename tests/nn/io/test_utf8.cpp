#include "nn/io/utf8.h"

#include "tests/support/catch.h"

using namespace fledge;

namespace {

std::string encoded(char32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
}

/// How many of the `count` texts made by `text_of` are one valid code point of `bytes` bytes.
template <class TextOf>
int valid_of(std::size_t bytes, int count, TextOf text_of) {
  int valid = 0;
  for (int i = 0; i < count; ++i) {
    const CodePoint point = code_point_at(text_of(i), 0);
    valid += point.valid && point.bytes == bytes;
  }
  return valid;
}

}  // namespace

TEST_CASE("utf8: every Unicode scalar value is read back, no surrogate is") {
  int wrong = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    const std::string text = encoded(c);
    const CodePoint point = code_point_at(text, 0);
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    const bool read = point.valid && point.value == c && point.bytes == text.size();
    wrong += read == surrogate || utf8_of(c) != text;
  }
  CHECK(wrong == 0);
}

TEST_CASE("utf8: nothing else is valid") {
  char pair[2];
  CHECK(valid_of(2, 0x10000, [&](int i) {
          pair[0] = static_cast<char>(i >> 8);
          pair[1] = static_cast<char>(i);
          return std::string_view(pair, 2);
        }) == 0x800 - 0x80);
  char triple[3];
  CHECK(valid_of(3, 0x400000, [&](int i) {
          triple[0] = static_cast<char>(0xC0 | i >> 16);
          triple[1] = static_cast<char>(i >> 8);
          triple[2] = static_cast<char>(i);
          return std::string_view(triple, 3);
        }) == 0x10000 - 0x800 - 0x800);
  for (const char* text : {"\x80", "\xBF", "\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xED\xA0\x80",
                           "\xF0\x80\x80\xAF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    const CodePoint point = code_point_at(text, 0);
    CHECK_FALSE(point.valid);
    CHECK(point.value == 0xFFFD);
    CHECK(point.bytes == 1);
  }
}

TEST_CASE("utf8: a truncated sequence takes what it has, and the next character stands") {
  CHECK(code_point_at("\xE2\x82", 0).bytes == 2);
  CHECK(code_point_at("\xE2\x82x", 0).bytes == 2);
  CHECK(code_point_at("\xF0\x9F\x90", 0).bytes == 3);
  CHECK(code_point_at("\xF0\x9F\x90\xA6", 0).value == 0x1F426);
  CHECK(code_point_at("a\xC3", 1).bytes == 1);
  CHECK_FALSE(code_point_at(std::string_view("\xC3\0", 2), 0).valid);
}
