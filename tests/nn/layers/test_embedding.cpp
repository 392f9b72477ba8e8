#include "nn/layers/embedding.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

TEST_CASE("Embedding: the rows of the table, in the shape of the ids") {
  Rng rng(1);
  const Embedding table(3, 2, rng);
  assign(table.weight, Array({3, 2}, {1, 2, 3, 4, 5, 6}));
  CHECK(same_bits(table({2, 0, 2}).value(), Array({3, 2}, {5, 6, 1, 2, 5, 6})));
  CHECK(same_bits(table(Indices({2, 1, 1}, {1, 0})).value(), Array({2, 1, 1, 2}, {3, 4, 1, 2})));
  CHECK(table(Indices({2, 0}, {})).shape() == Shape{2, 0, 2});
  CHECK(same_bits(table(Indices(Shape{}, {1})).value(), Array({2}, {3, 4})));
}

TEST_CASE("Embedding: a word's gradient sums over its places, and is 0 for words not seen") {
  Rng rng(1);
  const Embedding table(4, 2, rng);
  backward(table({2, 0, 2}), Array({3, 2}, {1, 2, 3, 4, 5, 6}));
  CHECK(same_bits(table.weight.grad(), Array({4, 2}, {3, 4, 0, 0, 6, 8, 0, 0})));
}

TEST_CASE("Embedding: changing a row changes the words that use it, and only those") {
  const Embedding table = drawn<Embedding>(1, 3, 2);
  const Array before = table({0, 1, 2}).value();
  for (Dim row = 0; row < 3; ++row) {
    const Array old = table.weight.value().clone();
    assign(table.weight, replaced(old, 0, row, 9));
    CHECK(same_bits(table({0, 1, 2}).value(), replaced(before, 0, row, 9)));
    assign(table.weight, old);
  }
}

TEST_CASE("Embedding: weights start normal with deviation 0.02, or as asked") {
  for (const double deviation : {0.02, 1.5}) {
    Rng rng(7);
    const Embedding table(100, 80, rng, deviation);
    double total = 0, squares = 0;
    for (const double w : to_vector(table.weight.value())) total += w, squares += w * w;
    const double n = 8000;
    // Standard errors of the mean and of the mean square: σ/√n and σ²·√(2/n).
    CHECK_THAT(total / n, WithinAbs(0, 5 * deviation / std::sqrt(n)));
    CHECK_THAT(squares / n,
               WithinAbs(deviation * deviation, 5 * deviation * deviation * std::sqrt(2 / n)));
    CHECK(all_alive(table.weight.value()));
  }
  Rng rng(7), again(7);
  CHECK(
      same_bits(Embedding(9, 8, rng).weight.value(), Embedding(9, 8, again, 0.02).weight.value()));
}

TEST_CASE("Embedding: a seed decides every number, and each table takes new ones") {
  Rng one(3), same(3);
  const Embedding a(4, 3, one), next(4, 3, one), b(4, 3, same);
  CHECK(same_bits(a.weight.value(), b.weight.value()));
  for (Dim i = 0; i < a.weight.size(); ++i) CHECK(a.weight.value()[i] != next.weight.value()[i]);
}

TEST_CASE("Embedding: what does not fit is refused") {
  Rng rng(1);
  const Embedding table(4, 2, rng);
  CHECK(refusal<ValueError>([&] {
          table({0, 4});
        }) == "embedding: id 4 at position 1 is outside a table of shape (4, 2)");
  CHECK(refusal<ValueError>([&] { table({-1}); }) ==
        "embedding: id -1 at position 0 is outside a table of shape (4, 2)");
  CHECK(refusal<ValueError>([&] { Embedding(0, 2, rng); }) ==
        "Embedding: sizes must be positive: got 0 and 2");
  CHECK(refusal<ValueError>([&] { Embedding(2, -3, rng); }) ==
        "Embedding: sizes must be positive: got 2 and -3");
}
