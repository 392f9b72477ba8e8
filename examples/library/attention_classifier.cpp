// Does the first token occur again? Attention finds out: position 0 looks for its like. The answer
// for a sequence is one of two classes, and fresh sequences test it.
#include <iostream>
#include "fledge.h"
using namespace fledge;

constexpr Dim tokens = 12, T = 8, width = 24, batch = 32;

struct Classifier {
  Embedding words, positions;
  Attention attention;
  MLP mlp;
  Linear classes;

  explicit Classifier(Rng& rng)
      : words(tokens, width, rng, 0.5),
        positions(T, width, rng, 0.5),
        attention(width, 2, rng),
        mlp(width, 2 * width, rng),
        classes(width, 2, rng) {}

  /// ids (batch, T)   logits (batch, 2)
  Tensor operator()(const Indices& ids) const {
    const Tensor x = embedding(words.weight, positions.weight, ids);
    const Tensor first = slice(x + attention(x), 1, 0, 1);  // position 0: (batch, 1, width)
    return classes(reshape(first + mlp(first), {ids.shape().dim(0), width}));
  }

  void visit(auto&& f) const {
    f("words", words), f("positions", positions), f("attention", attention), f("mlp", mlp);
    f("classes", classes);
  }
};

struct Batch {
  Indices ids, answers;
};

Batch draw(Dim count, Rng& rng) {
  std::vector<Dim> ids, answers;
  for (Dim i = 0; i < count; ++i) {
    const Dim first = rng.below(tokens), again = rng.below(2);
    const Dim at = 1 + rng.below(T - 1);
    for (Dim t = 0; t < T; ++t) {
      const Dim other = (first + 1 + rng.below(tokens - 1)) % tokens;
      ids.push_back(t == 0 || (t == at && again == 1) ? first : other);
    }
    answers.push_back(again);
  }
  return {Indices({count, T}, ids), Indices({count}, answers)};
}

int main() {
  Rng rng(1);
  const Classifier model(rng);
  AdamW adamw(parameters(model), {.rate = 3e-3});
  for (int step = 1; step <= 600; ++step) {
    const Batch seen = draw(batch, rng);
    const Tensor loss = cross_entropy(model(seen.ids), seen.answers, {.smoothing = 0.05});
    adamw.zero_grad();
    backward(loss);
    adamw.step();
    if (step % 200 == 0) std::cout << "step " << step << "  loss " << loss << '\n';
  }
  const Dim count = 500;
  const Batch fresh = draw(count, rng);
  const Indices guesses = argmax(model(fresh.ids));
  Dim right = 0;
  for (Dim i = 0; i < count; ++i) right += guesses[i] == fresh.answers[i] ? 1 : 0;
  std::cout << right << " of " << count << " fresh sequences are classified rightly\n";
  return right > 450 ? 0 : 1;
}
