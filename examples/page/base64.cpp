#include "examples/page/base64.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "engine/base/errors.h"

namespace fledge::page {

namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void append_little_endian(std::string& bytes, std::uint32_t number, int count) {
  for (int i = 0; i < count; ++i)
    bytes += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
}

}  // namespace

std::string base64(const std::string& bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;  // 24 bits: four digits of six bits
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= count ? digits[group >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

std::string base64_decoded(const std::string& text) {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const bool is_whole = text.size() % 4 == 0;
  require<ValueError>(is_whole, "base64", "the text must have groups of four: got ", text.size(),
                      " characters");
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t place = at + i;
      const std::size_t digit = place >= text.size() - padding ? 0 : digits.find(text[place]);
      require<ValueError>(digit != std::string_view::npos, "base64",
                          "has a character that is no digit");
      group = group << 6 | static_cast<std::uint32_t>(digit);
    }
    for (int i = 0; i < 3; ++i)
      bytes += static_cast<char>(static_cast<unsigned char>(group >> (16 - 8 * i)));
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

std::vector<double> floats_of_base64(const std::string& text) {
  const std::string bytes = base64_decoded(text);
  std::vector<double> numbers;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t bits = 0;
    for (std::size_t i = 4; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[at + i]);
    float number = 0;
    std::memcpy(&number, &bits, sizeof number);
    numbers.push_back(number);
  }
  return numbers;
}

std::string base64(const std::vector<std::uint16_t>& numbers) {
  std::string bytes;
  for (const std::uint16_t number : numbers) append_little_endian(bytes, number, 2);
  return base64(bytes);
}

std::string base64(const std::vector<float>& numbers) {
  std::string bytes;
  for (const float number : numbers) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    append_little_endian(bytes, bits, 4);
  }
  return base64(bytes);
}

std::string base64(const std::vector<double>& numbers) {
  return base64(std::vector<float>(numbers.begin(), numbers.end()));
}

std::uint16_t share_in_16_bits(double share) {
  return static_cast<std::uint16_t>(std::lround(65535 * std::clamp(share, 0.0, 1.0)));
}

}  // namespace fledge::page
