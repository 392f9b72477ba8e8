// Shared keys: several heads of queries look through one head of keys and values. What a model keeps
// of each word shrinks; the gradients of all these heads meet in the shared key.
//                                                             Shazeer 2019; Ainslie et al. 2023
#include "examples/lessons/attention/reader.h"

namespace fledge::lessons::in_shared_keys {
using reader::C, reader::one_hot, reader::T, reader::V;

constexpr Dim H = 4, D = 8;  // heads of queries, numbers of each head

void what_is_kept(LessonText& to) {
  Table table = Table::of_numbers({"key heads", "numbers a word", "MB for 1,024 words"});
  for (const Dim key_heads : {12, 4, 1}) {
    const Dim numbers = 12 * 2 * key_heads * 64;  // layers, keys and values, heads of 64
    table.row("%d | %s | %.1f", int(key_heads), thousands(numbers).c_str(),
              static_cast<double>(numbers * 1024 * 4) / 1e6);
  }
  to.set("kept", table);
}

/// The one key head, four times side by side.
Tensor four_times(const Tensor& x) { return concat({x, x, x, x}, -1); }

void where_gradients_meet(LessonText& to) {
  Rng rng(1);
  const auto draw = [&](Dim width) { return parameter(normal({6, width}, rng)); };
  const Tensor q = draw(H * D), k = draw(D), v = draw(D);
  const Tensor own_k = parameter(four_times(k).value()), own_v = parameter(four_times(v).value());
  const Tensor shared = attention(q, k, v, HeadCount(H, 1), causal());
  const Tensor own = attention(q, own_k, own_v, H, causal());
  const Tensor dy = normal(shared.shape(), rng);
  backward(sum(shared * dy) + sum(own * dy));
  const auto four_summed = [](const Tensor& own_head) {
    return sum(reshape(Tensor(own_head.grad()), {6, H, D}), {1});
  };
  to.claim("same", farthest(shared, own) == 0);
  to.claim("sum", farthest(k.grad(), four_summed(own_k)) < 1e-5 &&
                      farthest(v.grad(), four_summed(own_v)) < 1e-5);
}

/// A layer that names the words one, two, three and four positions back.
struct Layer {
  Dim key_heads;
  Tensor W_Q, W_K, W_V, W_O;
  std::vector<reader::Question> questions;  // the first positions have no answer

  Layer(Dim shared, Rng& rng)
      : key_heads(shared),
        W_Q(draw({C, H * D}, rng)),
        W_K(draw({C, shared * D}, rng)),
        W_V(draw({C, shared * D}, rng)),
        W_O(draw({H * D, H * V}, rng)) {
    for (Dim back = 1; back <= H; ++back)
      questions.emplace_back([back](Dim t) { return t - back; });
  }

  static Tensor draw(const Shape& shape, Rng& rng) {
    return parameter(random_normal(shape, 0, 0.2, rng));
  }
  /// Scores (B, T, V) of the words, for each question.
  std::vector<Tensor> answers(const Indices& texts) const {
    const Tensor x = embedding(one_hot(V, 0), one_hot(T, V), texts);
    const Tensor y = attention(matmul(x, W_Q), matmul(x, W_K), matmul(x, W_V),
                               HeadCount(H, key_heads), causal());
    return split(matmul(y, W_O), H, -1);
  }
};

/// The share of right answers in new texts, a mean over the four questions.
double learned(Dim key_heads, std::uint64_t seed) {
  Rng rng(seed);
  const Layer layer(key_heads, rng);
  reader::learn(layer, AdamW({layer.W_Q, layer.W_K, layer.W_V, layer.W_O}, {.rate = 0.02}), 300,
                rng);
  return mean_of(reader::accuracy(layer, reader::unseen_texts()));
}

void four_questions(LessonText& to) {
  Table table =
      Table::of_numbers({"key heads", "numbers kept per word", "right, mean", "worst seed"});
  double one = 1;
  for (const Dim key_heads : {4, 2, 1}) {
    double mean = 0, worst = 1;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const double right = learned(key_heads, seed);
      mean += right / 10, worst = std::min(worst, right);
    }
    table.row("%d | %d | %s | %s", int(key_heads), int(2 * key_heads * D), percent(mean).c_str(),
              percent(worst).c_str());
    one = worst;
  }
  to.set("answers", table);
  to.claim("one is enough", one > 0.95);
}

const LessonProgram program({what_is_kept, four_questions, where_gradients_meet});

}  // namespace fledge::lessons::in_shared_keys
