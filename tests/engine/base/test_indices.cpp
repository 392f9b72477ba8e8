#include "engine/base/indices.h"

#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

TEST_CASE("indices are read row by row") {
  const Indices ids({2, 3}, {5, 6, 7, 8, 9, 10});
  CHECK(ids.shape() == Shape{2, 3});
  CHECK(ids.size() == 6);
  CHECK(ids[0] == 5);
  CHECK(ids[5] == 10);
}

TEST_CASE("a plain list of ids is one row") {
  const Indices ids{4, 2, 4};
  CHECK(ids.shape() == Shape{3});
  CHECK(ids[1] == 2);
}

TEST_CASE("there may be no ids, or one id in shape ()") {
  CHECK(Indices({0}, {}).size() == 0);
  CHECK(Indices({2, 0}, {}).shape() == Shape{2, 0});
  const Indices one(Shape{}, {7});
  CHECK(one.size() == 1);
  CHECK(one[0] == 7);
}

TEST_CASE("ids may be anything here; the op that looks them up knows the limits") {
  const Indices ids{-100, std::numeric_limits<Dim>::max()};
  CHECK(ids[0] == -100);
  CHECK(ids[1] == std::numeric_limits<Dim>::max());
}

TEST_CASE("a wrong count of ids is refused") {
  CHECK(refusal<ShapeError>([] {
          Indices({2, 3}, {1, 2, 3});
        }) == "Indices: shape (2, 3) holds 6 ids: got 3");
  CHECK(refusal<ShapeError>([] { Indices({0}, {1}); }) == "Indices: shape (0) holds 0 ids: got 1");
  CHECK(refusal<ShapeError>([] { Indices(Shape{}, {}); }) ==
        "Indices: shape () holds 1 ids: got 0");
}
