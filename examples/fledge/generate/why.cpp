#include "examples/fledge/generate/why.h"

#include <algorithm>
#include <cmath>

#include "examples/support/table.h"
#include "examples/support/text.h"
#include "nn/gpt/decoder.h"

namespace fledge {

using support::formatted;

namespace {

constexpr std::size_t shown_looks = 3;

// weights (H, 1, T): of the last place.
Why::Head head_of(const Array& weights, Dim layer, Dim head) {
  Why::Head found{layer, head, {}};
  for (Dim place = weights.dim(2) - 1; place >= 0; --place)
    found.most.push_back({place, value_of(weights.at({head, 0, place}))});
  std::stable_sort(found.most.begin(), found.most.end(),
                   [](const Why::Look& a, const Why::Look& b) { return a.weight > b.weight; });
  found.most.resize(std::min(shown_looks, found.most.size()));
  return found;
}

std::string name_of(const Tokenizer& tokenizer, Dim token) {
  return support::quoted(tokenizer.decode({token}));
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

Why why_drawn(const LanguageModel& model, const std::string& word, std::vector<Dim> read,
              Dim token) {
  Ablation left_out = ablate_tokens(model, read, token);
  Why why{word, token, std::move(read), {}, std::move(left_out)};
  Decoder decoder(model);  // its pass over this window has the same bits
  decoder.read(why.read);
  const std::vector<Array> weights = decoder.attention(1);
  for (std::size_t layer = 0; layer < weights.size(); ++layer)
    for (Dim head = 0; head < model.sizes.heads; ++head)
      why.heads.push_back(head_of(weights[layer], static_cast<Dim>(layer), head));
  return why;
}

std::string why_text(const Why& why, const Tokenizer& tokenizer) {
  using Align = support::Table::Align;
  const std::string token = name_of(tokenizer, why.token), word = support::quoted(why.word);
  std::string text =
      "why " + word + ": " + (token == word ? "it" : "its first token " + token) +
      formatted(" had probability %.3f behind %zu token%s\n", std::exp(why.left_out.log_p),
                why.read.size(), why.read.size() == 1 ? "" : "s");
  support::Table heads(
      {{"layer", Align::right}, {"head", Align::right}, {"looked most at", Align::left}});
  for (const Why::Head& head : why.heads) {
    std::string most;
    for (const auto& [place, weight] : head.most)
      most += (most.empty() ? "" : "  ") + formatted("%.2f ", weight) +
              name_of(tokenizer, why.read[static_cast<std::size_t>(place)]) +
              formatted(" at %lld", static_cast<long long>(place));
    heads.row({std::to_string(head.layer), std::to_string(head.head), most});
  }
  text += "\n" + heads.text() +
          formatted("\nits ln p is %.4f; with one token hidden from all later places:\n",
                    why.left_out.log_p);
  support::Table effects({{"place", Align::right},
                          {"token", Align::left},
                          {"ln p", Align::right},
                          {"change", Align::right}});
  for (std::size_t place = 0; place < why.read.size(); ++place) {
    const bool last = place + 1 == why.read.size();  // the guess is made there
    const double without = last ? 0 : why.left_out.without[place];
    effects.row({std::to_string(place), name_of(tokenizer, why.read[place]),
                 last ? "-" : formatted("%.4f", without),
                 last ? "-" : formatted("%+.4f", without - why.left_out.log_p)});
  }
  return text + effects.text();
}

Json as_json(const Why& why, const Tokenizer& tokenizer) {
  std::vector<std::string> read;
  for (const Dim id : why.read) read.push_back(tokenizer.decode({id}));
  std::vector<Json> heads, left_out;
  for (const Why::Head& head : why.heads) {
    std::vector<Json> most;
    for (const auto& [place, weight] : head.most)
      most.push_back(Json::object({{"place", place},
                                   {"token", read[static_cast<std::size_t>(place)]},
                                   {"weight", weight}}));
    heads.push_back(Json::object({{"layer", head.layer}, {"head", head.head}, {"most", most}}));
  }
  const double log_p = why.left_out.log_p;
  for (std::size_t place = 0; place < why.left_out.without.size(); ++place) {
    const double without = why.left_out.without[place];
    left_out.push_back(Json::object({{"place", place},
                                     {"token", read[place]},
                                     {"ln_p", without},
                                     {"change", without - log_p}}));
  }
  return Json::object({{"word", why.word},
                       {"token", tokenizer.decode({why.token})},
                       {"probability", std::exp(log_p)},
                       {"read", read},
                       {"heads", heads},
                       {"ln_p", log_p},
                       {"left_out", left_out}});
}

}  // namespace fledge
