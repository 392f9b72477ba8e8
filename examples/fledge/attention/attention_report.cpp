#include "examples/fledge/attention/attention_report.h"

#include "examples/support/text.h"

namespace fledge {

std::string attention_report(const AttentionWeights& attention,
                             const std::vector<HeadNumber>& heads, const support::MapStyle& style) {
  std::string text;
  const Dim hidden = attention.size() - tokens_of_map(attention, style);
  for (const HeadNumber& head : heads) {
    std::string title =
        "Layer " + std::to_string(head.layer) + ", head " + std::to_string(head.head);
    if (hidden > 0)
      title += std::string(". Column ") + earlier_column(style) + ": all of the first " +
               support::counted(hidden, "token") + " together.";
    text += (text.empty() ? "" : "\n") + support::wrapped(title, style.columns) + "\n" +
            head_map(attention, head, style);
  }
  return text;
}

}  // namespace fledge
