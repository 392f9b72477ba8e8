#include "nn/variant.h"

#include "tests/support/catch.h"

using namespace fledge;

TEST_CASE("variant: its words, in their order") {
  CHECK(words_of(Without{}).empty());
  CHECK(words_of(Without{.mask = true, .scale = true, .norm = true}) ==
        std::vector<std::string>{"mask", "scale", "norm"});
  CHECK(words_of(Without{true, true, true, true, true, true, true, true}) ==
        std::vector<std::string>{"mask", "positions", "scale", "mlp", "value", "attention",
                                 "residual", "norm"});
  CHECK(words_of(Frozen{.q = true, .v = true}) == std::vector<std::string>{"q", "v"});
}

TEST_CASE("variant: only mask, residual and norm are of GPT-2's formula alone") {
  CHECK_FALSE(Without{}.is_other_formula());
  for (const Without& without :
       {Without{.positions = true}, Without{.scale = true}, Without{.mlp = true},
        Without{.value = true}, Without{.attention = true}})
    CHECK_FALSE(without.is_other_formula());
  for (const Without& without :
       {Without{.mask = true}, Without{.residual = true}, Without{.norm = true}})
    CHECK(without.is_other_formula());
}
