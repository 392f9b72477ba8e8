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

double farthest(const Tensor& a, const Tensor& b) { return std::sqrt(max(pow(a - b, 2.0)).item()); }
Tensor row(const Tensor& table, Dim i) { return slice(table, 0, i, i + 1); }
std::vector<double> numbers(const Tensor& x) { return to_vector(x.value()); }

std::string text_of(const Tensor& x, const char* format = "%6.2f") {
  std::string text;
  for (const double number : numbers(x)) text += formatted(format, number);
  return text;
}

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
  to.say(
      "Each player is a word. It must look at its victim, the player that it beats. Let s(a, b) be "
      "the score of a for b: the dot product of the query of a and the key of b. If one matrix "
      "makes queries and keys, then s(a, b) = s(b, a).\nRock (r) needs s(r, s) > s(r, p): a larger "
      "score for scissors than for paper. Paper (p) needs s(p, r) > s(p, s). Scissors (s) needs "
      "s(s, p) > s(s, r). In one chain:\n \n   s(r, s) > s(r, p) = s(p, r) > s(p, s) = s(s, p) > "
      "s(s, r) = s(r, s)\n \nEach = exchanges the two letters. The chain begins and ends with s(r, "
      "s), and no number is larger than itself. So one matrix serves at most two players. If you "
      "predicted 2, you were right.\n");
  to.define("tied", "Said of two matrices that share all their parameters: they are one matrix.");
  to.define("optimizer", "The rule that computes new parameters from the gradients.");
  to.define("Adam, AdamW",
            "An optimizer that divides each gradient by its recent size; AdamW also shrinks each "
            "parameter a little in each step.");
  int three_untied = 0, three_tied = 0, two_tied = 0, even = 0;  // seeds
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    three_untied += players_right(learned_weights(Sides::untied, seed)) == 3 ? 1 : 0;
    const Tensor tied = learned_weights(Sides::tied, seed);
    three_tied += players_right(tied) == 3 ? 1 : 0;
    two_tied += players_right(tied) == 2 ? 1 : 0;
    even += farthest(tied, 1.0 / 3) < 0.05 ? 1 : 0;
  }
  to.say(
      "\nThe loss is 1 minus the mean weight on the victim, and AdamW takes 300 steps. A player "
      "succeeds if its victim gets more than half of its weight. " +
      formatted("In 100 seeds, one matrix serves two players %d times. ", two_tied) +
      formatted("In %d seeds it stops at the even split, 1/3 for each.\n", even));
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
      "Said of a table in which the number in row i, column j equals the number in row j, column "
      "i.");
  to.define("transpose", "The table with rows and columns exchanged.");
  to.say(
      "\nThree words have the queries (1, 0), (1, 1) and (0, 1). One matrix makes queries and "
      "keys, so the keys are the same vectors. Scores are q.k here, without the scale.\n");
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
  const Tensor R = Array({2, 2}, {2, 1, 3, 2});
  const Head turned{matmul(W_Q, R), matmul(W_K, transpose(inverse(R)))};
  to.say(
      formatted(
          "The scores are symmetric. The weights exp/sum are not: word 1 gives word 2 %.2f, and "
          "word 2 gives word 1 %.2f. ",
          numbers(a)[1], numbers(a)[3]) +
      "The sums of the two rows differ. Note 004 calls nearly half of the scores redundant. This "
      "is right: for five words, 10 of the 25 repeat another one.\nExchange two different "
      "matrices, and the scores become their transpose. The weights do not, because they add up to "
      "1 for each query, not for each key.\nLet R R^-1 be the identity matrix. Then W_Q R, and W_K "
      "times the transpose of R^-1, give the same scores. So one number of W_Q has no meaning of "
      "its own.\n");
  to.claim(farthest(tied, transpose(tied)) == 0 &&
               farthest(softmax(tied), transpose(softmax(tied))) > 0.05,
           "one matrix, five random words: only the scores are symmetric");
  to.claim(farthest(swapped, transpose(direct)) == 0 && moved > 0.05 &&
               farthest(softmax(direct), transpose(softmax(swapped))) > 0.05,
           "exchanged: the scores are transposed, the weights are not");
  to.claim(farthest(scores(X, turned), direct) < 1e-12 && farthest(turned.query, W_Q) > 1,
           "with R = (2 1; 3 2) and R^-1 = (2 -1; -3 2): the same scores");
  to.slip("004", "they work identically (queries and keys)",
          formatted("swapped, scores are transposed and a weight changes by %.2f", moved),
          "both are computed in the same way, but weights sum to 1 for each query, not each key");
}

