// Why queries and keys have a matrix each: one matrix for both makes the scores symmetric.
//
// Works out note 004, "Poorly Structured Notes on AI": items 004.1, 004.3 to 004.5 and 004.10 to
// 004.12 of examples/NOTES.md. Key idea: to look and to be looked at are different things, and a
// symmetric score cannot tell them apart. W = W_Q·W_Kᵀ decides; two thin matrices make it small.
// Next: 10_ephemeral_network.cpp, the weights as a network.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/lessons/lesson_page.h"
#include "examples/lessons/tensors.h"
#include "examples/support/table.h"
#include "nn/optim/adamw.h"

namespace fledge {

namespace {

using support::formatted, support::Lesson, support::Table;

constexpr std::array players{"rock", "paper", "scissors"};  // each one beats the one before it

/// Row i has a 1 in column i + shift, around the circle.
Tensor circle(Dim n, Dim shift) {
  Array table = Array::zeros({n, n});
  for (Dim i = 0; i < n; ++i) table.write()[i * n + (i + shift) % n] = 1;
  return table;
}

Tensor identity(Dim n) { return circle(n, 0); }
Tensor victims(Dim n) { return circle(n, n - 1); }  // row i: the player that i beats

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

/// AdamW makes `loss` of the two matrices (n, D) small, starting from random numbers.
template <class Loss>
Head train(Sides sides, Dim n, Dim D, std::uint64_t seed, int steps, Loss loss) {
  Rng rng(seed);
  const Tensor query = parameter(random_normal({n, D}, 0, 1, rng));
  const Tensor key = sides == Sides::tied ? query : parameter(random_normal({n, D}, 0, 1, rng));
  std::vector<Tensor> learning{query};
  if (sides == Sides::untied) learning.push_back(key);
  AdamW optimizer(learning, {.rate = 0.05, .decay = 0});
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    backward(loss(Head{query, key}));
    optimizer.step();
  }
  return {query, key};
}

/// The weights of the three players, whose vectors are the rows of the identity matrix.
Tensor weights(const Head& W) { return softmax(scores(identity(3), W)); }

/// The loss is 1 − the mean weight on the victim.
Tensor learned_weights(Sides sides, std::uint64_t seed) {
  return weights(train(sides, 3, 3, seed, 300,
                       [](const Head& W) { return 1.0 - sum(weights(W) * victims(3)) / 3; }));
}

/// How many players give their victim more than half of their weight.
int players_right(const Tensor& weights) {
  int right = 0;
  for (const double a : numbers(sum(weights * victims(3), {1}))) right += a > 0.5 ? 1 : 0;
  return right;
}

void game(Lesson& to) {
  to.part("Rock, paper, scissors");
  to.show(
      "              rock\n            /     ^\n           v       \\        an arrow: looks at "
      "its victim\n     scissors ---> paper\n");
  to.say(
      "Each player is a word. It must look at its victim, the player that it beats. Each word sees "
      "all three words, itself too. Let score(A, B) be the dot product of the query of A and the "
      "key of B. If one matrix makes queries and keys, then score(A, B) = score(B, A).\nR is rock, "
      "P is paper, S is scissors. Rock needs score(R, S) > score(R, P). Paper needs score(P, R) > "
      "score(P, S). Scissors needs score(S, P) > score(S, R). In one chain:\n \n   score(R, S) > "
      "score(R, P) = score(P, R) > score(P, S) =\n   score(S, P) > score(S, R) = score(R, S)\n "
      "\nEach = exchanges the two letters. The chain begins and ends with score(R, S), and no "
      "number is larger than itself. So one matrix serves at most two players. If you predicted 2, "
      "you were right.\nNow we train such heads, with one matrix and with two.\n");
  to.define("tied", "Said of two matrices that share all their parameters: they are one matrix.");
  to.define("optimizer", "The rule that computes new parameters from the gradients.");
  to.define(
      "Adam, AdamW",
      "An optimizer. It divides the mean of a parameter's newest gradients by their usual size. The "
      "learning rate times this is the step. AdamW also shrinks each parameter a little.");
  int three_untied = 0, three_tied = 0, two_tied = 0, one_tied = 0, even = 0;  // seeds
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    three_untied += players_right(learned_weights(Sides::untied, seed)) == 3 ? 1 : 0;
    const Tensor tied = learned_weights(Sides::tied, seed);
    three_tied += players_right(tied) == 3 ? 1 : 0;
    two_tied += players_right(tied) == 2 ? 1 : 0;
    one_tied += players_right(tied) == 1 ? 1 : 0;
    even += farthest(tied, 1.0 / 3) < 0.05 ? 1 : 0;
  }
  to.say(
      "\nOne matrix that makes both is a tied pair. The loss is 1 minus the mean weight on the "
      "victim, and AdamW takes 300 steps. A player succeeds if its victim gets more than half of "
      "its weight. " +
      formatted(
          "Of 100 seeds, a tied pair serves two players in %d. In %d it stops at the even split, "
          "1/3 for each word. In the other %d only one player succeeds.\n",
          two_tied, even, one_tied));
  to.claim_rate(three_untied, 100, 100, "two matrices: all three succeed");
  to.claim_rate(100 - three_tied, 100, 100, "one matrix: at most two do");
}

