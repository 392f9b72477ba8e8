#include "nn/text/ngrams.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "engine/errors.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

// A history as a key: its tokens, four bytes each. A history is at most eight tokens long.
std::string key_of(const std::vector<Dim>& text, std::size_t end, std::size_t length) {
  std::string key;
  for (std::size_t i = end - length; i < end; ++i)
    for (int shift = 0; shift < 32; shift += 8)
      key += static_cast<char>(static_cast<std::uint64_t>(text[i]) >> shift & 0xFF);
  return key;
}

}  // namespace

double counted_loss(const std::vector<Dim>& train, const std::vector<Dim>& test, Dim vocabulary,
                    int history, double add) {
  require<ValueError>(!test.empty(), "counted_loss", "nothing to measure: the test is empty");
  require<ValueError>(history >= 0 && history <= 8, "counted_loss",
                      "the history must have 0 to 8 tokens: got ", history);
  require<ValueError>(std::isfinite(add) && add > 0, "counted_loss",
                      "what is added to each count must be positive: got ", add);
  for (const std::vector<Dim>* text : {&train, &test})
    for (const Dim token : *text)
      require<ValueError>(token >= 0 && token < vocabulary, "counted_loss", "token ", token,
                          " is outside a vocabulary of ", vocabulary);

  const auto length = static_cast<std::size_t>(history);
  std::unordered_map<std::string, double> of_history, of_both;
  for (std::size_t i = length; i < train.size(); ++i) {
    ++of_history[key_of(train, i, length)];
    ++of_both[key_of(train, i + 1, length + 1)];
  }
  // The test behind as much of the end of the training text as a history needs.
  const std::size_t before = std::min(length, train.size());
  std::vector<Dim> text(train.end() - static_cast<std::ptrdiff_t>(before), train.end());
  text.insert(text.end(), test.begin(), test.end());
  const auto count = [](const auto& table, const std::string& key) {
    const auto found = table.find(key);
    return found == table.end() ? 0.0 : found->second;
  };
  double loss = 0;
  for (std::size_t i = before; i < text.size(); ++i) {
    if (i < length) {  // there is no history yet: a guess
      loss += std::log(static_cast<double>(vocabulary));
      continue;
    }
    const double seen = count(of_both, key_of(text, i + 1, length + 1)) + add;
    const double all =
        count(of_history, key_of(text, i, length)) + add * static_cast<double>(vocabulary);
    loss -= std::log(seen / all);
  }
  return loss / static_cast<double>(test.size());
}

}  // namespace fledge::inline FLEDGE_BUILD
