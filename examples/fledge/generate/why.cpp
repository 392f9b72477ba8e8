#include "examples/fledge/generate/why.h"

#include <algorithm>

#include "nn/gpt/decoder.h"

namespace fledge {

namespace {

constexpr std::size_t shown_looks = 3;

// weights (H, 1, T): of the last position.
Why::Head head_of(const Array& weights, Dim layer, Dim head) {
  Why::Head found{layer, head, {}};
  for (Dim index = weights.dim(2) - 1; index >= 0; --index)
    found.most.push_back({static_cast<std::size_t>(index), value_of(weights.at({head, 0, index}))});
  std::stable_sort(found.most.begin(), found.most.end(),
                   [](const Why::Look& a, const Why::Look& b) { return a.weight > b.weight; });
  found.most.resize(std::min(shown_looks, found.most.size()));
  return found;
}

}  // namespace

std::optional<std::size_t> where_drawn(const Tokenizer& tokenizer, const std::vector<Dim>& drawn,
                                       const std::string& word) {
  if (tokenizer.kind() == Tokens::word) {
    const std::vector<Dim> ids = tokenizer.encode(word);
    const auto found = std::search(drawn.begin(), drawn.end(), ids.begin(), ids.end());
    if (found == drawn.end()) return {};
    return static_cast<std::size_t>(found - drawn.begin());
  }
  std::string text;
  std::vector<std::size_t> ends;  // of the tokens, in the text
  for (const Dim id : drawn) {
    text += tokenizer.decode({id});
    ends.push_back(text.size());
  }
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return {};
  return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), at) - ends.begin());
}

Why why_drawn(const TrainedModel& trained, const std::string& word, std::vector<Dim> read,
              Dim begin, Dim token) {
  const LanguageModel& model = trained.model;
  Ablation left_out = ablate_tokens(model, read, token, trained.without_text());
  Why why{word, true, token, std::move(read), begin, {}, std::move(left_out)};
  Decoder decoder(model);  // its pass over this window has the same bits
  decoder.read(why.read);
  const std::vector<Array> weights = decoder.attention(1);
  for (std::size_t layer = 0; layer < weights.size(); ++layer)
    for (Dim head = 0; head < model.sizes.heads; ++head)
      why.heads.push_back(head_of(weights[layer], static_cast<Dim>(layer), head));
  return why;
}

}  // namespace fledge
