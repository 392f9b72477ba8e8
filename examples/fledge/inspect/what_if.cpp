#include "examples/fledge/inspect/what_if.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/autograd.h"
#include "examples/fledge/attention/attention_weights.h"
#include "examples/fledge/train/source.h"
#include "examples/support/plots.h"
#include "examples/support/table.h"
#include "examples/support/text.h"

namespace fledge {

namespace {

constexpr const char* example = "write --row walk=birds:1, or --row walk=birds:0.8,sometimes:0.2";

/// Whether a user means this token: by its text, or by a label that shows its blanks.
bool is_label_of(const std::string& word, const std::string& token) {
  return word == support::token_label(token, true) || word == support::token_label(token, false);
}

/// The last place of a word among the first `end` tokens.
Dim place_of(const std::string& word, const std::vector<std::string>& tokens, Dim end) {
  const auto last = [&](const auto& is_meant) {
    Dim place = end - 1;
    while (place >= 0 && !is_meant(tokens[static_cast<std::size_t>(place)])) --place;
    return place;
  };
  if (const Dim place = last([&](const std::string& token) { return token == word; }); place >= 0)
    return place;
  if (const Dim place = last([&](const std::string& token) { return is_label_of(word, token); });
      place >= 0)
    return place;
  std::vector<std::string> labels;
  std::string known;
  for (Dim i = 0; i < end; ++i) {
    const std::string label = support::token_label(tokens[static_cast<std::size_t>(i)]);
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) continue;
    labels.push_back(label);
    known += " " + label;
  }
  const std::string& query = tokens[static_cast<std::size_t>(end) - 1];
  throw support::InputError(
      "--row: " + support::quoted(word) + " is not among the tokens " +
          (end == std::ssize(tokens) ? std::string("of the text")
                                     : "up to '" + support::token_label(query) + "'"),
      "use one of:" + known);
}

/// The weights of the row in the model, as a mean of the heads that are changed.
std::vector<double> own_row(const std::vector<Tensor>& layers, const ForcedRow& row) {
  const Array& weights = layers[static_cast<std::size_t>(row.layer)].value();  // (1, H, T, T)
  const Dim first = row.head.value_or(0), end = row.head ? first + 1 : weights.dim(1);
  std::vector<double> own(static_cast<std::size_t>(row.query) + 1);
  for (Dim head = first; head < end; ++head)
    for (Dim key = 0; key <= row.query; ++key)
      own[static_cast<std::size_t>(key)] +=
          value_of(weights.at({0, head, row.query, key})) / static_cast<double>(end - first);
  return own;
}

/// Gives the rest to the keys that were not named.
std::vector<double> completed(const std::vector<double>& own,
                              const std::vector<std::optional<double>>& given) {
  double rest = 1, others = 0;
  for (std::size_t key = 0; key < own.size(); ++key) {
    rest -= given[key].value_or(0);
    if (!given[key]) others += own[key];
  }
  std::vector<double> weights;
  for (std::size_t key = 0; key < own.size(); ++key)
    weights.push_back(given[key] ? *given[key] : others > 0 ? own[key] * rest / others : 0);
  if (rest > 1e-9 && others <= 0)
    throw support::UsageError(
        support::formatted("--row: the weights must sum to 1: they sum to %g", 1 - rest), example);
  return weights;
}

std::vector<Choice> predicted(const Array& logits, const TrainedModel& trained) {
  const Dim T = logits.dim(0), V = logits.dim(1);
  const Array last = slice(Tensor(logits), 0, T - 1, T).value().with_shape({V});
  return most_likely(without_tokens(last, trained.without_text()), V);
}

/// The probability of each token of the vocabulary.
std::vector<double> by_token(const std::vector<Choice>& choices, Dim vocabulary) {
  std::vector<double> probabilities(static_cast<std::size_t>(vocabulary));
  for (const auto& [token, probability] : choices)
    probabilities[static_cast<std::size_t>(token)] = probability;
  return probabilities;
}

/// The `count` most likely tokens of both, those of `before` first.
std::vector<Dim> shown_tokens(const WhatIf& result, std::size_t count) {
  std::vector<Dim> tokens;
  for (const std::vector<Choice>* choices : {&result.before, &result.after})
    for (std::size_t i = 0; i < std::min(count, choices->size()); ++i)
      if (std::find(tokens.begin(), tokens.end(), (*choices)[i].token) == tokens.end())
        tokens.push_back((*choices)[i].token);
  return tokens;
}

}  // namespace

RowRequest parse_row(const std::string& text) {
  const auto refuse = [&](const char* problem) {
    support::refuse_usage("--row " + support::quoted(text) + " " + problem, example);
  };
  const std::size_t equals = text.find('=', 1);
  if (equals == std::string::npos) refuse("must be a word, '=', and words with weights");
  RowRequest request{text.substr(0, equals), {}};
  double sum = 0;
  for (std::size_t begin = equals + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin + 1), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t colon = part.rfind(':');
    double weight = -1;
    if (colon != std::string::npos && colon > 0) {
      const char* const last = part.data() + part.size();
      const auto [read, error] = std::from_chars(part.data() + colon + 1, last, weight);
      if (error != std::errc() || read != last) weight = -1;
    }
    if (!(weight >= 0 && weight <= 1)) refuse("needs a weight from 0 to 1 after each word and ':'");
    sum += weight;
    request.keys.push_back({part.substr(0, colon), weight});
    begin = end + 1;
  }
  if (sum > 1 + 1e-9) refuse("has weights that sum to more than 1");
  return request;
}

