#include "nn/io/json_reader.h"

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <deque>

#include "nn/io/json_scanner.h"

namespace fledge {

// The nodes are in the order of the text: an array or object before its elements, a key before its
// value. So the first child is the node after its parent, and `end` of a child is its next sibling.
struct JsonValue::Tree {
  struct Node {
    std::uint32_t at = 0;   // the place of its first byte, which determines its kind
    std::uint32_t end = 0;  // the first node after it and after its children
  };

  std::string text;
  std::vector<Node> nodes;  // the first is the whole text
  std::size_t values = 0, most_values = 0;

  std::size_t add(std::size_t at);
  void read_value(JsonScanner& scanner, int depth);
  void require_unique_keys(std::size_t object) const;

  std::string_view from(std::size_t index) const {
    return std::string_view(text).substr(nodes[index].at);
  }
  std::string string_of(std::size_t index) const { return JsonScanner(from(index)).string(); }
  bool is_key(std::size_t index, std::string_view key) const;
  [[noreturn]] void fail(std::size_t index, const std::string& problem) const {
    JsonScanner(text, nodes[index].at).fail(problem);
  }
};

namespace {

constexpr int most_levels = 64;

// The number of a JSON token. strtod() expects the decimal separator of the locale.
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

void JsonValue::Tree::read_value(JsonScanner& scanner, int depth) {
  const char first = scanner.next();
  if (depth > most_levels) scanner.fail("more than 64 levels");
  if (++values > most_values) scanner.fail("more than " + std::to_string(most_values) + " values");
  const std::size_t index = add(scanner.at());
  if (first == '{') {
    scanner.list('{', '}', [&] {
      if (scanner.next() != '"') scanner.fail("expected a key in double quotes");
      add(scanner.at());
      scanner.string();
      if (!scanner.take(':')) scanner.fail("expected ':' after a key");
      read_value(scanner, depth + 1);
    });
  } else if (first == '[') {
    scanner.list('[', ']', [&] { read_value(scanner, depth + 1); });
  } else if (first == '"') {
    scanner.string();
  } else if (!scanner.take_word("true") && !scanner.take_word("false") &&
             !scanner.take_word("null")) {
    if (first != '-' && (first < '0' || first > '9')) scanner.fail("expected a value");
    scanner.number();
  }
  nodes[index].end = static_cast<std::uint32_t>(nodes.size());
  if (first == '{') require_unique_keys(index);
}

void JsonValue::Tree::require_unique_keys(std::size_t object) const {
  std::vector<std::pair<std::string_view, std::size_t>>
      sorted;                       // keys, and the nodes of their values
  std::deque<std::string> decoded;  // keys that have escapes
  for (std::size_t key = object + 1; key < nodes[object].end; key = nodes[key + 1].end) {
    const std::string_view quoted = from(key).substr(1);
    std::string_view name = quoted.substr(0, quoted.find_first_of("\"\\"));
    if (quoted[name.size()] == '\\') name = decoded.emplace_back(string_of(key));
    sorted.emplace_back(name, key + 1);
  }
  std::sort(sorted.begin(), sorted.end());
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != sorted.end())
    fail(std::next(twice)->second, "the key " + in_quotes(twice->first) + " stands twice");
}

// An escaped character takes at most 6 bytes. So at most 6 bytes per byte of the key are compared.
bool JsonValue::Tree::is_key(std::size_t index, std::string_view key) const {
  const std::string_view quoted = from(index).substr(1, 6 * key.size() + 1);
  const std::size_t end = quoted.find_first_of("\"\\");
  if (end == std::string_view::npos) return false;
  return quoted[end] == '"' ? quoted.substr(0, end) == key : string_of(index) == key;
}

JsonValue read_json(std::string_view text, std::size_t most_bytes, std::size_t most_values) {
  const JsonScanner start(text);
  if (text.size() > most_bytes)
    start.fail("the text has " + std::to_string(text.size()) + " bytes; at most " +
               std::to_string(most_bytes) + " are read");
  if (text.substr(0, 3) == "\xEF\xBB\xBF") start.fail("the text begins with a byte order mark");
  const std::size_t wrong = first_not_utf8(text);
  if (wrong != std::string_view::npos) JsonScanner(text, wrong).fail("not UTF-8");
  auto tree = std::make_shared<JsonValue::Tree>();
  tree->text = text;
  tree->most_values = most_values;
  // Each key, and each value but the first, follows one of these: this bounds the number of nodes.
  const auto begins = std::count_if(text.begin(), text.end(), [](char c) {
    return c == ',' || c == ':' || c == '[' || c == '{';
  });
  tree->nodes.reserve(std::min(static_cast<std::size_t>(begins) + 1, 2 * most_values));
  JsonScanner scanner(tree->text);
  tree->read_value(scanner, 1);
  scanner.require_end();
  return JsonValue(std::move(tree), 0);
}

JsonValue::Kind JsonValue::kind() const {
  switch (tree_ ? tree_->from(index_)[0] : 'n') {
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

void JsonValue::require_kind(Kind expected) const {
  constexpr const char* names[] = {"null",     "true or false", "a number",
                                   "a string", "an array",      "an object"};
  if (kind() != expected)
    fail(std::string("must be ") + names[static_cast<int>(expected)] + ": got " + shown());
}

std::size_t JsonValue::end_of(Kind expected) const {
  require_kind(expected);
  return behind(index_);
}

std::size_t JsonValue::behind(std::size_t index) const { return tree_->nodes[index].end; }
std::string_view JsonValue::token() const { return JsonScanner(tree_->from(index_)).number(); }
std::string JsonValue::decoded() const { return tree_->string_of(index_); }

std::string JsonValue::shown() const {
  const Kind kind_here = kind();
  if (kind_here == Kind::array) return "an array";
  if (kind_here == Kind::object) return "an object";
  if (kind_here == Kind::string) return in_quotes(decoded());
  if (kind_here == Kind::number) return escaped_name(token());
  return kind_here == Kind::null ? "null" : boolean() ? "true" : "false";
}

bool JsonValue::boolean() const {
  require_kind(Kind::boolean);
  return tree_->from(index_)[0] == 't';
}

std::string JsonValue::string() const {
  require_kind(Kind::string);
  return decoded();
}

double JsonValue::number() const {
  require_kind(Kind::number);
  const double value = to_double(std::string(token()));
  if (!std::isfinite(value)) fail("must fit into a double: got " + shown());
  return value;
}

std::int64_t JsonValue::integer(std::int64_t low, std::int64_t high) const {
  const std::string_view text = kind() == Kind::number ? token() : "";
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < low ||
      value > high)
    fail("must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
         ": got " + shown());
  return value;
}

JsonValue JsonValue::find(std::string_view wanted) const {
  const std::size_t end = end_of(Kind::object);
  for (std::size_t key = index_ + 1; key < end; key = behind(key + 1))
    if (tree_->is_key(key, wanted)) return JsonValue(tree_, key + 1);
  return {};
}

bool JsonValue::has(std::string_view key) const { return find(key).tree_ != nullptr; }

JsonValue JsonValue::operator[](std::string_view key) const {
  JsonValue found = find(key);
  if (!found.tree_) fail("must have a key " + in_quotes(key));
  return found;
}

void JsonValue::allow_only(const std::vector<std::string_view>& keys) const {
  const std::size_t end = end_of(Kind::object);
  for (std::size_t key = index_ + 1; key < end; key = behind(key + 1))
    if (std::none_of(keys.begin(), keys.end(),
                     [&](std::string_view known) { return tree_->is_key(key, known); }))
      tree_->fail(key + 1, "the key '" + JsonValue(tree_, key + 1).path() + "' is not known");
}

std::string JsonValue::path() const {
  std::string path;
  for (std::size_t here = 0; here != index_;) {
    const std::size_t key = tree_->from(here)[0] == '{' ? 1 : 0;  // nodes before each value
    std::size_t child = here + 1, number = 0;
    for (; behind(child + key) <= index_; ++number) child = behind(child + key);
    if (key == 0)
      path += "[" + std::to_string(number) + "]";
    else
      path += (path.empty() ? "" : ".") + escaped_name(tree_->string_of(child));
    here = child + key;
  }
  return path.empty() ? "the text" : path;
}

void JsonValue::fail(const std::string& problem) const {
  const std::string sentence = path() + " " + problem;
  if (!tree_) throw FormatError(sentence);
  tree_->fail(index_, sentence);
}

}  // namespace fledge
