#include "nn/text/tokenizer_json.h"

namespace fledge::inline FLEDGE_BUILD {

void write_tokenizer(JsonWriter& json, const Tokenizer& tokenizer) {
  json.begin_object().field("kind", to_string(tokenizer.kind()));
  if (tokenizer.kind() == Tokens::bpe) {
    json.key("merges").begin_array();
    for (const auto& [left, right] : tokenizer.merges())
      json.begin_array().value(left).value(right).end_array();
    json.end_array();
  } else if (tokenizer.kind() != Tokens::byte) {
    json.key("symbols").begin_array();
    for (const std::string& symbol : tokenizer.symbols()) {
      require_utf8(symbol);
      json.value(symbol);
    }
    json.end_array();
  }
  json.end_object();
}

Tokenizer read_tokenizer(const JsonValue& json) {
  try {
    const Tokens kind = tokens_named(json["kind"].string());
    if (kind == Tokens::character || kind == Tokens::word) {
      json.allow_only({"kind", "symbols"});
      std::vector<std::string> symbols;
      for (const JsonValue& symbol : json["symbols"].items()) symbols.push_back(symbol.string());
      return {kind, std::move(symbols)};
    }
    if (kind == Tokens::byte) {
      json.allow_only({"kind"});
      return {kind, BytePairs().symbols()};
    }
    json.allow_only({"kind", "merges"});
    std::vector<Merge> merges;
    for (const JsonValue& pair : json["merges"].items()) {
      const std::vector<JsonValue> parts = pair.items();
      if (parts.size() != 2) pair.fail("must be a pair of symbols");
      const Dim known = 255 + static_cast<Dim>(merges.size());
      merges.emplace_back(parts[0].integer(0, known), parts[1].integer(0, known));
    }
    std::vector<std::string> symbols = BytePairs(merges).symbols();
    return {kind, std::move(symbols), merges};
  } catch (const ValueError& error) {
    json.fail(error.what());
  }
}

}  // namespace fledge::inline FLEDGE_BUILD
