// Many heads: queries that ask another text, and two heads that come to do different work.
//
// Works out note 002 (attention intuition), its last two lines: cross attention and many heads.
// Adds to 11_adjectives_and_nouns training: no head is told where to look, and it is measured over
// seeds where each looks. Key idea: a head has one set of weights a place, so what it brings is one
// blend; two heads keep two answers apart, and which head takes which question is chance.
// Words and places are one-hot vectors side by side: attention is all that learns.
// Next: nn/layers/attention.h, nn/gpt/language_model.h.
#include <algorithm>
#include <functional>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "examples/lessons/lesson.h"
#include "examples/support/attention_map.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"
#include "nn/optim/adamw.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

constexpr Dim V = 8, T = 8, C = V + T, seeds = 20;  // words, places, a channel for each of both

/// The place of the word that place t is to name; -1: none.
using Question = std::function<Dim(Dim t)>;

/// Row i is 1 in channel first + i.
Tensor one_hot(Dim rows, Dim first) {
  std::vector<double> numbers(static_cast<std::size_t>(rows * C));
  for (Dim i = 0; i < rows; ++i) numbers[static_cast<std::size_t>(i * C + first + i)] = 1;
  return Array({rows, C}, numbers);
}

Indices random_texts(Dim count, Rng& rng) {
  std::vector<Dim> ids(static_cast<std::size_t>(count * T));
  for (Dim& id : ids) id = rng.below(V);
  return {{count, T}, ids};
}

Indices targets(const Indices& texts, const Question& place) {
  std::vector<Dim> ids;
  for (Dim i = 0; i < texts.size(); ++i)
    ids.push_back(place(i % T) < 0 ? -1 : texts[i / T * T + place(i % T)]);
  return {texts.shape(), ids};
}

/// One layer that reads texts (B, T), and the questions that it answers at each place.
struct Reader {
  CrossAttention attention;
  std::vector<Question> questions;
  bool itself;  // the texts ask themselves, causally; else an empty page, all places, asks them

  AttentionOutput forward_with_weights(const Indices& texts) const {
    const Tensor places = one_hot(T, V), source = embedding(one_hot(V, 0), places, texts);
    if (itself) return attention.forward_with_weights(source, source, causal());
    return attention.forward_with_weights(embedding(Tensor(Array::zeros({V, C})), places, texts),
                                          source);
  }
  /// Scores (B, T, V) of the words, for each question.
  std::vector<Tensor> answers(const Indices& texts) const {
    return split(forward_with_weights(texts).output, C / V, -1);
  }
};

Reader trained(Dim heads, const std::vector<Question>& questions, bool itself, Rng rng) {
  Reader reader{CrossAttention(C, C, heads, rng), questions, itself};
  AdamW adamw(parameters(reader.attention), {.rate = 0.03});
  for (int step = 0; step < 150; ++step) {
    const Indices texts = random_texts(16, rng);
    const std::vector<Tensor> answers = reader.answers(texts);
    Tensor loss = 0.0;
    for (std::size_t i = 0; i < questions.size(); ++i)
      loss = loss + cross_entropy(answers[i], targets(texts, questions[i]), -1);
    adamw.zero_grad();
    backward(loss);
    adamw.step();
  }
  return reader;
}

/// The share of right answers to each question.
std::vector<double> accuracy(const Reader& reader, const Indices& texts) {
  std::vector<double> shares;
  for (const Question& question : reader.questions) {
    const Indices right = targets(texts, question);
    const Array scores = reader.answers(texts)[shares.size()].value();
    const Array best = max(Tensor(scores), {-1}).value();
    double asked = 0, answered = 0;
    for (Dim i = 0; i < right.size(); ++i) {
      asked += right[i] < 0 ? 0 : 1;
      answered += right[i] >= 0 && scores[i * V + right[i]] == best[i] ? 1 : 0;
    }
    shares.push_back(answered / asked);
  }
  return shares;
}

