#include "examples/fledge/attention/attention_report.h"

namespace fledge {

std::string attention_report(const AttentionWeights& attention,
                             const std::vector<HeadNumber>& heads, const support::MapStyle& style) {
  std::string text;
  for (const HeadNumber& head : heads)
    text += (text.empty() ? "layer " : "\nlayer ") + std::to_string(head.layer) + ", head " +
            std::to_string(head.head) + "\n" + head_map(attention, head, style);
  return text;
}

}  // namespace fledge
