// The worked example: every number in it, and what is off in two of them.
#include "examples/birds/by_hand.h"

#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::birds;

namespace {

constexpr double exact = 1e-6;  // float holds 0.1 to 1.5e-9

double row_sum(const Array& matrix, Dim row) {
  double sum = 0;
  for (Dim j = 0; j < matrix.dim(1); ++j) sum += value_of(matrix.at({row, j}));
  return sum;
}

}  // namespace

TEST_CASE("birds by hand: the vectors and the pattern are the example's") {
  CHECK(tests::same_bits(word_vectors(),
                         Array({3, 3}, {0.1, 0.2, 0.3, -0.8, 0.3, -0.1, 0.5, -0.1, -0.4})));
  CHECK(tests::same_bits(hand_set_attention(),
                         Array({3, 3}, {1.0, 0.0, 0.0, 0.1, 0.9, 0.0, 0.6, 0.1, 0.4})));
}

TEST_CASE("birds by hand: v3.v1 = -0.09, v3' = (0.18, 0.11, 0.01), v3'.v1 = 0.043") {
  const ByHand found = compute_by_hand();
  CHECK_THAT(found.before, WithinAbs(-0.09, exact));
  CHECK_THAT(found.v_hat[0], WithinAbs(0.18, exact));
  CHECK_THAT(found.v_hat[1], WithinAbs(0.11, exact));
  CHECK_THAT(found.v_hat[2], WithinAbs(0.01, exact));
  CHECK_THAT(found.association, WithinAbs(0.043, exact));
}

TEST_CASE("birds by hand: row 3 sums to 1.1, and divided by that its association is 0.0391") {
  const ByHand found = compute_by_hand();
  CHECK_THAT(found.row_sum, WithinAbs(1.1, exact));
  CHECK_THAT(found.row_sum, WithinAbs(row_sum(hand_set_attention(), 2), exact));
  CHECK_THAT(row_sum(hand_set_attention(), 0), WithinAbs(1, exact));
  CHECK_THAT(row_sum(hand_set_attention(), 1), WithinAbs(1, exact));
  CHECK_THAT(found.normalised, WithinAbs(0.043 / 1.1, exact));
  CHECK_THAT(found.normalised, WithinAbs(0.0391, 5e-5));
}

TEST_CASE("birds by hand: what the label v3'.v3 says would be 0.075") {
  CHECK_THAT(compute_by_hand().as_labelled, WithinAbs(0.075, exact));
}

TEST_CASE("birds by hand: attention brings walk nearer to birds, with either row") {
  const ByHand found = compute_by_hand();
  CHECK(found.before < 0);
  CHECK(found.association > 0);
  CHECK(found.normalised > 0);
}