/// X (5, 4), W_Q (4, 2) and W_K (4, 2)
std::array<Tensor, 3> five_random_words() {
  Rng rng(1);
  const Array X = random_normal({5, 4}, 0, 1, rng), W_Q = random_normal({4, 2}, 0, 1, rng);
  return {X, W_Q, random_normal({4, 2}, 0, 1, rng)};
}

void symmetric_scores(Lesson& to) {
  to.part("What one matrix does to the table of scores");
  to.define(
      "symmetric",
      "Said of a table in which the number in row i, column j equals the number in row j, column i.");
  to.define("transpose", "The table with rows and columns exchanged.");
  to.say(
      "\nAn example: three words have the queries (1, 0), (1, 1) and (0, 1). One matrix makes "
      "queries and keys, so the keys are the same vectors. Scores are q.k here, without the "
      "scale.\n");
  const Tensor q = Array({3, 2}, {1, 0, 1, 1, 0, 1}), s = matmul(q, transpose(q)), a = softmax(s);
  Table table = Table::of_numbers({"   word", "scores", "exp of the scores", "sum", "exp/sum"});
  for (Dim i = 0; i < 3; ++i)
    table.row({formatted("   %d", static_cast<int>(i) + 1), text_of(row(s, i), "%3.0f"),
               text_of(row(exp(s), i)), text_of(sum(row(exp(s), i))), text_of(row(a, i))});
  to.show(table.text());
  const auto [X, W_Q, W_K] = five_random_words();
  const Tensor tied = scores(X, {W_Q, W_Q}), direct = scores(X, {W_Q, W_K});
  const Tensor swapped = scores(X, {W_K, W_Q});
  const double moved = farthest(softmax(direct), softmax(swapped));
  to.say(
      formatted(
          "The scores are symmetric. The weights exp/sum are not: word 1 gives word 2 %.2f, and "
          "word 2 gives word 1 %.2f. ",
          numbers(a)[1], numbers(a)[3]) +
      "The sums of the two rows differ. Note 004 is one of the source notes of lesson 2, and A is "
      "its table of scores. With one matrix, it calls nearly half of A redundant. This is right: "
      "of n * n scores, n * (n - 1)/2 repeat another one.\nIf two different matrices W_Q and W_K "
      "change places, the scores become their transpose. The weights do not, because they add up "
      "to 1 for each query, not for each key.\n");
  to.claim(farthest(tied, transpose(tied)) == 0 &&
               farthest(softmax(tied), transpose(softmax(tied))) > 0.05,
           "one matrix, five random words: only the scores are symmetric");
  to.claim(farthest(swapped, transpose(direct)) == 0 && moved > 0.05 &&
               farthest(softmax(direct), transpose(softmax(swapped))) > 0.05,
           "exchanged: the scores are transposed, the weights are not");
  to.slip(
      "004", "they work identically",
      formatted("W_Q and W_K exchanged: scores are transposed, and of five random words a weight "
                "changes by %.2f",
                moved),
      "queries and keys are computed in the same way, but weights sum to 1 for each query");
}

