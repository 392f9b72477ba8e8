#include "nn/io/json_reader.h"

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <limits>

#include "nn/io/utf8.h"

namespace fledge {

// The nodes stand in the order of the text: an array or object before what is in it, a key before
// its value. So the first child follows its parent, and `end` leads to the next one.
struct JsonValue::Tree {
  struct Node {
    std::uint32_t at = 0;   // its first byte in the text, which tells its kind
    std::uint32_t end = 0;  // the first node behind it and behind all that is in it
  };

  std::string text;
  std::vector<Node> nodes;  // the whole is the first
  std::size_t values = 0;

  std::size_t add(std::size_t at);
  // The value at the cursor, with all in it.
  void read(JsonCursor& cursor, int depth);
  void require_keys_once(std::size_t object) const;

  std::string_view from(std::size_t index) const {
    return std::string_view(text).substr(nodes[index].at);
  }
  Kind kind_of(std::size_t index) const;
  std::string string_of(std::size_t index) const { return JsonCursor(from(index)).string(); }
  bool is_key(std::size_t index, std::string_view key) const;
  [[noreturn]] void fail(std::size_t index, const std::string& problem) const {
    throw JsonError(text, nodes[index].at, problem);
  }
};

namespace {

constexpr int most_levels = 64;
static_assert(most_json_bytes < std::numeric_limits<std::uint32_t>::max());

// The number of a JSON token, whatever the locale writes for a point.
double to_double(std::string token) {
  char* end = nullptr;
  double value = std::strtod(token.c_str(), &end);
  if (*end == '.') {
    token.replace(static_cast<std::size_t>(end - token.c_str()), 1,
                  std::localeconv()->decimal_point);
    value = std::strtod(token.c_str(), &end);
  }
  return value;
}

}  // namespace

std::size_t JsonValue::Tree::add(std::size_t at) {
  const std::size_t index = nodes.size();
  nodes.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(index + 1)});
  return index;
}

void JsonValue::Tree::read(JsonCursor& cursor, int depth) {
  const char first = cursor.next();
  if (depth > most_levels) cursor.fail("more than 64 levels");
  if (values == most_json_values) cursor.fail("more than 4,000,000 values");
  ++values;
  const std::size_t index = add(cursor.at());
  if (first == '{') {
    cursor.members([&](const std::string&) {
      add(cursor.key_at());
      read(cursor, depth + 1);
    });
  } else if (first == '[') {
    cursor.elements([&] { read(cursor, depth + 1); });
  } else if (first == '"') {
    cursor.string();
  } else if (!cursor.take_word("true") && !cursor.take_word("false") && !cursor.take_word("null")) {
    if (first != '-' && (first < '0' || first > '9')) cursor.fail("expected a value");
    cursor.number();
  }
  nodes[index].end = static_cast<std::uint32_t>(nodes.size());
  if (first == '{') require_keys_once(index);
}

void JsonValue::Tree::require_keys_once(std::size_t object) const {
  std::vector<std::pair<std::string_view, std::size_t>> sorted;  // keys and their values
  std::deque<std::string> unescaped;
  for (std::size_t key = object + 1; key < nodes[object].end; key = nodes[key + 1].end) {
    const std::string_view quoted = from(key).substr(1);
    std::string_view name = quoted.substr(0, quoted.find_first_of("\"\\"));
    if (quoted[name.size()] == '\\') name = unescaped.emplace_back(string_of(key));
    sorted.emplace_back(name, key + 1);
  }
  std::sort(sorted.begin(), sorted.end());
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != sorted.end())
    fail(std::next(twice)->second, "the key '" + escaped_name(twice->first) + "' stands twice");
}

JsonValue::Kind JsonValue::Tree::kind_of(std::size_t index) const {
  switch (text[nodes[index].at]) {
    case 'n':
      return Kind::null;
    case 't':
    case 'f':
      return Kind::boolean;
    case '"':
      return Kind::string;
    case '[':
      return Kind::array;
    case '{':
      return Kind::object;
    default:
      return Kind::number;
  }
}

// An escape takes at most 6 bytes a character: a longer text is another key.
bool JsonValue::Tree::is_key(std::size_t index, std::string_view key) const {
  const std::string_view quoted = from(index).substr(1, 6 * key.size() + 1);
  const std::size_t end = quoted.find_first_of("\"\\");
  if (end == std::string_view::npos) return false;
  return quoted[end] == '"' ? quoted.substr(0, end) == key : string_of(index) == key;
}