WhatIf what_if(const TrainedModel& trained, const std::string& text, const RowRequest& request,
               Dim layer, std::optional<Dim> head) {
  const LanguageModelSizes& sizes = trained.model.sizes;
  const std::vector<Dim> ids =
      train::prompt_of(trained.tokenizer(), text, trained.lines, "--what-if").ids;
  const auto T = static_cast<Dim>(ids.size());
  if (T > sizes.context)
    throw support::InputError(
        "--what-if " + support::quoted(text) + " has " + std::to_string(T) + " tokens",
        "the model looks back over " + std::to_string(sizes.context) + ": shorten the text");
  require_heads_of_model({layer, head}, sizes);
  if (sizes.recipe.mask == Masking::none)
    throw support::InputError(
        "--what-if needs a model with the causal mask, and this one is without it",
        "train one with its mask: leave out --without mask");
  WhatIf result;
  result.ids = ids;
  for (const Dim id : ids) result.tokens.push_back(trained.tokenizer().decode({id}));
  const Dim query = place_of(request.query, result.tokens, T);
  result.row = {layer, head, query, {}};
  const NoGrad no_grad;
  const LanguageModel::LogitsAndWeights forward =
      trained.model.forward_with_weights(Indices({1, T}, ids));
  result.own = own_row(forward.weights, result.row);
  std::vector<std::optional<double>> given(result.own.size());
  for (const auto& [word, weight] : request.keys) {
    auto& place = given[static_cast<std::size_t>(place_of(word, result.tokens, query + 1))];
    if (place) support::refuse_usage("--row names " + support::quoted(word) + " twice", example);
    place = weight;
  }
  result.row.weights = completed(result.own, given);
  const Array logits = forward.logits.value().with_shape({T, sizes.vocabulary});
  result.before = predicted(logits, trained);
  result.after = predicted(logits_with_row(trained.model, ids, result.row), trained);
  return result;
}

std::string what_if_text(const WhatIf& result, const TrainedModel& trained) {
  const bool unicode = support::unicode_wanted();
  const auto label = [&](const std::string& token) {
    return support::cut(support::token_label(token, unicode), 20, unicode ? "…" : ".");
  };
  const auto percent = [](double share) { return support::formatted("%.1f %%", 100 * share); };
  const std::string query = label(result.tokens[static_cast<std::size_t>(result.row.query)]);
  support::Table row = support::Table::of_numbers({query + " looks at", "as it is", "changed"});
  for (std::size_t key = 0; key < result.own.size(); ++key)
    row.row(
        {label(result.tokens[key]), percent(result.own[key]), percent(result.row.weights[key])});
  using Align = support::Table::Align;
  support::Table next(
      {{"next token"}, {"as it is", Align::right}, {"changed", Align::right}, {""}});
  const int room = support::terminal_width(stdout), bar_room = std::clamp(room - 41, 0, 20);
  const Dim V = trained.model.sizes.vocabulary;
  const std::vector<double> before = by_token(result.before, V), after = by_token(result.after, V);
  for (const Dim token : shown_tokens(result, 5)) {
    const auto at = static_cast<std::size_t>(token);
    next.row({label(trained.tokenizer().decode({token})), percent(before[at]), percent(after[at]),
              support::bar(after[at], bar_room, unicode)});
  }
  const Dim heads = trained.model.sizes.heads;
  const std::string which =
      "Layer " + std::to_string(result.row.layer) +
      (result.row.head || heads == 1
           ? ", head " + std::to_string(result.row.head.value_or(0)) + "."
           : ", all " + std::to_string(heads) + " heads. \"as it is\": the mean of the heads.");
  return support::paragraph(which) + "\n" + row.text(unicode, {}, room) + "\n" +
         next.text(unicode, {}, room);
}

Json as_json(const WhatIf& result, const TrainedModel& trained) {
  support::Rows next({"id", "token", "before", "after"});
  const std::vector<double> after = by_token(result.after, trained.model.sizes.vocabulary);
  for (const auto& [token, before] : result.before)
    next.add({token, trained.tokenizer().decode({token}), before,
              after[static_cast<std::size_t>(token)]});
  std::vector<std::string> tokens;
  for (const std::string& token : result.tokens) tokens.push_back(utf8_text(token));
  return Json::object({{"ids", result.ids},
                       {"tokens", tokens},
                       {"layer", result.row.layer},
                       {"head", result.row.head},
                       {"query", result.row.query},
                       {"own", result.own},
                       {"row", result.row.weights},
                       {"next", next.json()}});
}

}  // namespace fledge