/// The mean weight that a head gives to the places that each question asks for.
std::vector<double> looks(const Reader& reader, const Indices& texts, Dim head) {
  const Array weights = mean(reader.forward_with_weights(texts).weights, {0}).value();  // (H, T, T)
  std::vector<double> means;
  for (const Question& question : reader.questions) {
    double total = 0, asked = 0;
    for (Dim t = 0; t < T; ++t) {
      total += question(t) < 0 ? 0 : value_of(weights.at({head, t, question(t)}));
      asked += question(t) < 0 ? 0 : 1;
    }
    means.push_back(total / asked);
  }
  return means;
}

void another_text(Lesson& to, const Indices& unseen) {
  to.part("Cross attention: an empty page asks a text, to write it backwards");
  int solved = 0;
  std::vector<double> pattern;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Reader reader = trained(1, {[](Dim t) { return T - 1 - t; }}, false, Rng(seed));
    solved += accuracy(reader, unseen)[0] == 1 ? 1 : 0;
    pattern = to_vector(mean(reader.forward_with_weights(unseen).weights, {0, 1}).value());
  }
  support::MapStyle style;
  style.causal = false;
  to.say(
      "The queries are made of places alone, keys and values of the words of the text and their "
      "places. No mask.\n");
  to.show(support::attention_map({"1", "2", "3", "4", "5", "6", "7", "8"}, pattern, style));
  to.claim_rate(solved, seeds, 20, "all words of 100 new texts come out backwards");
}

void two_heads(Lesson& to, const Indices& unseen) {
  to.part("Two questions at once: which word stands before this one, which is the first?");
  const std::vector<Question> questions{[](Dim t) { return t < 2 ? -1 : t - 1; },
                                        [](Dim t) { return t < 2 ? -1 : 0; }};
  int right = 0, apart = 0, swapped = 0;
  double best_alone = 0;
  Table table({{"   seed"}, {"head 1 at"}, {"head 2 at"}, {"right"}, {"one head at"}, {"right"}});
  const auto cell = [](const std::vector<double>& x) { return formatted("%.2f %.2f", x[0], x[1]); };
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Reader two = trained(2, questions, true, Rng(seed));
    const Reader one = trained(1, questions, true, Rng(seed));
    const std::vector<double> a = looks(two, unseen, 0), b = looks(two, unseen, 1);
    const std::vector<double> both = accuracy(two, unseen), alone = accuracy(one, unseen);
    right += both[0] >= 0.99 && both[1] >= 0.99 ? 1 : 0;
    apart += std::max(std::min(a[0], b[1]), std::min(a[1], b[0])) > 0.8 ? 1 : 0;
    swapped += a[0] < b[0] ? 1 : 0;
    best_alone = std::max(best_alone, std::min(alone[0], alone[1]));
    if (seed <= 4)
      table.row({formatted("   %d", static_cast<int>(seed)), cell(a), cell(b), cell(both),
                 cell(looks(one, unseen, 0)), cell(alone)});
  }
  to.say(
      "Two numbers a cell, for the word before and for the first word: the weight that a head gives "
      "it, or the share of right answers.\n");
  to.show(table.text());
  to.claim_rate(right, seeds, 18, "two heads: at least 99 % of each question are right");
  to.claim_rate(apart, seeds, 17, "one head looks at the word before, the other at the first");
  to.claim(swapped > 0 && swapped < seeds,
           formatted("chance decides which: head 1 looks at the first word in %d seeds", swapped));
  to.claim(
      best_alone < 0.98,
      formatted("one head of the same width mixes two words: at best %.2f are right", best_alone));
}

void lesson(Lesson& to) {
  Rng rng(999);
  const Indices unseen = random_texts(100, rng);
  another_text(to, unseen);
  two_heads(to, unseen);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "12_many_heads",
                             "Queries that ask another text, and two heads at work.",
                             fledge::lesson);
}
