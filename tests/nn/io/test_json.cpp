#include "nn/io/json.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>

#include "tests/support/catch.h"
#include "tests/support/json_reader.h"

using namespace fledge;
using testing::JsonError;
using testing::strict_json;

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

}  // namespace

TEST_CASE("json: numbers are short and read back exactly") {
  for (const auto& [written, text] : {std::pair{json_number(0.1), "0.1"},
                                      {json_number(1.0), "1"},
                                      {json_number(-0.0), "-0"},
                                      {json_number(1e22), "1e+22"},
                                      {json_number(0.1 + 0.2), "0.30000000000000004"},
                                      {json_number(1.0 / 3), "0.3333333333333333"},
                                      {json_number(0.1f), "0.1"},
                                      {json_number(1.0f / 3), "0.33333334"},
                                      {json_number(16777216.0f), "16777216"},
                                      {json_number(std::nan("")), "null"},
                                      {json_number(-INFINITY), "null"},
                                      {json_number(static_cast<float>(INFINITY)), "null"}})
    CHECK(written == text);
  std::mt19937_64 random(1);
  int wrong = 0;
  for (int i = 0; i < 50000; ++i) {
    const double value = std::bit_cast<double>(random());
    const float single = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(value)) wrong += strict_json(json_number(value)).number() != value;
    if (std::isfinite(single)) wrong += std::strtof(json_number(single).c_str(), nullptr) != single;
  }
  CHECK(wrong == 0);
  for (const double value :
       {std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
        std::numeric_limits<double>::denorm_min(), -std::numeric_limits<double>::epsilon()})
    CHECK(std::strtod(json_number(value).c_str(), nullptr) == value);
}

TEST_CASE("json: no string commands or misleads a terminal, and each reads back") {
  int raw = 0, escaped = 0;
  for (char32_t c = 0; c < 0x3000; ++c) {
    const std::string text = utf8_of(c), written = json_string(text);
    raw += is_misleading(c) && written.find(text) != std::string::npos;
    escaped += is_misleading(c);
    if (strict_json(written).string() != text) FAIL_CHECK(written);
  }
  CHECK(raw == 0);
  CHECK(escaped == 32 + 33 + 1 + 2 + 7 + 4);
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (int k = 0; k < 20; ++k) text += static_cast<char>(random() % 0x80);
    CHECK(strict_json(json_string(text)).string() == text);
  }
}

TEST_CASE("json: values of each kind") {
  for (const auto& [json, text] : {std::pair<Json, const char*>{Json(), "null"},
                                   {nullptr, "null"},
                                   {false, "false"},
                                   {-5, "-5"},
                                   {std::uint64_t{18446744073709551615u}, "18446744073709551615"},
                                   {0.25f, "0.25"},
                                   {1.0 / 3, "0.3333333333333333"},
                                   {"x", "\"x\""},
                                   {std::string("x"), "\"x\""},
                                   {std::string_view("x"), "\"x\""},
                                   {std::optional<int>(7), "7"},
                                   {std::optional<int>(), "null"},
                                   {std::vector<std::vector<double>>{{1, 2.5}, {}}, "[[1,2.5],[]]"},
                                   {std::vector<Json>{1, "x", nullptr}, "[1,\"x\",null]"},
                                   {Json::object({}), "{}"},
                                   {Json::object({{"a", "b"}, {"c", 1}}), R"({"a":"b","c":1})"}})
    CHECK(json.text() == text);
  // Only what has a meaning in JSON: not a pointer, which would be true, and not one byte.
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Json, const int*>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Json, char>);
}

TEST_CASE("json: in one line, and with line ends") {
  const Json json = Json::object({{"name", "walk: {\"a\", [b]}\\"},
                                  {"list", std::vector<Json>{true, -5, Json::object({})}},
                                  {"none", std::vector<int>{}}});
  CHECK(json.text() == R"({"name":"walk: {\"a\", [b]}\\","list":[true,-5,{}],"none":[]})");
  CHECK(json.indented() ==
        "{\n  \"name\": \"walk: {\\\"a\\\", [b]}\\\\\",\n  \"list\": [\n    true,\n    -5,\n"
        "    {}\n  ],\n  \"none\": []\n}");
  CHECK(Json("x").indented() == "\"x\"");
}

TEST_CASE("json: whatever is written is read, in both layouts alike") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    const Json json = random_json(random, 0);
    CHECK_NOTHROW(strict_json(json.text()));
    CHECK_NOTHROW(strict_json(json.indented()));
    std::string line;  // the indented text without the white space between its values
    bool in_string = false, is_escaped = false;
    for (const char c : json.indented()) {
      if (in_string || (c != ' ' && c != '\n')) line += c;
      if (c == '"' && !is_escaped) in_string = !in_string;
      is_escaped = c == '\\' && !is_escaped;
    }
    CHECK(line == json.text());
  }
}

TEST_CASE("json reader: values") {
  const testing::StrictJson json =
      strict_json(" {\"a\" : [1, -0.5e+1, true, null], \"\\u00e4\\n\": \"\\ud83d\\udc26\"}\n");
  CHECK(json["a"].array().size() == 4);
  CHECK(json["a"][1].number() == -5);
  CHECK(json["a"][2].boolean());
  CHECK(json["a"][3].is_null());
  CHECK(json["ä\n"].string() == "🐦");
  CHECK(json.contains("a"));
  CHECK_FALSE(json.contains("b"));
  CHECK_THROWS_AS(json["b"], JsonError);
  CHECK_THROWS_AS(json["a"][4], JsonError);
  CHECK_THROWS_AS(json["a"].number(), JsonError);
}
