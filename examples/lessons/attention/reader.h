// Random texts of eight words, and one attention layer that answers questions about them: which
// word stands at some other position?
//
// Words and positions are one-hot vectors side by side, so attention is all that learns. Used by the
// lessons on many heads, shared keys and cross attention.
#pragma once

#include <functional>

#include "examples/lessons/vocabulary.h"
#include "nn/layers/attention.h"
#include "nn/optim/adamw.h"

namespace fledge::reader {

inline constexpr Dim V = 8, T = 8, C = V + T;  // words, positions, a channel for each of both

/// The position of the word that position t must name; -1: none.
using Question = std::function<Dim(Dim t)>;

/// Row i is 1 in channel first + i.
inline Tensor one_hot(Dim rows, Dim first) { return slice(identity(C), 0, first, first + rows); }

inline Indices random_texts(Dim count, Rng& rng) {
  std::vector<Dim> ids(static_cast<std::size_t>(count * T));
  for (Dim& id : ids) id = rng.below(V);
  return {{count, T}, ids};
}

/// A hundred texts that no model was trained on.
inline Indices unseen_texts() {
  Rng rng(999);
  return random_texts(100, rng);
}

inline Indices targets(const Indices& texts, const Question& place) {
  std::vector<Dim> ids;
  for (Dim i = 0; i < texts.size(); ++i)
    ids.push_back(place(i % T) < 0 ? -1 : texts[i / T * T + place(i % T)]);
  return {texts.shape(), ids};
}

/// One attention layer that reads texts (B, T), and the questions that it answers at each position.
struct Reader {
  CrossAttention attention;
  std::vector<Question> questions;
  bool itself;  // self-attention with a causal mask; else the queries are made of positions alone

  /// Words and positions, (B, T, C): what keys and values are made of.
  Tensor source(const Indices& texts) const {
    return embedding(one_hot(V, 0), one_hot(T, V), texts);
  }
  AttentionOutput forward_with_weights(const Indices& texts) const {
    const Tensor x = source(texts);
    if (itself) return attention.forward_with_weights(x, x, causal());
    const Tensor no_words = Array::zeros({V, C});
    return attention.forward_with_weights(embedding(no_words, one_hot(T, V), texts), x);
  }
  /// Scores (B, T, V) of the words, for each question.
  std::vector<Tensor> answers(const Indices& texts) const {
    return split(forward_with_weights(texts).output, C / V, -1);
  }
};

/// Steps on random texts, for a layer that has questions and answers as a Reader has.
template <class Layer>
void learn(const Layer& layer, AdamW optimiser, int steps, Rng& rng) {
  minimise(std::move(optimiser), steps, [&] {
    const Indices texts = random_texts(16, rng);
    const std::vector<Tensor> answers = layer.answers(texts);
    Tensor loss = 0.0;
    for (std::size_t i = 0; i < layer.questions.size(); ++i)
      loss = loss + cross_entropy(answers[i], targets(texts, layer.questions[i]), -1);
    return loss;
  });
}

inline Reader trained(Dim heads, const std::vector<Question>& questions, bool itself, Rng rng) {
  Reader reader{CrossAttention(C, C, heads, rng), questions, itself};
  learn(reader, AdamW(parameters(reader.attention), {.rate = 0.03}), 150, rng);
  return reader;
}

/// The share of right answers to each question: the word with the largest score is the answer.
template <class Layer>
std::vector<double> accuracy(const Layer& layer, const Indices& texts) {
  const std::vector<Tensor> answers = layer.answers(texts);
  std::vector<double> shares;
  for (const Question& question : layer.questions) {
    const Indices best = argmax(answers[shares.size()]), target = targets(texts, question);
    double asked = 0, right = 0;
    for (Dim i = 0; i < target.size(); ++i) {
      asked += target[i] >= 0 ? 1 : 0;
      right += best[i] == target[i] ? 1 : 0;
    }
    shares.push_back(right / asked);
  }
  return shares;
}

/// The mean weight that a head gives to the positions that each question is about.
inline std::vector<double> looks(const Reader& reader, const Indices& texts, Dim head) {
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

}  // namespace fledge::reader
