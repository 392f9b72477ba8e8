#include "examples/fledge/attention/attention_data.h"

namespace fledge {

Json as_json(const AttentionWeights& attention, const std::vector<HeadNumber>& heads) {
  const Dim T = attention.size();
  std::vector<Json> all;
  for (const HeadNumber& head : heads) {
    std::vector<std::vector<float>> weights;
    for (Dim query = 0; query < T; ++query) {
      weights.emplace_back();
      for (Dim key = 0; key < T; ++key)
        weights.back().push_back(
            static_cast<float>(attention.weight(head.layer, head.head, query, key)));
    }
    all.push_back(Json::object({{"layer", head.layer}, {"head", head.head}, {"weights", weights}}));
  }
  return Json::object({{"begin", attention.begin}, {"tokens", attention.tokens}, {"heads", all}});
}

}  // namespace fledge
