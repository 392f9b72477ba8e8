// Why Q and K differ.                                     Note 004, "Poorly Structured Notes on AI"
//
// Adds to lesson 6, which found some W_Q and W_K by gradient: why there are two. One matrix in
// both places makes the scores symmetric. That leaves no weight redundant, but it takes away
// direction, and what this costs is measured on a game that goes round.
// Key idea: to look and to be looked at are two roles; a symmetric score cannot tell them apart.
// Next: lesson 08_ephemeral_network, the patterns as networks; engine/ops/softmax.cpp, where each
// row has its own sum; nn/layers/attention.h.
#include <algorithm>
#include <cmath>
#include <set>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/lessons/lesson.h"
#include "examples/support/table.h"
#include "nn/optim/adamw.h"

namespace fledge {

namespace {

using support::formatted, support::Lesson, support::Table;

double farthest(const Tensor& a, const Tensor& b) { return std::sqrt(max(pow(a - b, 2.0)).item()); }

Tensor identity(Dim n) {
  Array one = Array::zeros({n, n});
  for (Dim i = 0; i < n; ++i) one.write()[i * n + i] = 1;
  return one;
}

struct Head {
  Tensor query, key;  // W_Q and W_K (C, D); when tied, one tensor twice
};

/// S_ij = (x_i·W_Q)·(x_j·W_K) / √D
Tensor scores(const Tensor& X, const Head& W) {
  const double scale = 1 / std::sqrt(static_cast<double>(W.key.dim(1)));
  return matmul(matmul(X, W.query), transpose(matmul(X, W.key))) * scale;
}

int different(const Tensor& x) {
  const std::vector<double> numbers = to_vector(x.value());
  return static_cast<int>(std::set<double>(numbers.begin(), numbers.end()).size());
}

void one_matrix_or_two(Lesson& to) {
  to.part("One matrix or two");
  to.say(
      "Five random words (5, 4), random W_Q and W_K (4, 2). In the first claims one matrix, W_Q, makes "
      "queries and keys.\n");
  Rng rng(1);
  const auto draw = [&](const Shape& shape) { return Tensor(random_normal(shape, 0, 1, rng)); };
  const Tensor X = draw({5, 4}), Q = draw({4, 2}), K = draw({4, 2});
  const Tensor S = scores(X, {Q, Q}), weights = softmax(S);
  to.claim(farthest(S, transpose(S)) == 0, "W_Q = W_K: the scores are symmetric, to the bit");
  const double apart = farthest(weights, transpose(weights));
  to.claim(apart > 0.1,
           formatted("the weights are not: mirror images differ by up to %.2f", apart));
  const Tensor shares = weights * sum(exp(S), {1}, true);
  to.claim(farthest(shares, transpose(shares)) < 1e-12 * max(shares).item(),
           "what differs is the sum that each row is divided by");
  const Tensor P = softmax(scores(X, {Q, K}), causal());  // by two matrices
  const Tensor mirrored = log(P + transpose(P) - P * identity(5));
  to.claim(different(S) == 15,
           "as the note says, nearly half is redundant: 15 of 25 scores differ, 10 repeat");
  to.claim(different(weights) == 25,
           "after softmax nothing repeats: all 25 weights are different numbers");
  to.claim(farthest(mirrored, transpose(mirrored)) == 0 &&
               farthest(softmax(mirrored, causal()), P) < 1e-14,
           "any causal pattern of one input has symmetric scores: log a_ij = S_ij = S_ji");

  const Tensor direct = scores(X, {Q, K}), swapped = scores(X, {K, Q});
  to.claim(farthest(swapped, transpose(direct)) == 0, "W_Q and W_K swapped: scores transposed");
  const double moved = farthest(softmax(direct), softmax(swapped));
  to.slip("004", "they work identically (queries and keys)",
          formatted("swapped, scores are transposed and a weight changes by %.2f", moved),
          "both are computed in the same way, but weights sum to 1 for each query, not each key");
  to.claim(std::min(moved, farthest(softmax(direct), transpose(softmax(swapped)))) > 0.05,
           "the weights are then neither those before the swap nor their transpose");
  const Tensor R = Array({2, 2}, {2, 1, 3, 2}), inverse = Array({2, 2}, {2, -1, -3, 2});
  const Head turned{matmul(Q, R), matmul(K, transpose(inverse))};
  to.claim(farthest(scores(X, turned), direct) < 1e-13 && farthest(turned.query, Q) > 1,
           "W_Q R and W_K R^-T give the same scores for any invertible R");
}

// Rock, paper and scissors each want the card of the one they beat: rock that of scissors, paper
// that of rock, scissors that of paper. Rows look: beaten (3, 3), cards (8 deals, 3) of ±1.
Tensor beaten() { return Array({3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0}); }

Tensor cards() {
  Array deals({8, 3});
  for (Dim i = 0; i < 24; ++i) deals.write()[i] = (i / 3) >> (i % 3) & 1 ? 1 : -1;
  return deals;
}

/// What the three say in each deal: the cards, mixed by where they look.
Tensor said(const Tensor& pattern) { return matmul(cards(), transpose(pattern)); }
Tensor pattern(const Head& W) { return softmax(scores(identity(3), W)); }

enum class Sides { tied, untied };

Head learn(Sides sides, std::uint64_t seed) {
  Rng rng(seed);
  const auto draw = [&] { return parameter(random_normal({3, 3}, 0, 1, rng)); };
  const Tensor query = draw(), key = draw();
  Head W{query, sides == Sides::tied ? query : key};
  std::vector<Tensor> learning{query};
  if (sides == Sides::untied) learning.push_back(key);
  AdamW optimizer(learning, {.rate = 0.05, .decay = 0});
  for (int step = 0; step < 300; ++step) {
    optimizer.zero_grad();
    backward(mean(pow(said(pattern(W)) - said(beaten()), 2.0)));
    optimizer.step();
  }
  return W;
}

/// The share of cards named rightly, over all deals.
double accuracy(const Head& W) {
  const std::vector<double> agree = to_vector((said(pattern(W)) * said(beaten())).value());
  const auto right = std::count_if(agree.begin(), agree.end(), [](double x) { return x > 0; });
  return static_cast<double>(right) / static_cast<double>(agree.size());
}

void cost_of_tying(Lesson& to) {
  to.part("What one matrix costs when direction matters");
  to.say(
      "Rock, paper and scissors each hold a card, +1 or -1. Each must name the card of the player "
      "that it beats, so it must look there more than at the third player:\n");
  to.show(
      "   s(r, s) > s(r, p)    rock prefers scissors\n"
      "   s(p, r) > s(p, s)    paper prefers rock\n"
      "   s(s, p) > s(s, r)    scissors prefers paper\n");
  to.say("With one matrix s(a, b) = s(b, a). Chain the three:\n");
  to.show("   s(r, s) > s(r, p) = s(p, r) > s(p, s) = s(s, p) > s(s, r) = s(r, s)\n");
  to.say(
      "No number is larger than itself, so at least one player fails: it looks at the player that beats it at least as much as at its victim. So it "
      "is wrong whenever it and that player hold one card and its victim the other, in one deal of "
      "four.\n\n"
      "Where each player looks after learning, at rock, paper and scissors:\n");
  Table table({{"player"}, {"W_Q and W_K"}, {"one matrix"}});
  const Tensor two = pattern(learn(Sides::untied, 1)), one = pattern(learn(Sides::tied, 1));
  for (Dim i = 0; i < 3; ++i) {
    const auto cell = [i](const Tensor& p) {
      const std::vector<double> row = to_vector(slice(p, 0, i, i + 1).value());
      return formatted("%.2f  %.2f  %.2f", row[0], row[1], row[2]);
    };
    table.row({i == 0 ? "rock" : i == 1 ? "paper" : "scissors", cell(two), cell(one)});
  }
  to.show(table.text());
  const double bound = (1 + 1 + 0.75) / 3;
  int all_named = 0, within = 0, by_majority = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    all_named += accuracy(learn(Sides::untied, seed)) == 1 ? 1 : 0;
    const double tied = accuracy(learn(Sides::tied, seed));
    within += tied <= bound ? 1 : 0;
    by_majority += tied == 0.75 ? 1 : 0;
  }
  to.claim_rate(all_named, 100, 100, "with W_Q and W_K every card is right");
  to.claim_rate(within, 100, 100, formatted("one matrix: (1 + 1 + 3/4) / 3 = %.3f at most", bound));
  to.claim_rate(by_majority, 100, 90,
                "one matrix: each names the card that most hold, and 3 cards in 4 are right");
}

}  // namespace

}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "07_why_q_and_k",
                             "One matrix for queries and keys or two, and what one costs.",
                             [](support::Lesson& to) {
                               fledge::one_matrix_or_two(to);
                               fledge::cost_of_tying(to);
                             });
}
