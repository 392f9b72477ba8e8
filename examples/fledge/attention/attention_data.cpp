#include "examples/fledge/attention/attention_data.h"

#include "nn/io/utf8.h"

namespace fledge {

Json as_json(const AttentionWeights& attention, const std::vector<HeadNumber>& heads) {
  const Dim T = attention.size();
  std::vector<std::string> tokens;
  for (const std::string& token : attention.tokens) tokens.push_back(utf8_text(token));
  std::vector<Json> all;
  for (const HeadNumber& head : heads) {
    std::vector<std::vector<float>> weights;
    for (Dim query = 0; query < T; ++query) {
      weights.emplace_back();
      for (Dim key = 0; key < T; ++key)
        weights.back().push_back(static_cast<float>(attention.weight(head, query, key)));
    }
    all.push_back(Json::object({{"layer", head.layer}, {"head", head.head}, {"weights", weights}}));
  }
  return Json::object(
      {{"begin", attention.begin}, {"ids", attention.ids}, {"tokens", tokens}, {"heads", all}});
}

std::vector<std::vector<std::string>> attention_rows(const AttentionWeights& attention,
                                                     const std::vector<HeadNumber>& heads) {
  std::vector<std::vector<std::string>> rows;
  const auto add_token = [&](std::vector<std::string>& row, Dim index) {
    const auto at = static_cast<std::size_t>(index);
    row.insert(row.end(), {std::to_string(attention.begin + index),
                           std::to_string(attention.ids[at]), attention.tokens[at]});
  };
  for (const HeadNumber& head : heads)
    for (Dim query = 0; query < attention.size(); ++query)
      for (Dim key = 0; key < attention.seen(query); ++key) {
        std::vector<std::string> row{std::to_string(head.layer), std::to_string(head.head)};
        add_token(row, query);
        add_token(row, key);
        row.push_back(json_number(static_cast<float>(attention.weight(head, query, key))));
        rows.push_back(std::move(row));
      }
  return rows;
}

}  // namespace fledge
