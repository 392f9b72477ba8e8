// A sink: a head that may look at nothing. The weights of a row sum to 1, whatever the scores are;
// one learned number a head takes the rest.                 Miller 2023; Xiao et al. 2024 (sinks)
#include "examples/lessons/vocabulary.h"
#include "nn/optim/adamw.h"

namespace fledge::lessons::in_attend_to_nothing {

/// w_j = exp(s_j) / (exp(b) + Σ_i exp(s_i)): a softmax with one more score b, which has no value.
/// s (…, n)   b (1)   w (…, n)
Tensor softmax_with_sink(const Tensor& s, const Tensor& b) {
  const Dim n = s.dim(-1);
  return slice(softmax(concat({s, slice(s, -1, 0, 1) * 0.0 + b}, -1)), -1, 0, n);
}

void low_scores(LessonText& to) {
  Table table = Table::of_numbers({"three scores", "each weight", "sum", "with a sink", "sum"});
  for (const double score : {5., 0., -5., -50.}) {
    const Tensor s = Array::full({3}, static_cast<Real>(score));
    const Tensor w = softmax(s), with = softmax_with_sink(s, Tensor(0.0));
    table.row("%g | %.2f | %.2f | %.3f | %.3f", score, number(w, 0), sum(w).item(), number(with, 0),
              sum(with).item());
  }
  to.set_all("scores", table, "all", sum(softmax(Array::full({3}, -5))).item());
  const double e = std::exp(-5);
  const Tensor low = Array::full({3}, -5);
  to.claim("a third", largest(softmax(low) - softmax(low - 45.0)) < 1e-7);
  to.claim("formula",
           std::abs(number(softmax_with_sink(low, Tensor(0.0)), 0) - e / (1 + 3 * e)) < 1e-7);
}

// -- learning: four words, animals or colours or both, and the question which there are ------------

constexpr Dim kinds = 4, start = 8;  // words 0 … 3 are animals, 4 … 7 colours, 8 is the line end
enum class Rest { none, line_end, sink };

struct Texts {
  Indices words;     // (B, 4), or (B, 5) behind a line end
  Indices question;  // (B): 0 animals, 1 colours
  Tensor answer;     // (B, 8): the share of each word that was asked for; zeros if there is none
  Tensor is_empty;   // (B): 1 if there is none
};

Texts random_texts(Dim count, Rest rest, Rng& rng) {
  std::vector<Dim> words, question;
  Array answer = Array::zeros({count, 8}), is_empty = Array::zeros({count});
  for (Dim b = 0; b < count; ++b) {
    if (rest == Rest::line_end) words.push_back(start);
    const Dim animals = 2 * rng.below(3), asked = rng.below(2);  // 0, 2 or 4 of four words
    const Dim found = asked == 0 ? animals : 4 - animals;
    for (Dim i = 0; i < 4; ++i) {
      const Dim kind = i < animals ? 0 : 1;
      words.push_back(kinds * kind + rng.below(kinds));
      if (kind == asked) answer.write()[8 * b + words.back()] += Real(1) / Real(found);
    }
    question.push_back(asked);
    is_empty.write()[b] = found == 0 ? 1 : 0;
  }
  return {{{count, rest == Rest::line_end ? 5 : 4}, words}, {{count}, question}, answer, is_empty};
}

struct Head {
  Rest rest;
  Tensor query, key, value, sink = parameter(Array::zeros({1}));

  Head(Rest with, Rng& rng)
      : rest(with),
        query(parameter(normal({2, 4}, rng))),
        key(parameter(normal({9, 4}, rng))),
        value(parameter(normal({9, 8}, rng))) {}

  Tensor weights(const Texts& texts) const {  // (B, 1, n)
    const Tensor q = reshape(embedding(query, texts.question), {texts.is_empty.dim(0), 1, 4});
    const Tensor scores = matmul(q, transpose(embedding(key, texts.words)));
    return rest == Rest::sink ? softmax_with_sink(scores, sink) : softmax(scores);
  }
  Tensor error(const Texts& texts) const {  // (B)
    const Tensor y = matmul(weights(texts), embedding(value, texts.words));
    const Tensor off = reshape(y, {texts.is_empty.dim(0), 8}) - texts.answer;
    return sum(off * off, {-1});
  }
};

void what_is_learned(LessonText& to) {
  Table table = Table::of_numbers(
      {"what may take the rest", "error, some fit", "error, none fits", "to words", "to line end"});
  double worst[3] = {0, 0, 0}, best[3] = {9, 9, 9}, words_with_sink = 0;
  int found = 0;
  for (const Rest rest : {Rest::none, Rest::line_end, Rest::sink}) {
    double some = 0, none = 0, words = 0, line_end = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Rng rng(seed);
      const Head head(rest, rng);
      minimise(AdamW({head.query, head.key, head.value, head.sink}, {.rate = 0.03, .decay = 0}),
               1000, [&] { return mean(head.error(random_texts(64, rest, rng))); });
      const Texts unseen = random_texts(500, rest, rng);
      const Tensor empty = unseen.is_empty / sum(unseen.is_empty), error = head.error(unseen);
      const Tensor looked = matmul(reshape(empty, {1, 500}),
                                   reshape(head.weights(unseen), {500, unseen.words.shape()[1]}));
      const double off = dot(error, empty),
                   at_start = rest == Rest::line_end ? number(looked, 0) : 0;
      some += dot(error, 1.0 - unseen.is_empty) / sum(1.0 - unseen.is_empty).item() / 10,
          none += off / 10;
      words += (sum(looked).item() - at_start) / 10, line_end += at_start / 10;
      const auto i = static_cast<std::size_t>(rest);
      worst[i] = std::max(worst[i], off), best[i] = std::min(best[i], off);
      found += at_start > 0.8 ? 1 : 0;
    }
    if (rest == Rest::sink) words_with_sink = words;
    constexpr const char* names[] = {"nothing", "a line end", "a sink"};
    table.row("%s | %.3f | %.3f | %.2f | %.2f", names[static_cast<int>(rest)], some, none, words,
              line_end);
  }
  to.set("learned", table);
  to.claim("must look", best[0] > 0.1);
  to.claim_rate("found a sink", found, 10, 8);
  to.claim("sink", worst[2] < 0.02 && words_with_sink < 0.05);
}

const LessonProgram program({low_scores, what_is_learned});

}  // namespace fledge::lessons::in_attend_to_nothing
