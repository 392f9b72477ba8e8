#include "engine/base/shape.h"

#include <algorithm>

#include "engine/base/errors.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {
constexpr Dim vast = std::numeric_limits<Dim>::max();
const std::string too_many = "Shape: more elements than can be counted: axis sizes up to ";
}  // namespace

TEST_CASE("a shape knows its rank, sizes and number of elements") {
  const Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape.size() == 24);
  CHECK(shape[0] == 2);
  CHECK(shape[2] == 4);
  CHECK(shape.dim(1) == 3);
  CHECK(shape.dim(-1) == 4);
  CHECK(shape.dim(-3) == 2);
  CHECK(std::vector<Dim>(shape.begin(), shape.end()) == std::vector<Dim>{2, 3, 4});
}

TEST_CASE("a single number has shape () and one element") {
  CHECK(Shape().rank() == 0);
  CHECK(Shape().size() == 1);
  CHECK(Shape{} == Shape());
  const Shape single;
  CHECK(single.begin() == single.end());
}

TEST_CASE("a size of zero means no elements") {
  CHECK(Shape{0}.size() == 0);
  CHECK(Shape{2, 0, 4}.size() == 0);
  CHECK(Shape{0, vast}.size() == 0);
  CHECK(Shape{vast}.size() == vast);
}

TEST_CASE("shapes are equal when rank and all sizes are") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{2} == Shape{2, 1});
  CHECK_FALSE(Shape{} == Shape{1});
  CHECK_FALSE(Shape{0} == Shape{0, 0});
  CHECK(Shape{2, 3} != Shape{2, 4});
}

TEST_CASE("shapes print as tuples") {
  CHECK(to_string(Shape{}) == "()");
  CHECK(to_string(Shape{3}) == "(3)");
  CHECK(to_string(Shape{2, 0, 4}) == "(2, 0, 4)");
}

TEST_CASE("impossible shapes are refused") {
  CHECK(refusal<ShapeError>([] { Shape{2, -1}; }) == "Shape: sizes must not be negative: got -1");
  CHECK(refusal<ShapeError>([] { Shape{std::numeric_limits<Dim>::min()}; }) ==
        "Shape: sizes must not be negative: got -9223372036854775808");
  CHECK(refusal<ShapeError>([] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }) ==
        "Shape: at most 8 axes: got 9");
  CHECK(Shape{1, 1, 1, 1, 1, 1, 1, 1}.rank() == 8);
}

TEST_CASE("more elements than 2^63 - 1 are refused, not wrapped around") {
  const Dim big = Dim{1} << 32;
  CHECK(refusal<ShapeError>([&] { Shape{big, big}; }) == too_many + "4294967296");
  CHECK(refusal<ShapeError>([&] { Shape{vast, 2}; }) == too_many + "2");
  CHECK(refusal<ShapeError>([&] { Shape{3, 3, vast}; }) == too_many + std::to_string(vast));
  CHECK(Shape{big, big / 2 - 1}.size() == big * (big / 2 - 1));
  CHECK(Shape{vast, 1, 1}.size() == vast);
}

TEST_CASE("sizes beside a zero must still be countable") {
  CHECK(refusal<ShapeError>([] { Shape{0, vast, vast}; }) == too_many + std::to_string(vast));
  CHECK(refusal<ShapeError>([] { Shape{vast, 0, vast}; }) == too_many + std::to_string(vast));
  CHECK(refusal<ShapeError>([] { Shape{vast, vast, 0}; }) == too_many + std::to_string(vast));
}

TEST_CASE("axes count from 0, or from the end when negative") {
  const Shape shape{2, 3};
  CHECK(axis_of(0, shape, "op") == 0);
  CHECK(axis_of(1, shape, "op") == 1);
  CHECK(axis_of(-1, shape, "op") == 1);
  CHECK(axis_of(-2, shape, "op") == 0);
}

TEST_CASE("an axis that is not there is refused") {
  const Shape shape{2, 3};
  CHECK(refusal<ShapeError>([&] { axis_of(2, shape, "sum"); }) == "sum: no axis 2 in shape (2, 3)");
  CHECK(refusal<ShapeError>([&] { axis_of(-3, shape, "sum"); }) ==
        "sum: no axis -3 in shape (2, 3)");
  CHECK(refusal<ShapeError>([&] { axis_of(0, {}, "sum"); }) == "sum: no axis 0 in shape ()");
  CHECK(refusal<ShapeError>([&] { shape.dim(2); }) == "dim: no axis 2 in shape (2, 3)");
  CHECK(refusal<ShapeError>([&] { shape.with(2, 1); }) == "with: no axis 2 in shape (2, 3)");
  CHECK(refusal<ShapeError>([&] { shape.without(-3); }) == "without: no axis -3 in shape (2, 3)");
  CHECK(refusal<ShapeError>([&] { axis_of(std::numeric_limits<int>::min(), shape, "sum"); }) ==
        "sum: no axis -2147483648 in shape (2, 3)");
}

TEST_CASE("lists of axes are sorted, and none means all") {
  const Shape shape{2, 3, 4};
  const auto axes = [&](std::vector<int> list) { return axes_of(list, shape, "sum"); };
  CHECK(axes({}) == std::vector<int>{0, 1, 2});
  CHECK(axes({2, 0}) == std::vector<int>{0, 2});
  CHECK(axes({-1, 0}) == std::vector<int>{0, 2});
  CHECK(axes_of({}, Shape{}, "sum").empty());
}

