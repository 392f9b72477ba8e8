#include "nn/text/tokenizer_json.h"

namespace fledge {

namespace {

const std::array<char32_t, 256>& byte_characters() {
  static const auto table = [] {
    std::array<char32_t, 256> characters{};
    char32_t next = 256;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool is_printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
      characters[byte] = is_printable ? byte : next++;
    }
    return characters;
  }();
  return table;
}

// Throws unless the tokenizer follows this rule, the only one of its kind.
void require_rule(const JsonValue& json, const std::string& rule) {
  if (json["rule"].string() != rule) json["rule"].fail("must be \"" + rule + "\"");
}

// f(element) for each element of an array of at most 1,000,000 of them.
template <class F>
auto read_list(const JsonValue& json, const std::string& what, F f) {
  std::vector<decltype(f(json))> list;
  json.each_item([&](const JsonValue& item) {
    if (static_cast<Dim>(list.size()) == most_symbols)
      item.fail("is one more than the most " + what + ", 1,000,000");
    list.push_back(f(item));
  });
  return list;
}

std::vector<std::string> read_symbols(const JsonValue& json) {
  return read_list(json, "symbols", [](const JsonValue& symbol) { return symbol.string(); });
}

Tokenizer read_byte_pairs(const JsonValue& json) {
  json.allow_only({"kind", "rule", "vocab", "merges", "added_tokens"});
  require_rule(json, "gpt2");
  std::vector<std::string> symbols = read_symbols(json["vocab"]);
  const auto size = static_cast<Dim>(symbols.size());
  for (std::string& symbol : symbols) {
    const std::optional<std::string> bytes = bytes_of_characters(symbol);
    if (!bytes)
      json["vocab"].fail("has the symbol " + in_quotes(symbol) +
                         ", with a character that stands for no byte");
    symbol = *bytes;
  }
  const auto number = [&](const JsonValue& part) { return part.integer(0, size - 1); };
  BytePairs pairs(std::move(symbols),
                  read_list(json["merges"], "merges", [&](const JsonValue& item) {
                    const auto [left, right] = read_pair(item);
                    return Merge{number(left), number(right)};
                  }));
  std::vector<SpecialToken> special;
  if (json.has("added_tokens")) special = read_added_tokens(json["added_tokens"]);
  Tokenizer tokenizer(std::move(pairs), std::move(special));
  if (tokenizer.size() > size)
    json["vocab"].fail("has " + std::to_string(size) + " numbers, and a special token has number " +
                       std::to_string(tokenizer.size() - 1));
  return tokenizer;
}

Json::Members byte_pair_members(const Tokenizer& tokenizer) {
  std::vector<Json> merges;
  for (const auto& [left, right] : tokenizer.merges())
    merges.push_back(std::vector<Dim>{left, right});
  std::vector<std::string> vocabulary;
  for (const std::string& symbol : tokenizer.pairs().symbols())
    vocabulary.push_back(characters_of_bytes(symbol));
  vocabulary.resize(tokenizer.symbols().size());
  Json::Members members{{"rule", "gpt2"}, {"vocab", vocabulary}, {"merges", merges}};
  if (!tokenizer.special_tokens().empty())
    members.push_back({"added_tokens", added_tokens_json(tokenizer.special_tokens())});
  return members;
}

}  // namespace

std::string characters_of_bytes(std::string_view bytes) {
  std::string characters;
  for (const char byte : bytes)
    characters += utf8_of(byte_characters()[static_cast<unsigned char>(byte)]);
  return characters;
}

std::optional<std::string> bytes_of_characters(std::string_view characters) {
  static const auto bytes_by_character = [] {
    std::map<char32_t, char> bytes;
    for (std::size_t byte = 0; byte < 256; ++byte)
      bytes[byte_characters()[byte]] = static_cast<char>(byte);
    return bytes;
  }();
  std::string bytes;
  for (std::size_t at = 0; at < characters.size();) {
    const CodePoint point = code_point_at(characters, at);
    const auto found = bytes_by_character.find(point.value);
    if (!point.valid || found == bytes_by_character.end()) return std::nullopt;
    bytes += found->second;
    at += point.bytes;
  }
  return bytes;
}

Json added_tokens_json(const std::vector<SpecialToken>& tokens) {
  std::vector<Json> list;
  for (const SpecialToken& token : tokens)
    list.push_back(Json::object({{"id", token.id},
                                 {"content", token.text},
                                 {"single_word", false},
                                 {"lstrip", false},
                                 {"rstrip", false},
                                 {"normalized", token.normalized},
                                 {"special", token.special}}));
  return list;
}

SpecialToken read_added_token(const JsonValue& json) {
  if (!json.is_object()) return {json.string()};
  json.allow_only(
      {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special", "__type"});
  const auto flag = [&](std::string_view key) { return json.has(key) && json[key].boolean(); };
  for (const std::string_view key : {"single_word", "lstrip", "rstrip"})
    if (flag(key))
      json[key].fail("must be false: fledge finds a special token wherever its text is");
  return {json["content"].string(), 0, flag("normalized"), flag("special")};
}

std::vector<SpecialToken> read_added_tokens(const JsonValue& json) {
  std::vector<SpecialToken> tokens;
  json.each_item([&](const JsonValue& item) {
    const Dim id = item["id"].integer(0, most_symbols - 1);  // a text alone is refused
    tokens.push_back(read_added_token(item));
    tokens.back().id = id;
  });
  return tokens;
}

std::pair<JsonValue, JsonValue> read_pair(const JsonValue& json) {
  std::vector<JsonValue> pair;
  json.each_item([&](const JsonValue& item) { pair.push_back(item); });
  if (pair.size() != 2) json.fail("must be a pair of symbols");
  return {pair[0], pair[1]};
}

Json tokenizer_json(const Tokenizer& tokenizer) {
  Json::Members members{{"kind", to_string(tokenizer.kind())}};
  if (tokenizer.kind() == Tokens::bpe) {
    for (auto& member : byte_pair_members(tokenizer)) members.push_back(std::move(member));
  } else if (tokenizer.kind() != Tokens::byte) {
    for (const std::string& symbol : tokenizer.symbols()) require_utf8(symbol);
    if (tokenizer.kind() == Tokens::word) members.push_back({"rule", "punctuation"});
    members.push_back({"symbols", tokenizer.symbols()});
  }
  return Json::object(members);
}

Tokenizer read_tokenizer(const JsonValue& json) {
  try {
    const Tokens kind = tokens_named(json["kind"].string());
    if (kind == Tokens::byte) {
      json.allow_only({"kind"});
      return {kind, std::vector<std::string>()};
    }
    if (kind == Tokens::bpe) return read_byte_pairs(json);
    const bool is_of_words = kind == Tokens::word;
    json.allow_only(is_of_words ? std::vector<std::string_view>{"kind", "rule", "symbols"}
                                : std::vector<std::string_view>{"kind", "symbols"});
    if (is_of_words) require_rule(json, "punctuation");
    return {kind, read_symbols(json["symbols"])};
  } catch (const ValueError& error) {
    json.fail(error.what());
  }
}

}  // namespace fledge