void one_matrix_in_between(Lesson& to) {
  to.part("Why two thin matrices, and not one large one");
  const int n = 768, D = 64;
  to.say(
      "One matrix can do it in another way. Let the rows x and y be the vectors of two words, and "
      "^T the transpose. Without the scale, the score of x for y is\n \n   q.k = (x W_Q).(y W_K) = "
      "x W_Q W_K^T y^T = x W y^T,  with W = W_Q W_K^T.\n \nOnly W decides. If rock is (1, 0, 0), "
      "paper (0, 1, 0) and scissors (0, 0, 1), then each number of W is one score. W = (0 0 1; 1 0 "
      "0; 0 1 0) serves all three players, because it is not symmetric. Models store two matrices, "
      "because two thin ones are smaller. " +
      formatted("In GPT-2 small a word has %d numbers, and the head size D is %d. ", n, D) +
      formatted("W_Q and W_K have 2 x %d x %d = %s numbers; ", n, D,
                support::thousands(2 * n * D).c_str()) +
      formatted("W has %d x %d = %s. The small size has a price.\n", n, n,
                support::thousands(n * n).c_str()));
  to.define(
      "rank",
      "The smallest number of rows from which all rows of a table can be made, by multiplying rows "
      "by numbers and adding them.");
  to.define(
      "low rank",
      "Said of a table whose rank is smaller than its numbers of rows and columns; it is a product "
      "of two thinner tables.");
  const auto [X, W_Q, W_K] = five_random_words();
  const Tensor Q = matmul(X, W_Q), S = scores(X, {W_Q, W_K}), W = matmul(W_Q, transpose(W_K));
  const Tensor C = matmul(Q, inverse(slice(Q, 0, 0, 2)));  // Q = C·(rows 1 and 2 of Q)     (5, 2)
  to.say("\nFive random words have queries of D = 2 numbers. " +
         formatted("Query 3 is %.2f times query 1 plus %.2f times query 2. ", numbers(C)[4],
                   numbers(C)[5]) +
         "So row 3 of the scores is made from rows 1 and 2 with the same two numbers. Rows 4 and 5 "
         "are made in this way too, so the rank is 2. With head size D, it is at most D.\n");
  to.claim(players_right(softmax(victims(3))) == 3, "with this W all three players succeed");
  to.claim(farthest(matmul(matmul(X, W), transpose(X)) / std::sqrt(2.0), S) < 1e-12,
           "five random words: x W y^T/sqrt(2) gives the same 25 scores");
  to.claim(farthest(matmul(C, slice(S, 0, 0, 2)), S) < 1e-12,
           "rows 3, 4 and 5 are made from rows 1 and 2");
  to.slip("004", "enriched with as much information as possible",
          "5 x 5 scores with D = 2 have rank 2; a table of 5 x 5 can have rank 5",
          "scores are products of queries and keys, and these have only D numbers each");
}

/// W_Q and W_K of head size D try to make scores with which each of five players finds its victim.
void largest_rank(Lesson& to, std::int64_t D) {
  const auto loss = [](const Head& W) {
    return sum(pow(scores(identity(5), W) - victims(5), 2.0));
  };
  const Head W = train(Sides::untied, 5, D, 1, 3000, loss);
  to.say(
      "Five players stand in a circle; each beats the one before it. Wanted are scores of 1 for "
      "the victim and 0 for all others. The rank of this table is 5. " +
      formatted("Training with head size D = %d reaches these scores:\n", static_cast<int>(D)));
  for (Dim i = 0; i < 5; ++i) to.show("   " + text_of(row(scores(identity(5), W), i)));
  to.say(
      "\nThe squares of the 25 errors add up to 5 - D at least. Only D = 5 reaches the whole "
      "table.\n");
  to.claim_near(loss(W).item(), static_cast<double>(5 - D), 0.01, "sum of the squared errors");
}

/// Lines from each player, on the left, to the players that it looks at, as thick as the weights.
void draw_weights(support::Svg& svg, double left, const char* title, const Tensor& weights) {
  svg.text(left, 70, title, {}, 15);
  const std::vector<double> a = numbers(weights), wanted = numbers(victims(3));
  for (std::size_t i = 0; i < 3; ++i) {
    const double y = 110 + 80 * static_cast<double>(i);
    svg.text(left + 60, y + 5, players[i], support::Svg::Anchor::end, 15);
    svg.text(left + 230, y + 5, players[i], {}, 15);
    for (std::size_t k = 0; k < 3; ++k)
      svg.line(left + 70, y, left + 220, 110 + 80 * static_cast<double>(k),
               support::svg_colours()[wanted[3 * i + k] > 0 ? 0 : 1], 10 * a[3 * i + k]);
  }
}

support::Svg picture() {
  support::Svg svg(680, 370);
  svg.text(20, 28, "Rock, paper, scissors: where each player looks after training", {}, 16);
  draw_weights(svg, 20, "W_Q and W_K", learned_weights(Sides::untied, 2));
  draw_weights(svg, 360, "one matrix for both", learned_weights(Sides::tied, 2));
  svg.text(20, 325,
           "A line goes from the player that looks, on the left. It is as thick as the weight.");
  svg.text(20, 347, "Blue: to the player that it beats. Orange: to another player, or to itself.");
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
       .plays = {{.option = "--d",
                  .value = "3",
                  .help = "which table of scores a head size D from 1 to 5 can reach",
                  .limits = {1, 5},
                  .with_whole_number = fledge::largest_rank}},
       .picture = fledge::picture});
}
