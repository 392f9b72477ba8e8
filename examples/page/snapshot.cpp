#include "examples/page/snapshot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/autograd.h"
#include "examples/page/base64.h"
#include "examples/page/worked.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/ablation.h"
#include "nn/inspect/probes.h"
#include "nn/text/batches.h"

namespace fledge::page {

namespace {

constexpr int likeliest = 5;
constexpr Dim watched_windows = 16;
constexpr std::uint16_t no_token = std::numeric_limits<std::uint16_t>::max();

Indices row_of(const std::vector<Dim>& ids) { return {{1, static_cast<Dim>(ids.size())}, ids}; }

Json sentence_json(const LanguageModel& model, const Plan::Sentence& sentence,
                   const std::vector<Dim>& without_text) {
  const auto T = static_cast<Dim>(sentence.ids.size());
  const auto [logits, layers] = model.forward_with_weights(row_of(sentence.ids));
  const Tensor drawn(without_tokens(logits.value(), without_text));
  const bool is_causal = model.sizes.recipe.mask == Masking::causal;
  std::vector<std::uint16_t> attention, top;
  for (const Tensor& layer : layers)
    for (Dim h = 0; h < model.sizes.heads; ++h)
      for (Dim i = 0; i < T; ++i)
        for (Dim j = 0; j < (is_causal ? i + 1 : T); ++j)
          attention.push_back(share_in_16_bits(value_of(layer.value().at({0, h, i, j}))));
  const Array p = softmax(drawn).value();
  const auto add = [&](Dim token, double probability) {
    top.push_back(static_cast<std::uint16_t>(token));
    top.push_back(share_in_16_bits(probability));
  };
  const auto add_none = [&] { top.insert(top.end(), {no_token, no_token}); };
  const std::vector<Dim> targets = targets_of(sentence);
  for (Dim i = 0; i < T; ++i) {
    const Array row = slice(drawn, 1, i, i + 1).value().with_shape({model.sizes.vocabulary});
    const std::vector<Choice> choices = most_likely(row, likeliest);
    for (const Choice& choice : choices) add(choice.token, choice.probability);
    for (auto n = std::ssize(choices); n < likeliest; ++n) add_none();
    const Dim target = targets[static_cast<std::size_t>(i)];
    target == no_target ? add_none() : add(target, value_of(p.at({0, i, target})));
  }
  const bool has_target = T > 1 || sentence.next;
  const Tensor loss =
      has_target ? cross_entropy(logits, Indices({1, T}, targets), no_target) : Tensor(0.0);
  return Json::object(
      {{"loss", loss.item()}, {"attention", base64(attention)}, {"top", base64(top)}});
}

/// q, k and v of each layer, one after the other.
std::string vectors_of(const LanguageModel& model, const std::vector<Dim>& ids) {
  Tensor x = embedding(model.wte.weight, model.wpe.weight, row_of(ids));
  std::vector<double> numbers;
  for (const Block& block : model.h) {
    for (const Tensor& part : split(block.attn.qkv(block.ln_1(x)), 3, -1)) {
      const std::vector<double> values = to_vector(part.value());
      numbers.insert(numbers.end(), values.begin(), values.end());
    }
    x = block.forward_with_weights(x, model.mask()).output;
  }
  return base64(numbers);
}

std::string continuation(const LanguageModel& model, const Tokenizer& tokenizer,
                         const std::vector<Dim>& without_text, const Plan& plan,
                         const std::vector<Dim>& prompt) {
  Decoder decoder(model, without_text);
  Rng rng(1);  // not used at temperature 0
  std::vector<Dim> drawn;
  generate(decoder, prompt, plan.continued, {.temperature = 0}, rng, [&](Dim token, const Array&) {
    if (plan.end && token == *plan.end) return false;
    drawn.push_back(token);
    return true;
  });
  return tokenizer.decode(drawn);
}

/// ln p(next) − ln p(next | looks_at hidden), in the first sentence that has the pair and a token
/// after it.
std::optional<double> effect_of(const LanguageModel& model, const std::vector<Dim>& without_text,
                                const Plan& plan, const Plan::Pair& pair) {
  for (const Plan::Sentence& sentence : plan.sentences) {
    const std::vector<Dim>& ids = sentence.ids;
    const auto seen = std::find(ids.begin(), ids.end(), pair.looks_at_token);
    const auto reads = seen == ids.end() ? seen : std::find(seen + 1, ids.end(), pair.word_token);
    if (reads == ids.end() || (reads + 1 == ids.end() && !sentence.next)) continue;
    const Dim next = reads + 1 == ids.end() ? *sentence.next : *(reads + 1);
    const Ablation found = ablate_tokens(model, {ids.begin(), reads + 1}, next, without_text);
    return found.log_p - found.without[static_cast<std::size_t>(seen - ids.begin())];
  }
  return {};
}

Json watch_json(const LanguageModel& model, const std::vector<Dim>& without_text,
                const TokenText& text, const Plan& plan, const Plan::Pair& pair) {
  const auto seen = [&](Dim token) {
    return watch_pair(model, text, pair.word_token, token, watched_windows);
  };
  const WatchedPair found = seen(pair.looks_at_token), control = seen(pair.control_token);
  const bool occurs = found.pairs > 0;
  return Json::object({{"attention", occurs ? Json(found.attention) : Json()},
                       {"chance", occurs ? Json(found.chance) : Json()},
                       {"cosine", found.similarity},
                       {"control", control.pairs > 0 ? Json(control.attention) : Json()},
                       {"effect", effect_of(model, without_text, plan, pair)}});
}

/// The rows of the word table that the map shows.
std::string map_rows(const LanguageModel& model, const std::vector<Dim>& tokens) {
  std::vector<double> rows;
  const Array table = model.wte.weight.value();
  for (const Dim token : tokens)
    for (Dim c = 0; c < model.sizes.width; ++c)
      rows.push_back(value_of(table[token * model.sizes.width + c]));
  return base64(rows);
}

/// Of each parameter mean, standard deviation, least and largest number, and 24 bins between them.
Json tensors_json(const LanguageModel& model) {
  std::vector<double> stats;
  std::string counts;
  for (const Tensor& parameter : parameters(model)) {
    const std::vector<double> x = to_vector(parameter.value());
    const auto n = static_cast<double>(x.size());
    double mean = 0, variance = 0;
    for (const double number : x) mean += number / n;
    for (const double number : x) variance += (number - mean) * (number - mean) / n;
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    stats.insert(stats.end(), {mean, std::sqrt(variance), *low, *high});
    std::vector<double> bin(histogram_bins);
    for (const double number : x) {
      const double share = *high > *low ? (number - *low) / (*high - *low) : 0.5;
      ++bin[std::min<std::size_t>(static_cast<std::size_t>(share * histogram_bins),
                                  histogram_bins - 1)];
    }
    const double most = *std::max_element(bin.begin(), bin.end());
    for (const double count : bin)
      counts += static_cast<char>(static_cast<unsigned char>(std::lround(255 * count / most)));
  }
  return Json::object({{"stats", base64(stats)}, {"bins", base64(counts)}});
}

}  // namespace

Json::Members snapshot_event(const LanguageModel& model, const Tokenizer& tokenizer,
                             const Plan& plan, std::int64_t step, bool is_full,
                             const TokenText* text) {
  std::vector<std::string> continuations;
  std::vector<Json> sentences, watched, vectors, gradients;
  if (is_full)
    for (const Plan::Sentence& sentence : plan.sentences)
      gradients.push_back(gradients_json(model, sentence));
  const NoGrad no_grad;
  const std::vector<Dim> without_text = tokenizer.without_text(model.sizes.vocabulary);
  for (const std::vector<Dim>& prompt : plan.prompts)
    continuations.push_back(continuation(model, tokenizer, without_text, plan, prompt));
  for (const Plan::Sentence& sentence : plan.sentences) {
    sentences.push_back(sentence_json(model, sentence, without_text));
    if (is_full) vectors.emplace_back(vectors_of(model, sentence.ids));
  }
  if (text)
    for (const Plan::Pair& pair : plan.watch)
      watched.push_back(watch_json(model, without_text, *text, plan, pair));
  Json::Members event{{"type", "snapshot"},
                      {"step", step},
                      {"continuations", continuations},
                      {"sentences", sentences},
                      {"watch", watched}};
  if (is_full) {
    event.emplace_back("vectors", vectors);
    event.emplace_back("gradients", gradients);
    event.emplace_back("map", map_rows(model, plan.map));
    event.emplace_back("tensors", tensors_json(model));
  }
  return event;
}

}  // namespace fledge::page
