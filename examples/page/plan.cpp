#include "examples/page/plan.h"

#include <algorithm>

#include "nn/text/batches.h"

namespace fledge::page {

namespace {

constexpr Dim stream_tokens = 24, most_sentences = 3, near = 80;
constexpr std::size_t mapped = 40;

/// The tokens that occur most often, the most frequent first.
std::vector<Dim> most_frequent(const Corpus& corpus) {
  std::vector<Dim> counts(static_cast<std::size_t>(corpus.tokenizer.size())), tokens;
  for (const Dim token : corpus.train.tokens) ++counts[static_cast<std::size_t>(token)];
  for (Dim token = 0; token < corpus.tokenizer.size(); ++token) tokens.push_back(token);
  std::stable_sort(tokens.begin(), tokens.end(), [&](Dim a, Dim b) {
    return counts[static_cast<std::size_t>(a)] > counts[static_cast<std::size_t>(b)];
  });
  tokens.resize(std::min(tokens.size(), mapped));
  return tokens;
}

/// Tokens begin … begin + length of the text, and the one after them.
Plan::Sentence sentence_at(const TokenText& text, std::size_t begin, std::size_t length) {
  const auto first = text.tokens.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = first + static_cast<std::ptrdiff_t>(length);
  return {{first, last}, last == text.tokens.end() ? std::optional<Dim>() : *last};
}

/// The last position up to `begin` that a line end is in front of, if it is less than `most` tokens
/// away; else `begin`.
Dim line_begin(const Corpus& corpus, Dim begin, Dim most) {
  for (Dim at = begin; at > 0 && at > begin - most; --at) {
    const Dim before = corpus.train.tokens[static_cast<std::size_t>(at - 1)];
    if (corpus.tokenizer.symbols()[static_cast<std::size_t>(before)].ends_with('\n')) return at;
  }
  return begin;
}

}  // namespace

std::vector<Dim> targets_of(const Plan::Sentence& sentence) {
  std::vector<Dim> targets(sentence.ids.begin() + 1, sentence.ids.end());
  targets.push_back(sentence.next.value_or(no_target));
  return targets;
}

Plan default_plan(const Corpus& corpus, Dim context) {
  const TokenText& text = corpus.train;
  Plan plan;
  plan.map = most_frequent(corpus);
  for (Dim i = 0; i < most_sentences; ++i) {
    const Dim documents = text.documents();
    if (documents > 0) {
      const auto document = static_cast<std::size_t>(i * (documents - 1) / (most_sentences - 1));
      const std::size_t begin = text.starts[document], end = text.starts[document + 1];
      plan.sentences.push_back(sentence_at(
          text, begin,
          std::min(end - begin, static_cast<std::size_t>(std::min(context, Plan::most_tokens)))));
    } else {
      const Dim length = std::min({context, stream_tokens, text.size()});
      const Dim last = text.size() - length;
      const Dim begin = line_begin(corpus, i * last / (most_sentences - 1),
                                   std::min(near, last / (most_sentences - 1)));
      plan.sentences.push_back(
          sentence_at(text, static_cast<std::size_t>(begin), static_cast<std::size_t>(length)));
    }
    const std::vector<Dim>& ids = plan.sentences.back().ids;
    if (std::any_of(plan.sentences.begin(), plan.sentences.end() - 1,
                    [&](const Plan::Sentence& other) { return other.ids == ids; })) {
      plan.sentences.pop_back();
      continue;
    }
    plan.prompts.emplace_back(ids.begin(),
                              ids.begin() + static_cast<std::ptrdiff_t>((ids.size() + 1) / 2));
  }
  if (text.documents() > 0) plan.end = text.tokens.at(text.starts[0]);
  if (corpus.tokenizer.kind() != Tokens::word) plan.continued = 40;
  return plan;
}

Json::Members plan_event(const Plan& plan) {
  std::vector<Json> sentences, watch;
  for (const auto& [ids, next] : plan.sentences)
    sentences.push_back(Json::object({{"ids", ids}, {"next", next}}));
  for (const Plan::Pair& pair : plan.watch)
    watch.push_back(Json::object(
        {{"word", pair.word},
         {"looks_at", pair.looks_at},
         {"control", pair.control},
         {"ids", std::vector<Dim>{pair.word_token, pair.looks_at_token, pair.control_token}}}));
  return {{"type", "page"},          {"sentences", sentences},
          {"prompts", plan.prompts}, {"continued", plan.continued},
          {"end", plan.end},         {"watch", watch},
          {"map", plan.map}};
}

Plan read_plan(const JsonValue& event, Dim vocabulary, Dim context) {
  const auto token = [&](const JsonValue& value) { return value.integer(0, vocabulary - 1); };
  const auto tokens = [&](const JsonValue& list) {
    std::vector<Dim> ids;
    list.each_item([&](const JsonValue& id) { ids.push_back(token(id)); });
    return ids;
  };
  const auto optional_token = [&](const JsonValue& value) {
    return value.is_null() ? std::optional<Dim>() : token(value);
  };
  Plan plan;
  event["sentences"].each_item([&](const JsonValue& sentence) {
    plan.sentences.push_back({tokens(sentence["ids"]), optional_token(sentence["next"])});
    const auto tokens_of_sentence = std::ssize(plan.sentences.back().ids);
    if (tokens_of_sentence < 1 || tokens_of_sentence > context)
      sentence.fail("must have 1 to " + std::to_string(context) + " tokens");
  });
  if (plan.sentences.empty()) event.fail("must have a sentence");
  event["prompts"].each_item(
      [&](const JsonValue& prompt) { plan.prompts.push_back(tokens(prompt)); });
  plan.continued = event["continued"].integer(0, 1000);
  plan.end = optional_token(event["end"]);
  event["watch"].each_item([&](const JsonValue& pair) {
    const std::vector<Dim> ids = tokens(pair["ids"]);
    if (ids.size() != 3) pair.fail("must have three tokens");
    plan.watch.push_back({pair["word"].string(), pair["looks_at"].string(),
                          pair["control"].string(), ids[0], ids[1], ids[2]});
  });
  plan.map = tokens(event["map"]);
  return plan;
}

bool SnapshotSteps::is_full(std::int64_t step) const {
  if (step == 0 || step == steps) return true;
  while (step % 10 == 0) step /= 10;
  return step == 1 || step == 2 || step == 5;
}

bool SnapshotSteps::has(std::int64_t step) const {
  constexpr std::int64_t even = 24;
  return is_full(step) || step * even / steps != (step - 1) * even / steps;
}

}  // namespace fledge::page
