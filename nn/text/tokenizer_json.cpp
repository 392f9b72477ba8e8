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

Json tokenizer_json(const Tokenizer& tokenizer) {
  Json::Members members{{"kind", to_string(tokenizer.kind())}};
  if (tokenizer.kind() == Tokens::bpe) {
    std::vector<Json> merges;
    for (const auto& [left, right] : tokenizer.merges())
      merges.push_back(std::vector<Dim>{left, right});
    members.emplace_back("merges", merges);
  } else if (tokenizer.kind() != Tokens::byte) {
    for (const std::string& symbol : tokenizer.symbols()) require_utf8(symbol);
    if (tokenizer.kind() == Tokens::word && tokenizer.rule() == WordRule::punctuation)
      members.emplace_back("rule", "punctuation");
    members.emplace_back("symbols", tokenizer.symbols());
  }
  return Json::object(members);
}

Tokenizer read_tokenizer(const JsonValue& json) {
  try {
    const Tokens kind = tokens_named(json["kind"].string());
    std::vector<std::string> symbols;
    std::vector<Merge> merges;
    WordRule rule = WordRule::blanks;
    if (kind == Tokens::byte) {
      json.allow_only({"kind"});
    } else if (kind == Tokens::bpe) {
      json.allow_only({"kind", "merges"});
      merges = read_merges(json["merges"]);
    } else {
      json.allow_only(kind == Tokens::word
                          ? std::vector<std::string_view>{"kind", "rule", "symbols"}
                          : std::vector<std::string_view>{"kind", "symbols"});
      if (json.has("rule")) {
        if (json["rule"].string() != "punctuation") json["rule"].fail("must be \"punctuation\"");
        rule = WordRule::punctuation;
      }
      json["symbols"].each_item([&](const JsonValue& symbol) {
        if (static_cast<Dim>(symbols.size()) == most_symbols)
          symbol.fail("is one more than the most symbols, 1,000,000");
        symbols.push_back(symbol.string());
      });
    }
    return {kind, std::move(symbols), merges, rule};
  } catch (const ValueError& error) {
    json.fail(error.what());
  }
}

}  // namespace fledge
