#include "nn/text/tokenizer_json.h"

namespace fledge {

namespace {

constexpr std::size_t most_merges = 65536 - 256;  // of --symbols, and of BytePairs' keys

}  // namespace

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
      json["symbols"].each_item([&](const JsonValue& symbol) {
        if (static_cast<Dim>(symbols.size()) == most_symbols)
          symbol.fail("is one more than the most symbols, 1,000,000");
        symbols.push_back(symbol.string());
      });
      return {kind, std::move(symbols)};
    }
    if (kind == Tokens::byte) {
      json.allow_only({"kind"});
      return {kind, BytePairs().symbols()};
    }
    json.allow_only({"kind", "merges"});
    std::vector<Merge> merges;
    json["merges"].each_item([&](const JsonValue& pair) {
      if (merges.size() == most_merges) pair.fail("is one more than the most merges, 65,280");
      Dim parts[2] = {}, count = 0;
      const Dim known = 255 + static_cast<Dim>(merges.size());
      pair.each_item([&](const JsonValue& part) {
        if (count < 2) parts[count] = part.integer(0, known);
        ++count;
      });
      if (count != 2) pair.fail("must be a pair of symbols");
      merges.emplace_back(parts[0], parts[1]);
    });
    std::vector<std::string> symbols = BytePairs(merges).symbols();
    return {kind, std::move(symbols), merges};
  } catch (const ValueError& error) {
    json.fail(error.what());
  }
}

}  // namespace fledge
