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

}  // namespace fledge
