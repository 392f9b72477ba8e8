#include "examples/fledge/attention/attention_report.h"

#include "examples/fledge/attention/head_map.h"
#include "examples/fledge/attention/thumbnails.h"
#include "examples/support/text.h"

namespace fledge {

namespace {

std::string map_of(const AttentionWeights& attention, HeadNumber head,
                   const support::MapStyle& style) {
  std::string title =
      "Layer " + std::to_string(head.layer) + ", head " + std::to_string(head.head) + ".";
  const Dim hidden = attention.size() - tokens_of_map(attention, style);
  if (hidden > 0)
    title += std::string(" Column ") + earlier_column(style) + ": the first " +
             support::counted(hidden, "token") + " together.";
  return support::wrapped(title, style.columns) + "\n" + head_map(attention, head, style);
}

std::string overview_of(const AttentionWeights& attention, const std::vector<HeadNumber>& heads,
                        const support::MapStyle& style) {
  std::string key = std::string("Each ") + (attention.is_causal ? "triangle" : "square") +
                    " is one head, named layer.head, both counted from 0. From top to bottom: the "
                    "tokens in their order. From left to right: the tokens that they look at.";
  if (thumbnails_merge(attention, heads, style))
    key += " Each character stands for several tokens and shows their largest weight.";
  return support::wrapped(key, style.columns) + "\n\n" + thumbnails(attention, heads, style) +
         style.paint.dim(support::wrapped(support::shade_scale(style.unicode), style.columns)) +
         "\n";
}

}  // namespace

std::string attention_report(const AttentionWeights& attention,
                             const std::vector<HeadNumber>& heads, const support::MapStyle& style) {
  return heads.size() == 1 ? map_of(attention, heads[0], style)
                           : overview_of(attention, heads, style);
}

}  // namespace fledge
