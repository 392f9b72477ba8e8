#include "examples/fledge/generate/why_report.h"

#include <algorithm>
#include <numeric>

#include "examples/fledge/generate/sample.h"
#include "examples/support/painted_text.h"
#include "examples/support/plots.h"
#include "examples/support/text.h"
#include "examples/support/token_label.h"

namespace fledge {

namespace {

constexpr std::size_t shown_effects = 3;
constexpr int widest_effect = 20, widest_look = 8, bar_columns = 8;

std::string name_in(const Tokenizer& tokenizer, Dim token, int columns) {
  const bool unicode = support::unicode_wanted();
  return support::cut(support::token_label(tokenizer.decode({token}), unicode), columns,
                      unicode ? "…" : ".");
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
  std::string text;
  std::vector<std::size_t> indices = indices_by_effect(why);
  indices.resize(std::min(shown_effects, indices.size()));
  int widest_name = 0;
  const auto name = [&](std::size_t index) {
    return name_in(tokenizer, why.read[index], widest_effect) + "(" + why.position(index) + ")";
  };
  for (const std::size_t index : indices)
    widest_name = std::max(widest_name, support::display_width(name(index)));
  for (const std::size_t index : indices)
    text += "  " + support::pad_right(name(index), widest_name) + "  " +
            support::bar(why.cost(index), bar_columns) + "  " +
            support::percent(why.probability()) + " -> " +
            support::percent(why.probability_without(index)) + "\n";
  return text;
}

std::string heads_text(const Why& why, const Tokenizer& tokenizer, int columns) {
  std::string text;
  for (const Why::Head& head : why.heads) {
    std::string line = std::to_string(head.layer) + "." + std::to_string(head.head);
    for (const auto& [index, weight] : head.most)
      line += "  " + name_in(tokenizer, why.read[index], widest_look) + "(" + why.position(index) +
              ") " + support::formatted("%.0f %%", 100 * weight);
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
  std::vector<Json> heads, left_out;
  for (const Why::Head& head : why.heads) {
    std::vector<Json> most;
    for (const auto& [index, weight] : head.most)
      most.push_back(Json::object({{"position", why.begin + static_cast<Dim>(index)},
                                   {"id", why.read[index]},
                                   {"token", read[index]},
                                   {"weight", weight}}));
    heads.push_back(Json::object({{"layer", head.layer}, {"head", head.head}, {"most", most}}));
  }
  for (std::size_t index = 0; index < why.left_out.without.size(); ++index) {
    const double without = why.left_out.without[index];
    left_out.push_back(Json::object({{"position", why.begin + static_cast<Dim>(index)},
                                     {"id", why.read[index]},
                                     {"token", read[index]},
                                     {"probability", why.probability_without(index)},
                                     {"ln_p", without},
                                     {"change", without - why.left_out.log_p}}));
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
                       {"left_out", left_out}});
}

std::vector<std::vector<std::string>> why_rows(const Why& why, const Tokenizer& tokenizer) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t index = 0; index < why.left_out.without.size(); ++index)
    rows.push_back({why.word, std::to_string(why.token), tokenizer.decode({why.token}),
                    why.position(index), std::to_string(why.read[index]),
                    tokenizer.decode({why.read[index]}), json_number(why.probability()),
                    json_number(why.probability_without(index))});
  return rows;
}

}  // namespace fledge
