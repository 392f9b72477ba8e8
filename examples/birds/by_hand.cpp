#include "examples/birds/by_hand.h"

namespace fledge::birds {

Array word_vectors() {
  return {{3, 3},
          {0.1, 0.2, 0.3,      // birds
           -0.8, 0.3, -0.1,    // sometimes
           0.5, -0.1, -0.4}};  // walk
}

Array hand_set_attention() {
  return {{3, 3},
          {1.0, 0.0, 0.0,    //
           0.1, 0.9, 0.0,    //
           0.6, 0.1, 0.4}};  // walk looks at birds 0.6, sometimes 0.1, itself 0.4
}

ByHand compute_by_hand() {
  const Tensor V = word_vectors(), A = hand_set_attention();
  const auto row = [](const Tensor& matrix, Dim i) { return slice(matrix, 0, i, i + 1); };
  const auto product = [](const Tensor& a, const Tensor& b) { return sum(a * b).item(); };
  const Tensor birds = row(V, 0), walk = row(V, 2);
  const Tensor walk_after = row(matmul(A, V), 2), row_sum = sum(row(A, 2));
  const std::vector<double> v_hat = to_vector(walk_after.value());
  return {.before = product(walk, birds),
          .v_hat = {v_hat[0], v_hat[1], v_hat[2]},
          .association = product(walk_after, birds),
          .row_sum = row_sum.item(),
          .normalised = product(walk_after / row_sum, birds),
          .as_labelled = product(walk_after, walk)};
}

}  // namespace fledge::birds
