// Rotary positions: a query and a key are turned by their positions, so that their score depends on
// the distance alone.                                                          Su et al. 2021
#include "examples/lessons/vocabulary.h"
#include "nn/optim/adamw.h"

namespace fledge::lessons::in_rotary_positions {

/// The vector, turned for the position.   x (1, D)
Tensor turned(const Tensor& x, Dim position, double base = 10000) {
  return rotate(x, x.dim(-1), 1, position, base);
}

void two_hands(LessonText& to) {
  const Tensor q = Array({1, 2}, {1, 0}), k = Array({1, 2}, {1, 0});
  Table table = Table::of_numbers({"walk at", "birds at", "walk's hand", "birds' hand", "score"});
  double same = 0;
  for (const auto& [walk, birds] : {std::pair<Dim, Dim>{2, 0}, {12, 10}, {102, 100}, {2, 1}}) {
    const double score = dot(turned(q, walk), turned(k, birds));
    const auto degrees = [](Dim position) {
      return static_cast<int>(std::lround(static_cast<double>(position) * 180 / 3.14159265)) % 360;
    };
    table.row("%d | %d | %d° | %d° | %.3f", int(walk), int(birds), degrees(walk), degrees(birds),
              score);
    if (walk - birds == 2) same = std::max(same, std::abs(score - std::cos(2)));
  }
  to.set("hands", table);
  to.claim("cosine", same < 1e-12);
}

void many_hands(LessonText& to) {
  constexpr Dim D = 16;
  Table table = Table::of_numbers({"pair", "turn per word", "words per round"});
  for (Dim i = 0; i < D / 2; ++i) {
    const double angle = std::pow(10000, -2. * static_cast<double>(i) / D);
    table.row("%d | %.5f | %.0f", int(i), angle, 2 * 3.14159265 / angle);
  }
  to.set("speeds", table);
  Rng rng(1);
  const Tensor q = normal({1, D}, rng), k = normal({1, D}, rng);
  double off = 0, longer = 0;
  for (Dim t = 0; t < 50; ++t)
    for (Dim s = 0; s <= t; ++s)
      off = std::max(off, std::abs(dot(turned(q, t), turned(k, s)) -
                                   dot(turned(q, t + 1000), turned(k, s + 1000))));
  for (Dim t = 0; t < 50; ++t)
    longer = std::max(longer, std::abs(length(turned(q, t)) - length(q)));
  to.claim("distance", off < 1e-11);
  to.claim("length", longer < 1e-13);
}

/// The weights (T, T) of a head whose words all have the query q and the key k.
Tensor weights_of(const Tensor& q, const Tensor& k, Dim T) {
  const Tensor same = Array::full({T, 1}, 1);
  const Tensor scores =
      matmul(rotate(same * q, q.dim(-1), 1), transpose(rotate(same * k, k.dim(-1), 1)));
  return softmax(scores, causal());
}

/// The weight of each position from the fourth on for the word three before it, (T − 3).
Tensor three_back(const Tensor& weights) {
  const Dim T = weights.dim(0);
  Array chosen = Array::zeros({T - 3, T});
  for (Dim t = 3; t < T; ++t) chosen.write()[(t - 3) * T + t - 3] = 1;
  return sum(slice(weights, 0, 3, T) * Tensor(chosen), {1});
}

void three_words_back(LessonText& to) {
  constexpr int seeds = 40;
  int solved = 0, forgotten = 0, rivals = 0;
  Table table = Table::of_numbers(
      {"seed", "12 words", "100 words", "1,000 words", "best far word", "above by"});
  for (int seed = 1; seed <= seeds; ++seed) {
    Rng rng(static_cast<std::uint64_t>(seed));
    const Tensor q = parameter(normal({1, 16}, rng)), k = parameter(normal({1, 16}, rng));
    minimise(AdamW({q, k}, {.rate = 0.05, .decay = 0}), 200,
             [&] { return -mean(log(three_back(weights_of(q, k, 12)))); });
    const auto least = [&](Dim T) { return -max(-three_back(weights_of(q, k, T))).item(); };
    const double in12 = least(12), in100 = least(100), in1000 = least(1000);
    const std::vector<double> last = numbers(row(weights_of(q, k, 1000), 999));
    const auto far = std::max_element(last.begin(), last.end() - 12);  // 12 or more words back
    const double lead = std::log(*far / last[996]);                    // of its score
    if (seed <= 5)
      table.row("%d | %.3f | %.3f | %.3f | %d back | %.2f", seed, in12, in100, in1000,
                int(last.end() - far) - 1, lead);
    solved += in12 > 0.9 ? 1 : 0;
    forgotten += in1000 < 0.1 ? 1 : 0;
    rivals += lead > 0 ? 1 : 0;
  }
  to.set_all("learned", table, "seeds", seeds);
  to.claim_rate("learns", solved, seeds, seeds);
  to.claim_rate("forgets", forgotten, seeds, seeds / 4);
  to.claim_rate("rival", rivals, seeds, seeds / 4);
}

const LessonProgram program({two_hands, many_hands, three_words_back});

}  // namespace fledge::lessons::in_rotary_positions
