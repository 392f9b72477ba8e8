#include "nn/text/added_tokens.h"

#include "nn/text/byte_pairs.h"

namespace fledge {

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

std::vector<SpecialToken> read_added_tokens(const JsonValue& json) {
  std::vector<SpecialToken> tokens;
  json.each_item([&](const JsonValue& item) {
    item.allow_only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    const auto flag = [&](std::string_view key) { return item.has(key) && item[key].boolean(); };
    for (const std::string_view key : {"single_word", "lstrip", "rstrip"})
      if (flag(key))
        item[key].fail("must be false: fledge finds a special token wherever its text is");
    tokens.push_back({item["content"].string(), item["id"].integer(0, most_symbols - 1),
                      flag("normalized"), flag("special")});
  });
  return tokens;
}

}  // namespace fledge
