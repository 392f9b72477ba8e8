#include "nn/io/json_reader.h"

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>

#include "nn/io/utf8.h"

namespace fledge::inline FLEDGE_BUILD {

struct JsonValue::Node {
  Kind kind = Kind::null;
  bool truth = false;
  std::size_t at = 0, parent = 0;
  std::string key;                    // in an object
  std::string text;                   // of a string; of a number, as it is written
  std::vector<std::size_t> children;  // in the text's order
};

struct JsonValue::Tree {
  std::string text;
  std::vector<Node> nodes;  // the whole is the first

  // The value at the cursor, with all in it.
  std::size_t read(JsonCursor& cursor, std::size_t parent, const std::string& key, int depth);
  void require_keys_once(std::size_t object) const;
  [[noreturn]] void fail(std::size_t index, const std::string& problem) const {
    throw JsonError(text, nodes[index].at, problem);
  }
};

namespace {

constexpr int most_levels = 64;
constexpr std::size_t most_values = 1'000'000;

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

std::size_t JsonValue::Tree::read(JsonCursor& cursor, std::size_t parent, const std::string& key,
                                  int depth) {
  const char first = cursor.next();
  if (depth > most_levels) cursor.fail("more than 64 levels");
  const std::size_t index = nodes.size();
  if (index == most_values) cursor.fail("more than 1,000,000 values");
  nodes.emplace_back();
  Node node;
  node.at = cursor.at(), node.parent = parent, node.key = key;
  if (first == '{') {
    node.kind = Kind::object;
    cursor.members([&](const std::string& name) {
      node.children.push_back(read(cursor, index, name, depth + 1));
    });
  } else if (first == '[') {
    node.kind = Kind::array;
    cursor.elements([&] { node.children.push_back(read(cursor, index, "", depth + 1)); });
  } else if (first == '"') {
    node.kind = Kind::string;
    node.text = cursor.string();
  } else if (cursor.take_word("true") || cursor.take_word("false")) {
    node.kind = Kind::boolean;
    node.truth = first == 't';
  } else if (!cursor.take_word("null")) {
    if (first != '-' && (first < '0' || first > '9')) cursor.fail("expected a value");
    node.kind = Kind::number;
    node.text = cursor.number();
  }
  nodes[index] = std::move(node);
  if (nodes[index].kind == Kind::object) require_keys_once(index);
  return index;
}

void JsonValue::Tree::require_keys_once(std::size_t object) const {
  std::vector<std::size_t> sorted = nodes[object].children;
  const auto key = [&](std::size_t child) -> const std::string& { return nodes[child].key; };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  const auto twice = std::adjacent_find(
      sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) { return key(a) == key(b); });
  if (twice != sorted.end())
    fail(*std::next(twice), "the key '" + shown_name(key(*twice)) + "' stands twice");
}

JsonValue read_json(std::string_view text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF")
    throw JsonError(text, 0, "the text begins with a byte order mark");
  const std::size_t wrong = first_not_utf8(text);
  if (wrong != std::string_view::npos) throw JsonError(text, wrong, "not UTF-8");
  auto tree = std::make_shared<JsonValue::Tree>();
  tree->text = text;
  JsonCursor cursor(tree->text);
  tree->read(cursor, 0, "", 1);
  cursor.end();
  return JsonValue(std::move(tree), 0);
}

const JsonValue::Node& JsonValue::node() const {
  static const Node nothing;
  return tree_ ? tree_->nodes[index_] : nothing;
}

JsonValue::Kind JsonValue::kind() const { return node().kind; }

const JsonValue::Node& JsonValue::as(Kind kind, const char* expected) const {
  if (node().kind != kind) fail(std::string("must be ") + expected + ": got " + shown());
  return node();
}

std::string JsonValue::shown() const {
  switch (node().kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return node().truth ? "true" : "false";
    case Kind::number:
      return shown_name(node().text);
    case Kind::string:
      return "'" + shown_name(node().text) + "'";
    case Kind::array:
      return "an array";
    case Kind::object:
      return "an object";
  }
  return "";
}

bool JsonValue::boolean() const { return as(Kind::boolean, "true or false").truth; }

const std::string& JsonValue::string() const { return as(Kind::string, "a string").text; }

double JsonValue::number() const {
  const double value = to_double(as(Kind::number, "a number").text);
  if (!std::isfinite(value)) fail("must fit into a double: got " + shown());
  return value;
}

std::int64_t JsonValue::integer(std::int64_t low, std::int64_t high) const {
  const std::string& text = node().text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (node().kind != Kind::number || error != std::errc() || end != text.data() + text.size() ||
      value < low || value > high)
    fail("must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
         ": got " + shown());
  return value;
}

std::vector<JsonValue> JsonValue::items() const {
  std::vector<JsonValue> found;
  for (const std::size_t child : as(Kind::array, "an array").children)
    found.push_back(JsonValue(tree_, child));
  return found;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  std::vector<std::pair<std::string, JsonValue>> found;
  for (const std::size_t child : as(Kind::object, "an object").children)
    found.emplace_back(tree_->nodes[child].key, JsonValue(tree_, child));
  return found;
}

JsonValue JsonValue::find(std::string_view key) const {
  for (const std::size_t child : as(Kind::object, "an object").children)
    if (tree_->nodes[child].key == key) return JsonValue(tree_, child);
  return {};
}

bool JsonValue::has(std::string_view key) const { return find(key).tree_ != nullptr; }

JsonValue JsonValue::operator[](std::string_view key) const {
  JsonValue found = find(key);
  if (!found.tree_) fail("must have a key '" + shown_name(key) + "'");
  return found;
}

void JsonValue::allow_only(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : members())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      tree_->fail(value.index_, "the key '" + value.path() + "' is not known");
}

std::string JsonValue::path() const {
  if (!tree_ || index_ == 0) return "the text";
  std::string path;
  for (std::size_t at = index_; at != 0;) {
    const Node& here = tree_->nodes[at];
    const Node& parent = tree_->nodes[here.parent];
    if (parent.kind == Kind::object) {
      path = shown_name(here.key) + path;
      if (here.parent != 0) path = "." + path;
    } else {
      const auto& all = parent.children;
      path = "[" + std::to_string(std::find(all.begin(), all.end(), at) - all.begin()) + "]" + path;
    }
    at = here.parent;
  }
  return path;
}

void JsonValue::fail(const std::string& problem) const {
  throw JsonError(tree_ ? std::string_view(tree_->text) : std::string_view(), node().at,
                  path() + " " + problem);
}

}  // namespace fledge::inline FLEDGE_BUILD
