#include "nn/io/json.h"

#include <charconv>
#include <iterator>

#include "nn/io/checksum.h"

namespace fledge {

namespace {

template <class Number>
std::string shortest(Number value, int fewest, int most) {
  if (!std::isfinite(value)) return "null";
  char text[longest_number];
  char* end = text;
  for (int digits = fewest; digits <= most; ++digits) {
    end = write_number(text, value, digits);
    if (static_cast<Number>(number_of(std::string(text, end))) == value) break;
  }
  return {text, end};
}

}  // namespace

std::string json_number(double value) { return shortest(value, 15, 17); }
std::string json_number(float value) { return shortest(value, 6, 9); }

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const char32_t c = point.value;
    if (c == '"' || c == '\\') {
      result += {'\\', static_cast<char>(c)};
    } else if (is_misleading(c) || c == '<' || c == '>' || c == '&') {
      result += "\\u" + hexadecimal(c & 0xFFFF).substr(12);
    } else {
      result += point.valid ? text.substr(at, point.bytes) : "\xEF\xBF\xBD";
    }
    at += point.bytes;
  }
  return result += '"';
}

Json Json::object(const Members& members) {
  Json result;
  result.text_ = "{";
  for (const auto& [key, value] : members)
    result.text_.append(result.text_.size() > 1 ? "," : "")
        .append(json_string(key))
        .append(":")
        .append(value.text_);
  result.text_ += '}';
  return result;
}

std::string Json::indented() const {
  std::string lines;
  std::size_t depth = 0;
  bool in_string = false;
  const auto next_line = [&] { lines.append(1, '\n').append(2 * depth, ' '); };
  for (std::size_t at = 0; at < text_.size(); ++at) {
    const char c = text_[at], after = text_[at + 1];  // behind the text stands a 0
    if (!in_string && (c == '}' || c == ']')) --depth, next_line();
    lines += c;
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') lines += text_[++at];
    if (in_string) continue;
    if ((c == '{' && after == '}') || (c == '[' && after == ']'))
      lines += text_[++at];
    else if (c == '{' || c == '[')
      ++depth, next_line();
    else if (c == ',')
      next_line();
    else if (c == ':')
      lines += ' ';
  }
  return lines;
}

namespace {

// A key of an object that is being read. The keys of the open objects are all the memory that
// reading takes.
struct Key {
  std::uint64_t hash;
  std::size_t at;  // the position of its first byte
};

// Moves over JSON text, and throws where the text is not JSON.
struct Scanner {
  std::string_view text;
  std::size_t at = 0;
  bool checks = false;  // whether the text may be no JSON, or have an object with a key twice

  [[noreturn]] void fail(const std::string& problem, const char* advice = damage_advice) const {
    const std::string_view before = text.substr(0, at);
    const auto lines = std::count(before.begin(), before.end(), '\n');
    std::size_t column = 1;
    for (const char c : before.substr(before.rfind('\n') + 1))   // npos + 1 is 0
      column += (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // the first byte of a code point
    throw FormatError(
        "line " + std::to_string(lines + 1) + ", column " + std::to_string(column) + ": " + problem,
        text.starts_with(pointer_beginning) ? pointer_advice : advice);
  }

  char peek() const { return at < text.size() ? text[at] : '\0'; }
  // Skips white space and returns the next byte; '\0' at the end.
  char next() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at;
    return peek();
  }
  bool take(std::string_view word) {
    next();
    if (text.substr(at, word.size()) != word) return false;
    at += word.size();
    return true;
  }

  void digits() {
    if (peek() < '0' || peek() > '9') fail("expected a digit");
    while (peek() >= '0' && peek() <= '9') ++at;
  }
  std::string_view number() {
    const std::size_t begin = at;
    if (peek() == '-') ++at;
    const std::size_t whole = at;
    digits();
    if (text[whole] == '0' && at > whole + 1) fail("a number does not begin with 0");
    if (peek() == '.') {
      ++at;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at;
      if (peek() == '+' || peek() == '-') ++at;
      digits();
    }
    return text.substr(begin, at - begin);
  }