TEST_CASE("an axis named twice is refused, in either way of counting") {
  const std::vector<int> twice{1, 1}, both_ways{1, -2}, outside{0, 3};
  const Shape shape{2, 3, 4};
  CHECK(refusal<ShapeError>([&] { axes_of(twice, shape, "sum"); }) ==
        "sum: an axis is named twice for shape (2, 3, 4)");
  CHECK(refusal<ShapeError>([&] { axes_of(both_ways, shape, "sum"); }) ==
        "sum: an axis is named twice for shape (2, 3, 4)");
  CHECK(refusal<ShapeError>([&] { axes_of(outside, shape, "sum"); }) ==
        "sum: no axis 3 in shape (2, 3, 4)");
}

TEST_CASE("a shape with an axis changed, removed, or axes appended") {
  const Shape shape{2, 3, 4};
  CHECK(shape.with(1, 7) == Shape{2, 7, 4});
  CHECK(shape.with(-1, 0) == Shape{2, 3, 0});
  CHECK(shape.without(0) == Shape{3, 4});
  CHECK(shape.without(-1) == Shape{2, 3});
  CHECK(Shape{5}.without(0) == Shape{});
  CHECK(shape.append({5, 6}) == Shape{2, 3, 4, 5, 6});
  CHECK(shape.append({}) == shape);
  CHECK(Shape{}.append({2}) == Shape{2});
}

TEST_CASE("a changed shape is checked again") {
  const Shape shape{vast, 1};
  CHECK(refusal<ShapeError>([&] { shape.with(1, 2); }) == too_many + "2");
  CHECK(refusal<ShapeError>([&] { shape.with(1, -2); }) ==
        "Shape: sizes must not be negative: got -2");
  CHECK(refusal<ShapeError>([&] {
          (Shape{1, 1, 1, 1, 1, 1, 1, 1}.append({1}));
        }) == "Shape: at most 8 axes: got 9");
}

TEST_CASE("shapes align at the last axis and sizes of 1 stretch") {
  const auto common = [](const Shape& a, const Shape& b) {
    CHECK(broadcast(a, b, "+") == broadcast(b, a, "+"));
    return broadcast(a, b, "+");
  };
  CHECK(common({}, {2, 3}) == Shape{2, 3});
  CHECK(common({1}, {3}) == Shape{3});
  CHECK(common({3}, {2, 3}) == Shape{2, 3});
  CHECK(common({2, 1}, {1, 3}) == Shape{2, 3});
  CHECK(common({2, 3, 1}, {4}) == Shape{2, 3, 4});
  CHECK(common({1, 1, 1}, {2, 3, 4}) == Shape{2, 3, 4});
  CHECK(common({0}, {1}) == Shape{0});
  CHECK(common({0, 3}, {1, 3}) == Shape{0, 3});
  CHECK(common({2, 0}, {2, 1}) == Shape{2, 0});
  CHECK(common({}, {}) == Shape{});
}

TEST_CASE("whether shapes broadcast can be asked, and broadcast agrees") {
  const std::vector<Shape> shapes{{},     {1},    {0},    {2},    {3},
                                  {2, 1}, {1, 3}, {2, 3}, {0, 3}, {2, 2, 3}};
  for (const Shape& a : shapes)
    for (const Shape& b : shapes) {
      CAPTURE(to_string(a), to_string(b));
      const std::string refused = refusal<ShapeError>([&] { broadcast(a, b, "+"); });
      CHECK(common_shape(a, b).has_value() == (refused == "<nothing was thrown>"));
    }
}

TEST_CASE("shapes that do not broadcast are refused with both in the message") {
  const auto refused = [](const Shape& a, const Shape& b) {
    return refusal<ShapeError>([&] { broadcast(a, b, "*"); });
  };
  CHECK(refused({2}, {3}) ==
        "*: shapes do not broadcast: (2) and (3); sizes 2 and 3 differ and neither is 1");
  CHECK(refused({2, 3}, {2}) ==
        "*: shapes do not broadcast: (2, 3) and (2); sizes 3 and 2 differ and neither is 1");
  CHECK(refused({0}, {3}) ==
        "*: shapes do not broadcast: (0) and (3); sizes 0 and 3 differ and neither is 1");
  CHECK(refused({2, 3, 4}, {3}) ==
        "*: shapes do not broadcast: (2, 3, 4) and (3); sizes 4 and 3 differ and neither is 1");
}

TEST_CASE("a broadcast result too large to count is refused") {
  const Dim big = Dim{1} << 32;
  CHECK(refusal<ShapeError>([&] {
          broadcast({big, 1}, {1, big}, "+");
        }) == too_many + "4294967296");
}

TEST_CASE("stretching goes one way") {
  const auto stretches = [](const Shape& from, const Shape& to) {
    return common_shape(from, to) == to;
  };
  CHECK(stretches({}, {2, 3}));
  CHECK(stretches({3}, {2, 3}));
  CHECK(stretches({1, 3}, {2, 3}));
  CHECK(stretches({2, 3}, {2, 3}));
  CHECK(stretches({1}, {0}));
  CHECK_FALSE(stretches({2, 3}, {3}));
  CHECK_FALSE(stretches({2, 3}, {1, 3}));
  CHECK_FALSE(stretches({2}, {3}));
  CHECK_FALSE(stretches({1}, {}));
  CHECK_FALSE(stretches({0}, {1}));
}

TEST_CASE("rows are the last axis; the others count them") {
  CHECK(rows_of({2, 3, 4}).count == 6);
  CHECK(rows_of({2, 3, 4}).length == 4);
  CHECK(rows_of({5}).count == 1);
  CHECK(rows_of({5}).length == 5);
  CHECK(rows_of({3, 0}).count == 3);
  CHECK(rows_of({0, 3}).count == 0);
  CHECK(refusal<ShapeError>([] { rows_of({}); }) == "dim: no axis -1 in shape ()");
}
