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

  const Tensor mixed = matmul(A, V);
  const Tensor walk_after = row(mixed, 2);
  const Tensor row_sum = sum(row(A, 2));

  ByHand found;
  found.before = product(walk, birds);
  for (Dim j = 0; j < 3; ++j)
    found.v_hat[static_cast<std::size_t>(j)] = value_of(walk_after.value()[j]);
  found.association = product(walk_after, birds);
  found.row_sum = row_sum.item();
  found.normalised = product(walk_after / row_sum, birds);
  found.as_labelled = product(walk_after, walk);
  return found;
}

}  // namespace fledge::birds
