// Q, K and V on three vectors: how far they can raise an association. The numbers at the end of
// each experiment stand in examples/birds/README.md.
#include "examples/birds/learning.h"

#include "examples/birds/by_hand.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::birds;

TEST_CASE("birds learning: Q and K reach 0.139 of 0.14 and never more, however long they learn") {
  CHECK_THAT(product_ceiling(), WithinAbs(0.14, 1e-6));
  const std::vector<Look> path = learn("Q and K", Objective::product, 10, 4000).path;
  CHECK(path[400].association >= 0.139);
  for (std::size_t step = 1; step < path.size(); ++step)
    CHECK((path[step].association >= path[step - 1].association - 1e-7 &&
           path[step].association <= product_ceiling()));
}

TEST_CASE("birds learning: the six experiments of the story, each with its rate and steps") {
  const std::vector<Learned> all = learn_all();
  const std::vector<std::string> learns{"Q", "K", "Q and K", "V", "Q, K and V", "Q, K and V"};
  REQUIRE(all.size() == learns.size());
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(all[i].learns == learns[i]);
    CHECK(all[i].objective == (i == 3 || i == 4 ? Objective::cosine : Objective::product));
    const Learned again = learn(learns[i], all[i].objective, i < 3 ? 10 : 1, i < 5 ? 400 : 100);
    CHECK(again.after.association == all[i].after.association);
    CHECK(again.after.attention == all[i].after.attention);
  }
  CHECK(tests::same_bits(word_vectors(),
                         Array({3, 3}, {0.1, 0.2, 0.3, -0.8, 0.3, -0.1, 0.5, -0.1, -0.4})));
  CHECK(tests::same_bits(hand_set_attention(),
                         Array({3, 3}, {1.0, 0.0, 0.0, 0.1, 0.9, 0.0, 0.6, 0.1, 0.4})));
}