JsonValue read_json(std::string_view text) {
  if (text.size() > most_json_bytes)
    throw JsonError(text, 0,
                    "the text has " + std::to_string(text.size()) + " bytes; at most " +
                        std::to_string(most_json_bytes) + " are read");
  if (text.substr(0, 3) == "\xEF\xBB\xBF")
    throw JsonError(text, 0, "the text begins with a byte order mark");
  const std::size_t wrong = first_not_utf8(text);
  if (wrong != std::string_view::npos) throw JsonError(text, wrong, "not UTF-8");
  auto tree = std::make_shared<JsonValue::Tree>();
  tree->text = text;
  // Each value but the first, and each key, stands behind one of these.
  const auto begins = std::count_if(text.begin(), text.end(), [](char c) {
    return c == ',' || c == ':' || c == '[' || c == '{';
  });
  tree->nodes.reserve(std::min(static_cast<std::size_t>(begins) + 1, 2 * most_json_values));
  JsonCursor cursor(tree->text);
  tree->read(cursor, 1);
  cursor.end();
  return JsonValue(std::move(tree), 0);
}

JsonValue::Kind JsonValue::kind() const { return tree_ ? tree_->kind_of(index_) : Kind::null; }

void JsonValue::require_kind(Kind expected, const char* name) const {
  if (kind() != expected) fail(std::string("must be ") + name + ": got " + shown());
}

std::size_t JsonValue::end_of(Kind expected, const char* name) const {
  require_kind(expected, name);
  return tree_->nodes[index_].end;
}

std::size_t JsonValue::behind(std::size_t index) const { return tree_->nodes[index].end; }

std::string_view JsonValue::token() const { return JsonCursor(tree_->from(index_)).number(); }

std::string JsonValue::shown() const {
  switch (kind()) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return boolean() ? "true" : "false";
    case Kind::number:
      return escaped_name(token());
    case Kind::string:
      return "'" + escaped_name(string()) + "'";
    case Kind::array:
      return "an array";
    case Kind::object:
      return "an object";
  }
  return "";
}

bool JsonValue::boolean() const {
  require_kind(Kind::boolean, "true or false");
  return tree_->from(index_)[0] == 't';
}

std::string JsonValue::string() const {
  require_kind(Kind::string, "a string");
  return tree_->string_of(index_);
}

double JsonValue::number() const {
  require_kind(Kind::number, "a number");
  const double value = to_double(std::string(token()));
  if (!std::isfinite(value)) fail("must fit into a double: got " + shown());
  return value;
}

std::int64_t JsonValue::integer(std::int64_t low, std::int64_t high) const {
  const std::string_view text = kind() == Kind::number ? token() : "";
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (kind() != Kind::number || error != std::errc() || end != text.data() + text.size() ||
      value < low || value > high)
    fail("must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
         ": got " + shown());
  return value;
}

std::vector<JsonValue> JsonValue::items() const {
  std::vector<JsonValue> found;
  each_item([&](const JsonValue& item) { found.push_back(item); });
  return found;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  std::vector<std::pair<std::string, JsonValue>> found;
  const std::size_t end = end_of(Kind::object, "an object");
  for (std::size_t key = index_ + 1; key < end; key = behind(key + 1))
    found.emplace_back(tree_->string_of(key), JsonValue(tree_, key + 1));
  return found;
}

JsonValue JsonValue::find(std::string_view wanted) const {
  const std::size_t end = end_of(Kind::object, "an object");
  for (std::size_t key = index_ + 1; key < end; key = behind(key + 1))
    if (tree_->is_key(key, wanted)) return JsonValue(tree_, key + 1);
  return {};
}

bool JsonValue::has(std::string_view key) const { return find(key).tree_ != nullptr; }

JsonValue JsonValue::operator[](std::string_view key) const {
  JsonValue found = find(key);
  if (!found.tree_) fail("must have a key '" + escaped_name(key) + "'");
  return found;
}

void JsonValue::allow_only(std::initializer_list<std::string_view> keys) const {
  const std::size_t end = end_of(Kind::object, "an object");
  for (std::size_t key = index_ + 1; key < end; key = behind(key + 1))
    if (std::none_of(keys.begin(), keys.end(),
                     [&](std::string_view known) { return tree_->is_key(key, known); }))
      tree_->fail(key + 1, "the key '" + JsonValue(tree_, key + 1).path() + "' is not known");
}

std::string JsonValue::path() const {
  if (!tree_ || index_ == 0) return "the text";
  std::string path;
  for (std::size_t here = 0; here != index_;) {
    const bool object = tree_->kind_of(here) == Kind::object;
    std::size_t child = here + 1, number = 0;
    for (; behind(object ? child + 1 : child) <= index_; ++number)
      child = behind(object ? child + 1 : child);
    if (!object)
      path += "[" + std::to_string(number) + "]";
    else
      path += (path.empty() ? "" : ".") + escaped_name(tree_->string_of(child));
    here = object ? child + 1 : child;
  }
  return path;
}

void JsonValue::fail(const std::string& problem) const {
  if (!tree_) throw JsonError("", 0, path() + " " + problem);
  tree_->fail(index_, path() + " " + problem);
}

}  // namespace fledge
