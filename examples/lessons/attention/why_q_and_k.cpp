// Why queries and keys have a matrix each: one matrix for both makes the scores symmetric.
#include "examples/lessons/vocabulary.h"
#include "nn/optim/adamw.h"

namespace fledge::lessons::in_why_q_and_k {

/// Row i has a 1 for the player that i beats, of rock, paper and scissors the one before it.
Tensor victims() { return Array({3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0}); }

/// M⁻¹ of a matrix (2, 2): M·M⁻¹ is the identity matrix.
Tensor inverse(const Tensor& M) {
  const std::vector<double> m = numbers(M);
  const double det = m[0] * m[3] - m[1] * m[2];
  return Tensor(Array({2, 2}, {m[3], -m[1], -m[2], m[0]})) / det;
}

struct Head {
  Tensor query, key;  // W_Q and W_K (C, D); when tied, one tensor twice
};

/// S_ij = q_i·k_j / √D,   q_i = x_i·W_Q,   k_j = x_j·W_K                     X (n, C)   S (n, n)
Tensor scores(const Tensor& X, const Head& W) {
  const double scale = 1 / std::sqrt(static_cast<double>(W.key.dim(1)));
  return matmul(matmul(X, W.query), transpose(matmul(X, W.key))) * scale;
}

enum class Sides { tied, untied };

/// The weights of the three players, whose vectors are the rows of the identity matrix.
Tensor weights(const Head& W) { return softmax(scores(identity(3), W)); }

/// AdamW makes the loss, 1 − the mean weight on the victim, small, starting from random numbers.
Tensor learned_weights(Sides sides, std::uint64_t seed) {
  Rng rng(seed);
  const Tensor query = parameter(normal({3, 3}, rng));
  const Tensor key = sides == Sides::tied ? query : parameter(normal({3, 3}, rng));
  std::vector<Tensor> learning{query};
  if (sides == Sides::untied) learning.push_back(key);
  minimise(AdamW(learning, {.rate = 0.05, .decay = 0}), 300, [&] {
    return 1.0 - sum(weights({query, key}) * victims()) / 3;
  });
  return weights({query, key});
}

/// How many players give their victim more than half of their weight.
int players_right(const Tensor& weights) {
  return count_of(numbers(sum(weights * victims(), {1})), [](double a) { return a > 0.5; });
}

void game(LessonText& to) {
  int untied = 0, even = 0, tied[4] = {};  // seeds: all succeed; even split; none, one, … succeed
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    untied += players_right(learned_weights(Sides::untied, seed)) == 3 ? 1 : 0;
    const Tensor learned = learned_weights(Sides::tied, seed);
    ++tied[players_right(learned)];
    even += farthest(learned, 1.0 / 3) < 0.05 ? 1 : 0;
  }
  to.set_all("two succeed", tied[2], "even split", even, "one succeeds", tied[1]);
  to.claim_rate("two matrices", untied, 100, 100);
  to.claim_rate("one matrix", 100 - tied[3], 100, 100);
}

/// X (5, 4), W_Q (4, 2) and W_K (4, 2)
std::array<Tensor, 3> five_random_words() {
  Rng rng(1);
  return {normal({5, 4}, rng), normal({4, 2}, rng), normal({4, 2}, rng)};
}

void symmetric_scores(LessonText& to) {
  const Tensor q = Array({3, 2}, {1, 0, 1, 1, 0, 1}), s = matmul(q, transpose(q)), a = softmax(s);
  Table table = Table::of_numbers({"   word", "scores", "exp of the scores", "sum", "exp/sum"});
  for (Dim i = 0; i < 3; ++i)
    table.row({formatted("   %d", static_cast<int>(i) + 1), text_of(row(s, i), "%3.0f"),
               text_of(row(exp(s), i)), text_of(sum(row(exp(s), i))), text_of(row(a, i))});
  to.set_all("table", table, "word 1 to 2", numbers(a)[1], "word 2 to 1", numbers(a)[3]);
  const auto [X, W_Q, W_K] = five_random_words();
  const Tensor tied = scores(X, {W_Q, W_Q}), direct = scores(X, {W_Q, W_K});
  const Tensor swapped = scores(X, {W_K, W_Q});
  const double moved = farthest(softmax(direct), softmax(swapped));
  to.claim("symmetric", farthest(tied, transpose(tied)) == 0 &&
                            farthest(softmax(tied), transpose(softmax(tied))) > 0.05);
  to.claim("exchanged", farthest(swapped, transpose(direct)) == 0 && moved > 0.05 &&
                            farthest(softmax(direct), transpose(softmax(swapped))) > 0.05);
  to.set("moved", moved);
}

void one_matrix_in_between(LessonText& to) {
  to.set_all("thin", thousands(2 * 768 * 64), "large", thousands(768 * 768));
  const auto [X, W_Q, W_K] = five_random_words();
  const Tensor Q = matmul(X, W_Q), S = scores(X, {W_Q, W_K}), W = matmul(W_Q, transpose(W_K));
  const Tensor R = slice(Q, 0, 0, 2), C = matmul(Q, inverse(R));  // Q = C·R     (5, 2)
  const double share = std::exp(1) / (std::exp(1) + 2);
  to.set_all("row 1", numbers(C)[4], "row 2", numbers(C)[5], "share", share);
  to.claim("this W", farthest(sum(softmax(victims()) * victims(), {1}), share) < 1e-15);
  to.claim("same scores", farthest(matmul(matmul(X, W), transpose(X)) / std::sqrt(2.0), S) < 1e-12);
  const Tensor other = scores(X, {matmul(W_Q, R), matmul(W_K, transpose(inverse(R)))});
  to.claim("other pair", farthest(other, S) < 1e-12);
  to.claim("made from two", farthest(matmul(C, slice(S, 0, 0, 2)), S) < 1e-12);
}

const LessonProgram program({game, symmetric_scores, one_matrix_in_between});

}  // namespace fledge::lessons::in_why_q_and_k