void one_matrix_in_between(Lesson& to) {
  to.part("Why two thin matrices, and not one large one");
  const int n = 768, D = 64;
  to.say(
      "A single matrix can serve all three players if it stands between the two words. Let x and y "
      "be the rows of numbers of two words, and ^T the transpose. A dot product u.w is u w^T, and "
      "(y W_K)^T is W_K^T y^T. So without the scale the score of x for y is\n \n   q.k = (x "
      "W_Q).(y W_K) = x W_Q W_K^T y^T = x W y^T,  with W = W_Q W_K^T.\n \nOnly W decides, and W "
      "need not be symmetric. If rock is (1, 0, 0), paper (0, 1, 0) and scissors (0, 0, 1), each "
      "number of W is one score. W with the rows (0, 0, 1), (1, 0, 0), (0, 1, 0) serves all three: "
      "without the scale, scores of 1 for the victim and 0 for the others give the victim more "
      "than half. Models store two matrices instead, because two with few columns are smaller. " +
      formatted(
          "In GPT-2 small, a published model, a word has %d numbers, and the head size D is %d. ",
          n, D) +
      formatted(
          "W_Q and W_K have 2 x %d x %d = %s numbers; W has %d x %d = %s. The price: two thin "
          "matrices cannot make every W.\n",
          n, D, support::thousands(2 * n * D).c_str(), n, n, support::thousands(n * n).c_str()));
  to.define(
      "rank",
      "The smallest number of rows from which all rows of a table can be made, by multiplying rows "
      "by numbers and adding them.");
  to.define(
      "low rank",
      "Said of a table that is the product of two thinner tables. Its rank is smaller than its "
      "number of rows and its number of columns.");
  const auto [X, W_Q, W_K] = five_random_words();
  const Tensor Q = matmul(X, W_Q), S = scores(X, {W_Q, W_K}), W = matmul(W_Q, transpose(W_K));
  const Tensor C = matmul(Q, inverse(slice(Q, 0, 0, 2)));  // Q = C·(rows 1 and 2 of Q)     (5, 2)
  to.say(
      "\nFive random words have queries of D = 2 numbers. " +
      formatted("Query 3 is %.2f times query 1 plus %.2f times query 2. ", numbers(C)[4],
                numbers(C)[5]) +
      "So row 3 of the scores is made from rows 1 and 2 with the same two numbers. Rows 4 and 5 "
      "are made from rows 1 and 2 as well, with other numbers. So the rank is 2, a low rank. With "
      "head size D it is at most D.\n");
  const double given = std::exp(1) / (std::exp(1) + 2);
  to.claim(
      farthest(sum(softmax(victims(3)) * victims(3), {1}), given) < 1e-15,
      formatted("with this W and no scale each victim gets e/(e + 2) = %.2f: all succeed", given));
  to.claim(farthest(matmul(matmul(X, W), transpose(X)) / std::sqrt(2.0), S) < 1e-12,
           "five random words: x W y^T, scaled, gives the same 25 scores");
  to.claim(farthest(matmul(C, slice(S, 0, 0, 2)), S) < 1e-12,
           "rows 3, 4 and 5 are made from rows 1 and 2");
  to.slip("004", "the resulting A matrix is enriched with as much information as possible",
          "5 x 5 scores with D = 2 have rank 2; a table of 5 x 5 can have rank 5",
          "scores are products of queries and keys, and these have only D numbers each");
}

/// The weights that one matrix, and two, learn from other random numbers.
void with_seed(Lesson& to, std::int64_t seed) {
  for (const Sides sides : {Sides::tied, Sides::untied}) {
    to.say(sides == Sides::tied ? "one matrix:" : "two matrices:");
    const Tensor learned = learned_weights(sides, static_cast<std::uint64_t>(seed));
    for (Dim i = 0; i < 3; ++i)
      to.show(
          formatted("   %-9s gives rock, paper, scissors", players[static_cast<std::size_t>(i)]) +
          text_of(row(learned, i)));
  }
}

/// The players in a triangle. Arrows go from each to the others, as wide as the weights.
void draw_triangle(support::Svg& svg, double left, const char* title, const Tensor& weights) {
  const double x[] = {left + 160, left + 270, left + 50}, y[] = {110, 290, 290};
  const std::vector<double> a = numbers(weights), wanted = numbers(victims(3));
  svg.text(left, 70, title, {}, 15);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {  // 25 pixels before the other player, 6 to the right
      if (a[3 * i + k] < 0.02) continue;
      const double length = i == k ? 1 : std::hypot(x[k] - x[i], y[k] - y[i]);
      const double dx = (x[k] - x[i]) / length, dy = (y[k] - y[i]) / length;
      svg.arrow(x[i] + 25 * dx - 6 * dy, y[i] + 25 * dy + 6 * dx, x[k] - 25 * dx - 6 * dy,
                y[k] - 25 * dy + 6 * dx, support::svg_colours()[wanted[3 * i + k] > 0 ? 0 : 1],
                8 * a[3 * i + k]);
    }
    svg.text(x[i], y[i], players[i], support::Svg::Anchor::middle, 14);
    svg.text(x[i], y[i] + 15, formatted("itself %.2f", a[4 * i]), support::Svg::Anchor::middle, 10);
  }
}

support::Svg picture() {
  support::Svg svg(680, 360);
  svg.text(20, 28, "Rock, paper, scissors: where each player looks after training", {}, 16);
  draw_triangle(svg, 20, "W_Q and W_K", learned_weights(Sides::untied, 2));
  draw_triangle(svg, 350, "one matrix for both", learned_weights(Sides::tied, 2));
  svg.text(20, 345, "Blue: to the player that it beats. Orange: to another one.");
  return svg;
}

void lesson(Lesson& to) {
  game(to);
  symmetric_scores(to);
  one_matrix_in_between(to);
}

}  // namespace

}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/09_why_q_and_k",
       .title = "Why queries and keys have a matrix each",
       .question = "A head makes queries with W_Q and keys with W_K. Why not with one?",
       .prediction =
           "Rock, paper and scissors are three words. Each should look most at the one that it "
           "beats. If one matrix makes queries and keys, how many of the three can do so at once: "
           "0, 1, 2 or 3?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.h", "c_attn", "W_Q, W_K and W_V side by side"},
                   {"nn/optim/adamw.h", "AdamW", "the rule of a step"}},
       .plays = {{.option = "--seed",
                  .value = "3",
                  .help = "the weights that are learned from other random numbers",
                  .limits = {1, 1e6},
                  .with_whole_number = fledge::with_seed}},
       .picture = fledge::picture});
}
