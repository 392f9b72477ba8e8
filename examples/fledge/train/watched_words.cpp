#include "examples/fledge/train/watched_words.h"

#include <algorithm>
#include <sstream>

#include "examples/support/errors.h"
#include "examples/support/text.h"

namespace fledge::train {

using support::refuse_usage;

std::vector<WordPair> watched_pairs(const std::string& text) {
  std::vector<WordPair> pairs;
  std::istringstream parts(text);
  for (std::string pair; std::getline(parts, pair, ',');) {
    const std::size_t colon = pair.find(':', 1);
    if (colon == std::string::npos || colon + 1 == pair.size())
      refuse_usage("--watch " + support::quoted(pair) + " is no pair of words",
                   "write --watch walk:birds, or walk:birds,at:good for two");
    pairs.push_back({pair.substr(0, colon), pair.substr(colon + 1)});
  }
  return pairs;
}

std::vector<Probe> probed_sentences(const std::string& text) {
  std::vector<Probe> probes;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    const std::size_t first = text.find_first_not_of(' ', begin);
    if (first >= end)
      refuse_usage("--probe " + support::quoted(text) + " has an empty sentence",
                   "write --probe \"birds walk\", or \"birds walk | they fly\" for two");
    const std::size_t last = text.find_last_not_of(' ', end - 1);
    probes.push_back({text.substr(first, last + 1 - first), first});
    begin = end + 1;
  }
  return probes;
}

}  // namespace fledge::train
