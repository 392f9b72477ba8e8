#include "nn/inspect/least_loss.h"

#include <cmath>
#include <map>
#include <utility>

#include "engine/base/errors.h"

namespace fledge {

double least_loss(const TokenText& text) {
  require<ValueError>(text.documents() > 0, "least_loss",
                      "the text must have documents: read it with Reading::lines");
  // The tree of all beginnings. Node 0 is the boundary; a child is one token longer.
  std::vector<double> count{0};
  std::map<std::pair<std::size_t, Dim>, std::size_t> children;
  const auto child = [&](std::size_t beginning, Dim next) {
    const auto [found, is_new] = children.try_emplace({beginning, next}, count.size());
    if (is_new) count.push_back(0);
    return found->second;
  };
  const auto for_each_prediction = [&](const auto& f) {
    for (std::size_t d = 0; d + 1 < text.starts.size(); ++d) {
      std::size_t beginning = 0;
      for (std::size_t i = text.starts[d] + 1; i <= text.starts[d + 1]; ++i) {
        const std::size_t longer = child(beginning, text.tokens[i]);
        f(beginning, longer);
        beginning = longer;
      }
    }
  };

  count[0] = static_cast<double>(text.documents());
  for_each_prediction([&](std::size_t, std::size_t longer) { count[longer] += 1; });
  double sum = 0, predictions = 0;
  for_each_prediction([&](std::size_t beginning, std::size_t longer) {
    sum -= std::log(count[longer] / count[beginning]);
    predictions += 1;
  });
  return sum / predictions;
}

}  // namespace fledge
