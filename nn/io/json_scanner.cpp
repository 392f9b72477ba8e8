#include "nn/io/json_scanner.h"

#include <algorithm>

namespace fledge {

namespace {

void append_utf8(char32_t point, std::string& to) {
  const auto tail = [&](int shift) { to += static_cast<char>(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) {
    to += static_cast<char>(point);
  } else if (point < 0x800) {
    to += static_cast<char>(0xC0 | point >> 6), tail(0);
  } else if (point < 0x10000) {
    to += static_cast<char>(0xE0 | point >> 12), tail(6), tail(0);
  } else {
    to += static_cast<char>(0xF0 | point >> 18), tail(12), tail(6), tail(0);
  }
}

}  // namespace

void JsonScanner::fail(const std::string& problem) const {
  const std::string_view before = text_.substr(0, at_);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  std::size_t column = 1;
  for (const char c : before.substr(before.rfind('\n') + 1))   // npos + 1 is 0
    column += (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // the first byte of a code point
  throw FormatError("line " + std::to_string(lines + 1) + ", column " + std::to_string(column) +
                    ": " + problem);
}

char JsonScanner::next() {
  while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  return peek();
}

bool JsonScanner::take(char c) {
  if (next() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

bool JsonScanner::take_word(std::string_view word) {
  next();
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

void JsonScanner::require_end() {
  next();
  if (at_ != text_.size()) fail("nothing may follow the value");
}

void JsonScanner::digits() {
  if (peek() < '0' || peek() > '9') fail("expected a digit");
  while (peek() >= '0' && peek() <= '9') ++at_;
}

std::string_view JsonScanner::number() {
  next();
  const std::size_t begin = at_;
  if (peek() == '-') ++at_;
  const std::size_t whole = at_;
  digits();
  if (text_[whole] == '0' && at_ > whole + 1) fail("a number does not begin with 0");
  if (peek() == '.') {
    ++at_;
    digits();
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    digits();
  }
  return text_.substr(begin, at_ - begin);
}

char32_t JsonScanner::four_hex_digits() {
  char32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    constexpr std::string_view hex = "0123456789abcdefABCDEF";
    const std::size_t digit = at_ < text_.size() ? hex.find(text_[at_]) : std::string_view::npos;
    if (digit == std::string_view::npos) fail("expected four hexadecimal digits");
    value = value * 16 + static_cast<char32_t>(digit < 16 ? digit : digit - 6);
  }
  return value;
}

// The scanner is at the byte after the backslash.
void JsonScanner::escape(std::string& to) {
  constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
  if (peek() != 'u') {
    const std::size_t which =
        at_ < text_.size() ? letters.find(text_[at_]) : std::string_view::npos;
    if (which == std::string_view::npos) fail("no such escape");
    to += meanings[which];
    ++at_;
    return;
  }
  ++at_;
  char32_t point = four_hex_digits();
  if (point >= 0xD800 && point < 0xDC00 && text_.substr(at_, 2) == "\\u") {
    at_ += 2;
    const char32_t low = four_hex_digits();
    if (low < 0xDC00 || low >= 0xE000) fail("half of a surrogate pair");
    point = 0x10000 + ((point & 0x3FF) << 10) + (low & 0x3FF);
  } else if (point >= 0xD800 && point < 0xE000) {
    fail("half of a surrogate pair");
  }
  append_utf8(point, to);
}

std::string JsonScanner::string() {
  if (!take('"')) fail("expected a string");
  std::string value;
  for (;;) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20)
      ++at_;
    value += text_.substr(begin, at_ - begin);
    if (at_ == text_.size()) fail("a string does not end");
    if (text_[at_] != '"' && text_[at_] != '\\') fail("a control character in a string");
    if (text_[at_++] == '"') return value;
    escape(value);
  }
}

}  // namespace fledge
