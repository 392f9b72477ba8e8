#include "nn/text/tokenizer_json.h"

namespace fledge {

namespace {

std::vector<Merge> read_merges(const JsonValue& json) {
  constexpr std::size_t most_merges = 65536 - 256;  // the limit of `fledge train --symbols`
  std::vector<Merge> merges;
  json.each_item([&](const JsonValue& pair) {
    if (merges.size() == most_merges) pair.fail("is one more than the most merges, 65,280");
    const Dim last_symbol = 255 + static_cast<Dim>(merges.size());
    Dim parts[2] = {}, count = 0;
    pair.each_item([&](const JsonValue& part) {
      if (count < 2) parts[count] = part.integer(0, last_symbol);
      ++count;
    });
    if (count != 2) pair.fail("must be a pair of symbols");
    merges.emplace_back(parts[0], parts[1]);
  });
  return merges;
}

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
    std::vector<std::string> symbols;
    std::vector<Merge> merges;
    if (kind == Tokens::byte) {
      json.allow_only({"kind"});
    } else if (kind == Tokens::bpe) {
      json.allow_only({"kind", "merges"});
      merges = read_merges(json["merges"]);
    } else {
      json.allow_only({"kind", "symbols"});
      json["symbols"].each_item([&](const JsonValue& symbol) {
        if (static_cast<Dim>(symbols.size()) == most_symbols)
          symbol.fail("is one more than the most symbols, 1,000,000");
        symbols.push_back(symbol.string());
      });
    }
    return {kind, std::move(symbols), merges};
  } catch (const ValueError& error) {
    json.fail(error.what());
  }
}

}  // namespace fledge