  char32_t four_hex_digits() {
    char32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at) {
      constexpr std::string_view hex = "0123456789abcdefABCDEF";
      const std::size_t digit = at < text.size() ? hex.find(text[at]) : std::string::npos;
      if (digit == std::string::npos) fail("expected four hexadecimal digits");
      value = value * 16 + static_cast<char32_t>(digit < 16 ? digit : digit - 6);
    }
    return value;
  }
  // Moves over an escape, from the byte after the backslash, and returns what it means.
  std::string escape() {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (peek() != 'u') {
      const std::size_t which = at < text.size() ? letters.find(text[at]) : std::string::npos;
      if (which == std::string::npos) fail("no such escape");
      ++at;
      return std::string(1, meanings[which]);
    }
    ++at;
    char32_t point = four_hex_digits();
    if (point >= 0xD800 && point < 0xDC00 && text.substr(at, 2) == "\\u") {
      at += 2;
      const char32_t low = four_hex_digits();
      if (low < 0xDC00 || low >= 0xE000) fail("half of a surrogate pair");
      point = 0x10000 + ((point & 0x3FF) << 10) + (low & 0x3FF);
    } else if (point >= 0xD800 && point < 0xE000) {
      fail("half of a surrogate pair");
    }
    return utf8_of(point);
  }
  std::string string() {
    if (!take("\"")) fail("expected a string");
    std::string value;
    for (;;) {
      const std::size_t begin = at;
      while (at < text.size() && text[at] != '"' && text[at] != '\\' &&
             static_cast<unsigned char>(text[at]) >= 0x20)
        ++at;
      value += text.substr(begin, at - begin);
      if (at == text.size()) fail("a string does not end");
      if (text[at] != '"' && text[at] != '\\') fail("a control character in a string");
      if (text[at++] == '"') return value;
      value += escape();
    }
  }

  std::string string_at(std::size_t position) const { return Scanner{text, position}.string(); }

  // Moves over an array or object. f(position of the key, position of the value) is called for each
  // child, until it returns false. In an array both are the position of the value.
  template <class F>
  void list(int depth, F f) {
    const bool is_object = text[at] == '{';
    const std::string_view end = is_object ? "}" : "]";
    ++at;
    if (take(end)) return;
    do {
      const char first = next();
      const std::size_t key = at;
      if (is_object) {
        if (first != '"') fail("expected a key in double quotes");
        skip_value(depth);
        if (!take(":")) fail("expected ':' after a key");
        next();
      }
      const std::size_t value = at;
      skip_value(depth + 1);
      if (!f(key, value)) return;
    } while (take(","));
    if (!take(end)) fail("expected ',' or '" + std::string(end) + "'");
  }

  // Sorts keys by their hashes, and keys of one hash by their text: equal keys are then neighbours.
  void require_different(std::vector<Key>& keys) const {
    std::sort(keys.begin(), keys.end(), [this](const Key& a, const Key& b) {
      return a.hash != b.hash ? a.hash < b.hash : string_at(a.at) < string_at(b.at);
    });
    const auto twice =
        std::adjacent_find(keys.begin(), keys.end(), [this](const Key& a, const Key& b) {
          return a.hash == b.hash && string_at(a.at) == string_at(b.at);
        });
    if (twice == keys.end()) return;
    const std::size_t later = std::max(twice->at, std::next(twice)->at);
    Scanner{text, later}.fail("the key " + in_quotes(string_at(later)) + " occurs twice");
  }

  // A text that was read is JSON: a value ends where its brackets do.
  void skip_checked_value() {
    int open = 0;
    do {
      const char c = text[at++];
      if (c == '"')
        for (; text[at++] != '"';) at += text[at - 1] == '\\' ? 1 : 0;
      else if (c == '{' || c == '[')
        ++open;
      else if (c == '}' || c == ']')
        --open;
      else if (open == 0)
        at = std::min(text.find_first_of(",]} \t\n\r", at), text.size());
    } while (open > 0);
  }

  void skip_value(int depth) {
    if (!checks) return skip_checked_value();
    constexpr int most_levels = 64;
    const char first = next();
    if (depth > most_levels) fail("more than 64 levels");
    if (first == '{') {
      std::vector<Key> keys;
      list(depth, [&](std::size_t key, std::size_t) {
        keys.push_back({hash_of(string_at(key)), key});
        return true;
      });
      require_different(keys);
    } else if (first == '[') {
      list(depth, [](std::size_t, std::size_t) { return true; });
    } else if (first == '"') {
      string();
    } else if (!take("true") && !take("false") && !take("null")) {
      if (first != '-' && (first < '0' || first > '9')) fail("expected a value");
      number();
    }
  }
};

}  // namespace

