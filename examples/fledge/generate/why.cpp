#include "examples/fledge/generate/why.h"

#include <algorithm>
#include <numeric>

#include "examples/fledge/generate/sample.h"
#include "examples/support/attention_map.h"
#include "examples/support/plots.h"
#include "examples/support/text.h"
#include "nn/gpt/decoder.h"

namespace fledge {

namespace {

constexpr std::size_t shown_looks = 3;
constexpr std::size_t shown_effects = 3;
constexpr int widest_effect = 20, widest_look = 8, bar_columns = 8;

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

/// The text and the position of a token that was read.
std::string name_at(const Why& why, std::size_t index, const Tokenizer& tokenizer, int columns) {
  const bool unicode = support::unicode_wanted();
  const std::string label = support::token_label(tokenizer.decode({why.read[index]}), unicode);
  return support::cut(label, columns, unicode ? "…" : ".") + "(" +
         std::to_string(why.position(index)) + ")";
}

/// The tokens that can be hidden, as indices in `read`, the one with the largest loss of
/// probability first.
std::vector<std::size_t> indices_by_effect(const Why& why) {
  std::vector<std::size_t> indices(why.left_out.without.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::stable_sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
    return why.left_out.without[a] < why.left_out.without[b];
  });
  return indices;
}

/// A line for each of the tokens with the largest effects.
std::string effects_text(const Why& why, const Tokenizer& tokenizer) {
  std::vector<std::size_t> indices = indices_by_effect(why);
  indices.resize(std::min(shown_effects, indices.size()));
  int widest_name = 0;
  std::vector<std::string> names;
  for (const std::size_t index : indices) {
    names.push_back(name_at(why, index, tokenizer, widest_effect));
    widest_name = std::max(widest_name, support::display_width(names.back()));
  }
  std::string text;
  for (std::size_t i = 0; i < indices.size(); ++i)
    text += "  " + support::pad_right(names[i], widest_name) + "  " +
            support::bar(why.cost(indices[i]), bar_columns) + "  " +
            support::percent(why.probability()) + " -> " +
            support::percent(why.probability_without(indices[i])) + "\n";
  return text;
}

std::string heads_text(const Why& why, const Tokenizer& tokenizer, int columns) {
  std::string text;
  for (const Why::Head& head : why.heads) {
    std::string line = std::to_string(head.layer) + "." + std::to_string(head.head);
    for (const auto& [index, weight] : head.most)
      line += "  " + name_at(why, index, tokenizer, widest_look) +
              support::formatted(" %.0f %%", 100 * weight);
    text += support::wrapped(line, columns, 5) + "\n";
  }
  return text;
}

/// The text that was read, each token with the share of the probability that hiding it costs.
std::vector<support::ShadedPart> parts_of(const Why& why, const Tokenizer& tokenizer) {
  std::vector<support::ShadedPart> parts;
  for (std::size_t index = 0; index < why.read.size(); ++index) {
    const Dim before = index == 0 ? -1 : why.read[index - 1];
    const bool can_be_hidden = index < why.left_out.without.size();
    parts.push_back(
        {piece_of(tokenizer, why.read[index], before), can_be_hidden ? why.cost(index) : 0});
  }
  return parts;
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

std::string why_text(const Why& why, const Tokenizer& tokenizer, int columns,
                     support::Paint paint) {
  const std::string token = support::quoted(support::token_label(tokenizer.decode({why.token})));
  const auto paragraph = [&](const std::string& text) {
    return support::wrapped(text, columns) + "\n";
  };
  const bool is_whole = tokenizer.decode({why.token}) == why.word;
  std::string text;
  if (!why.was_drawn)
    text =
        support::quoted(why.word) + " was not drawn. As the word after the prompt it would be:\n";
  text += "Probability of " + token +
          (is_whole ? "" : ", the first token of " + support::quoted(why.word)) + ": " +
          support::percent(why.probability()) + ".";
  if (why.left_out.without.empty())
    text = paragraph(text + " No earlier token can be hidden.");
  else
    text = paragraph(text + " With one earlier token hidden it becomes:") +
           effects_text(why, tokenizer) + "\n" +
           paragraph(
               "The text before it. A darker token costs more of the probability when it is "
               "hidden. The last one cannot be hidden: there the prediction is made.") +
           support::painted_text(parts_of(why, tokenizer), columns, paint);
  return text + "\n" +
         paragraph(
             "What each head (layer.head) looked at most in that step, with its position in "
             "the text, counted from 0. A large weight does not prove a large effect.") +
         heads_text(why, tokenizer, columns);
}

Json as_json(const Why& why, const Tokenizer& tokenizer) {
  std::vector<std::string> read;
  for (const Dim id : why.read) read.push_back(utf8_text(tokenizer.decode({id})));
  std::vector<Json> heads;
  for (const Why::Head& head : why.heads) {
    support::Rows most({"position", "id", "token", "weight"});
    for (const auto& [index, weight] : head.most)
      most.add({why.position(index), why.read[index], read[index], weight});
    heads.push_back(
        Json::object({{"layer", head.layer}, {"head", head.head}, {"most", most.json()}}));
  }
  support::Rows left_out({"position", "id", "token", "probability", "ln_p", "change"});
  for (std::size_t index = 0; index < why.left_out.without.size(); ++index) {
    const double without = why.left_out.without[index];
    left_out.add({why.position(index), why.read[index], read[index], why.probability_without(index),
                  without, without - why.left_out.log_p});
  }
  return Json::object({{"word", why.word},
                       {"was_drawn", why.was_drawn},
                       {"id", why.token},
                       {"token", utf8_text(tokenizer.decode({why.token}))},
                       {"probability", why.probability()},
                       {"begin", why.begin},
                       {"read", read},
                       {"read_ids", why.read},
                       {"heads", heads},
                       {"ln_p", why.left_out.log_p},
                       {"left_out", left_out.json()}});
}

support::Rows why_rows(const std::optional<Why>& why, const Tokenizer& tokenizer) {
  support::Rows rows({"word", "id", "token", "position", "hidden_id", "hidden_token", "probability",
                      "probability_without"});
  for (std::size_t index = 0; why && index < why->left_out.without.size(); ++index)
    rows.add({why->word, why->token, tokenizer.decode({why->token}), why->position(index),
              why->read[index], tokenizer.decode({why->read[index]}), why->probability(),
              why->probability_without(index)});
  return rows;
}

}  // namespace fledge
