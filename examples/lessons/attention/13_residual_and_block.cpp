// An attention block with its residual: dirty quantum plumbing.      Note 003, "Attention Blocks"
//
// Adds to lesson 4, whose pattern was set by hand: W_Q and W_K are found by gradient so that the
// pattern of the note comes out of the words themselves, and what attention finds is added to the
// word that looked: E' = E + dE. The note writes tokens in columns, the code in rows; part 1 shows
// once that this is the transpose and nothing else.
// Key idea: a row of weights fixes the differences of the scores in it, and gradient finds those.
// Next: nn/layers/block.h, where x + attn(...) is this residual; engine/masks.h.
#include <cmath>

#include "engine/autograd.h"
#include "examples/lessons/lesson.h"
#include "examples/support/attention_map.h"
#include "nn/layers/attention.h"
#include "nn/optim/sgd.h"

namespace fledge {

namespace {

using support::attention_map, support::formatted, support::Lesson;

Tensor row(const Tensor& matrix, Dim i) { return slice(matrix, 0, i, i + 1); }
double farthest(const Tensor& a, const Tensor& b) { return std::sqrt(max(pow(a - b, 2.0)).item()); }

/// The words, one a row, in four features: is it an adjective; how much dirt, physics, pipes.
Tensor embeddings() { return Array({3, 4}, {1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1}); }

/// M_V passes on what a word means, and keeps to itself that it is an adjective.
Tensor value_matrix() { return Array({4, 4}, {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}); }

/// The note's pattern: its columns are these rows. Row 2 is plumbing, looking at all three.
Tensor wanted() { return Array({3, 3}, {1, 0, 0, 0.9, 0.1, 0, 0.55, 0.4, 0.05}); }

struct Projections {
  Tensor query, key;  // W_Q, W_K (4, 4)
};

/// ΔE = softmax(Q·Kᵀ/√4, causal)·V, one row a token, with its pattern (3, 3).
AttentionOutput in_rows(const Tensor& E, const Projections& W) {
  const Tensor Q = matmul(E, W.query), K = matmul(E, W.key), V = matmul(E, value_matrix());
  const AttentionOutput found = attend(Q, K, V, 1, causal());
  return {found.output, reshape(found.weights, {3, 3})};
}

/// The same as the note writes it, one column a token: keys go down, queries go across, each column
/// of the pattern sums to one, and what lies below the diagonal is hidden.
AttentionOutput in_columns(const Tensor& E, const Projections& W) {
  const Tensor Q = matmul(transpose(W.query), E), K = matmul(transpose(W.key), E);
  const Tensor V = matmul(transpose(value_matrix()), E);
  const Tensor not_below = Array({3, 3}, {1, 1, 1, 0, 1, 1, 0, 0, 1});
  const Tensor shares = exp(matmul(transpose(K), Q) / 2) * not_below;
  const Tensor pattern = shares / sum(shares, {0}, true);
  return {matmul(V, pattern), pattern};
}

Projections random_projections(std::uint64_t seed) {
  Rng rng(seed);
  const auto draw = [&] { return parameter(random_normal({4, 4}, 0, 0.5, rng)); };
  return {draw(), draw()};
}

/// Gradient descent on L = −Σ a*_ij·log a_ij over the places that may be seen, least where a is a*.
/// Returns the largest error of the pattern before each step and after the last.
std::vector<double> descend(const Projections& W, Dim steps) {
  Sgd descent({W.query, W.key}, {.rate = 0.5, .momentum = 0.9});
  std::vector<double> errors;
  for (Dim step = 0; step <= steps; ++step) {
    descent.zero_grad();
    const Tensor pattern = in_rows(embeddings(), W).weights;
    errors.push_back(farthest(pattern, wanted()));
    backward(-sum(wanted() * log(where(wanted().value(), pattern, 1.0))));
    if (step < steps) descent.step();
  }
  return errors;
}

void rows_or_columns(Lesson& to) {
  to.part("Rows or columns");
  to.say(
      "In the note each word is a column, and matrices multiply from the left. In the code each "
      "word is a row, and matrices multiply from the right. W_Q and W_K are random, the same in "
      "both:\n");
  const Projections W = random_projections(1);
  const AttentionOutput rows = in_rows(embeddings(), W),
                        columns = in_columns(transpose(embeddings()), W);
  to.claim(farthest(transpose(rows.output), columns.output) < 1e-14 &&
               farthest(transpose(rows.weights), columns.weights) < 1e-14,
           "the same pattern and the same dE, one the transpose of the other");
}

Projections pattern_found(Lesson& to) {
  to.part("W_Q and W_K found by gradient");
  to.say(
      "W_Q and W_K start at random. 1000 steps of gradient descent on the cross entropy lead to the "
      "pattern of the note:\n");
  Projections W = random_projections(1);
  const std::vector<double> errors = descend(W, 1000);
  const std::vector<double> a = to_vector(in_rows(embeddings(), W).weights.value());
  support::MapStyle style;
  style.numbers = true;
  to.show(attention_map({"dirty", "quantum", "plumbing"}, a, style));
  to.claim(errors[1000] < 1e-12,
           formatted("largest error: %.2f at first, %.4f after 100 steps, below 1e-12 at the end",
                     errors[0], errors[100]));
  to.claim(a[0] == 1 && a[1] == 0 && a[2] == 0 && a[5] == 0,
           "what the mask decides is exact: three zeros, and the 1 of dirty");
  const auto score = [&W, E = embeddings()](Dim i, Dim j) {
    return sum(matmul(row(E, i), W.query) * matmul(row(E, j), W.key)).item() / 2;
  };
  to.claim_near(score(1, 0) - score(1, 1), std::log(0.9 / 0.1), 1e-11,
                "quantum: S_10 - S_11 = log(0.9 / 0.1)");
  to.claim_near(score(2, 0) - score(2, 2), std::log(0.55 / 0.05), 1e-11,
                "plumbing: S_20 - S_22 = log(0.55 / 0.05)");
  int reached = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    reached += descend(random_projections(seed), 300).back() < 1e-4 ? 1 : 0;
  to.claim_rate(reached, 100, 100, "after 300 steps the error is below 0.0001");

  const AttentionOutput sharper = in_rows(embeddings(), {3.0 * W.query, W.key});
  const double longer = to_vector(sharper.weights.value())[6];
  to.say(
      "\nThe note says that a key matches a query if they point in the same direction. This is right "
      "for vectors of equal length. A dot product also depends on the lengths.\n");
  to.claim(longer - a[6] > 0.1,
           formatted("queries 3 times as long, same directions: plumbing looks at dirty %.2f, not "
                     "%.2f",
                     longer, a[6]));
  return W;
}

/// What the engine answers to E + ΔE when M_V leads to this width.
std::string refusal(Dim width) {
  try {
    embeddings() + matmul(wanted(), Array::ones({3, width}));
  } catch (const ShapeError& error) {
    return std::string(
        std::string_view(error.what()).substr(0, std::string_view(error.what()).find(';')));
  }
  return "";
}

void residual(Lesson& to, const Projections& W) {
  to.part("The residual: E' = E + dE");
  const Tensor E = parameter(embeddings().value()), V = matmul(E, value_matrix());
  const Tensor delta = row(in_rows(E, W).output, 2), after = row(E, 2) + delta;
  to.say("The four numbers mean adjective, dirt, physics and pipes:\n");
  to.show("   plumbing before   E_2    " + to_string(row(E, 2).value()));
  to.show("   from attention    dE_2   " + to_string(delta.value()));
  to.show("   the sum           E_2'   " + to_string(after.value()) + "\n");
  const Tensor by_hand = 0.55 * row(V, 0) + 0.4 * row(V, 1) + 0.05 * row(V, 2);
  to.claim(farthest(delta, by_hand) < 1e-12,
           "dE_2 = 0.55 V_0 + 0.4 V_1 + 0.05 V_2, with the W_Q and W_K found");
  to.claim(farthest(after, Array({1, 4}, {0, 0.55, 0.4, 1.05})) < 1e-12,
           "plumbing stays plumbing, and is now dirty and quantum as well");
  backward(row(E + matmul(wanted(), V), 2), Array::ones({1, 4}));
  to.claim(farthest(row(E.grad(), 2), Array({1, 4}, {1, 1.05, 1.05, 1.05})) < 1e-14,
           "gradient of plumbing: 1 by the residual, and 0.05 more where M_V passes on");
  const std::string wide = refusal(6);
  to.slip("003", "translates them to a higher dimensional context space (M_V)", wide,
          "what is added to E is as wide as E; a head may use fewer numbers in between");
  to.claim(!wide.empty() && refusal(4).empty(), "six wide is refused, four wide is not");
}

void attention_block(Lesson& to) {
  rows_or_columns(to);
  residual(to, pattern_found(to));
}

}  // namespace

}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "06_attention_block",
                             "Dirty quantum plumbing: a pattern found by gradient.",
                             fledge::attention_block);
}