JsonValue read_json(std::string text, std::size_t most_bytes) {
  Scanner scanner{text, 0, true};
  if (text.size() > most_bytes)
    scanner.fail("the text has " + std::to_string(text.size()) + " bytes; at most " +
                 std::to_string(most_bytes) + " are read");
  if (text.starts_with("\xEF\xBB\xBF")) scanner.fail("the text begins with a byte order mark");
  const std::size_t wrong = first_not_utf8(text);
  if (wrong != std::string::npos) Scanner{text, wrong}.fail("not UTF-8");
  scanner.next();
  const std::size_t begin = scanner.at;
  scanner.skip_value(1);
  scanner.next();
  if (scanner.at != text.size()) scanner.fail("nothing may follow the value");
  return JsonValue(std::make_shared<const std::string>(std::move(text)), begin, "");
}

std::string JsonValue::shown() const {
  if (!text_) return "null";
  Scanner scanner{*text_, at_};
  scanner.skip_value(0);
  std::string value;  // without line ends and the blanks behind them, which are in no string
  for (bool skips = false; const char c : text_->substr(at_, scanner.at - at_)) {
    skips = c == '\n' || c == '\r' || c == '\t' || (skips && c == ' ');
    if (!skips) value += c;
  }
  return escaped_name(value);
}

// `firsts`: the bytes that a value of this kind can begin with.
void JsonValue::require_kind(std::string_view firsts, const char* name) const {
  if (firsts.find(first()) == std::string::npos) refuse(std::string("must be ") + name);
}

bool JsonValue::boolean() const {
  require_kind("tf", "true or false");
  return first() == 't';
}

std::string JsonValue::string() const {
  require_kind("\"", "a string");
  return Scanner{*text_, at_}.string();
}

double JsonValue::number() const {
  require_kind("-0123456789", "a number");
  const double value = number_of(std::string(Scanner{*text_, at_}.number()));
  if (std::isinf(value)) refuse("must fit into a double");
  return value;
}

std::int64_t JsonValue::integer(std::int64_t low, std::int64_t high) const {
  const std::string text = shown();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    refuse("must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return value;
}

JsonValue JsonValue::member(std::string_view key, std::size_t at) const {
  return JsonValue(text_, at, path_ + (path_.empty() ? "" : ".") + escaped_name(key));
}

void JsonValue::each_item(const std::function<void(const JsonValue&)>& f) const {
  require_kind("[", "an array");
  std::size_t number = 0;
  Scanner{*text_, at_}.list(0, [&](std::size_t, std::size_t at) {
    f(JsonValue(text_, at, path_ + "[" + std::to_string(number++) + "]"));
    return true;
  });
}

void JsonValue::each_member(
    const std::function<void(const std::string&, const JsonValue&)>& f) const {
  require_kind("{", "an object");
  Scanner scanner{*text_, at_};
  scanner.list(0, [&](std::size_t position, std::size_t at) {
    const std::string key = scanner.string_at(position);
    f(key, member(key, at));
    return true;
  });
}

JsonValue JsonValue::find(std::string_view key) const {
  require_kind("{", "an object");
  JsonValue found;
  Scanner scanner{*text_, at_};
  scanner.list(0, [&](std::size_t position, std::size_t at) {
    const bool is_found = scanner.string_at(position) == key;
    if (is_found) found = member(key, at);
    return !is_found;
  });
  return found;
}

JsonValue JsonValue::operator[](std::string_view key) const {
  JsonValue found = find(key);
  if (!found.text_) fail("must have a key " + in_quotes(key));
  return found;
}

void JsonValue::allow_only(const std::vector<std::string_view>& keys) const {
  each_member([&](const std::string& key, const JsonValue& value) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      Scanner{*text_, value.at_}.fail("the key '" + value.path() + "' is not known", "");
  });
}

void JsonValue::fail(const std::string& problem) const {
  const std::string sentence = path() + " " + problem;
  if (!text_) throw FormatError(sentence);
  Scanner{*text_, at_}.fail(sentence, "");
}

}  // namespace fledge
