#include "engine/base/shape.h"

#include <algorithm>
#include <functional>

#include "engine/base/errors.h"
#include "engine/base/indices.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refusal;

namespace {
constexpr Dim vast = std::numeric_limits<Dim>::max();
constexpr Dim big = Dim{1} << 32;
}  // namespace

TEST_CASE("a shape knows its rank, sizes and number of elements") {
  const Shape shape{2, 3, 4}, single;
  CHECK(shape.rank() == 3);
  CHECK(shape[2] == 4);
  CHECK(shape.dim(1) == 3);
  CHECK(shape.dim(-3) == 2);
  CHECK(std::vector<Dim>(shape.begin(), shape.end()) == std::vector<Dim>{2, 3, 4});
  CHECK((single.rank() == 0 && single.begin() == single.end()));
  struct Row {
    Shape shape;
    Dim size;
    std::string text;
  };
  const std::vector<Row> rows = {
      {{}, 1, "()"},
      {{3}, 3, "(3)"},
      {{2, 3, 4}, 24, "(2, 3, 4)"},
      {{2, 0, 4}, 0, "(2, 0, 4)"},
      {{0}, 0, "(0)"},
      {{0, vast}, 0, "(0, 9223372036854775807)"},
      {{vast}, vast, "(9223372036854775807)"},
      {{vast, 1, 1}, vast, "(9223372036854775807, 1, 1)"},
      {{big, big / 2 - 1}, big * (big / 2 - 1), "(4294967296, 2147483647)"},
      {{1, 1, 1, 1, 1, 1, 1, 1}, 1, "(1, 1, 1, 1, 1, 1, 1, 1)"}};
  for (const Row& row : rows) {
    CHECK(row.shape.size() == row.size);
    CHECK(to_string(row.shape) == row.text);
    for (const Row& other : rows) {  // equal when rank and all sizes are
      CHECK((row.shape == other.shape) == (row.text == other.text));
      CHECK((row.shape != other.shape) == (row.text != other.text));
    }
  }
}

TEST_CASE("an axis counts from 0 or from the end; lists of axes are sorted, and none means all") {
  const Shape shape{2, 3, 4};
  for (int axis = 0; axis < 3; ++axis) {
    CHECK(axis_of(axis, shape, "op") == axis);
    CHECK(axis_of(axis - 3, shape, "op") == axis);
  }
  const auto axes = [&](std::vector<int> list) { return axes_of(list, shape, "sum"); };
  CHECK(axes({}) == std::vector<int>{0, 1, 2});
  CHECK(axes({2, 0}) == std::vector<int>{0, 2});
  CHECK(axes({-1, 0}) == std::vector<int>{0, 2});
  CHECK(axes_of({}, Shape{}, "sum").empty());
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

TEST_CASE("impossible shapes and axes are refused, whoever makes them") {
  const std::string many = "Shape: more elements than can be counted: axis sizes up to ",
                    negative = "Shape: sizes must not be negative: got ",
                    nine = "Shape: at most 8 axes: got 9",
                    twice = "sum: an axis is named twice for shape (2, 3)";
  constexpr Dim least = std::numeric_limits<Dim>::min();
  const auto check = [](const std::string& text, const std::function<void()>& call) {
    CHECK(refusal<ShapeError>(call) == text);
  };
  const std::vector<std::pair<std::vector<Dim>, std::string>> impossible = {
      {{2, -1}, negative + "-1"},
      {{least}, negative + "-9223372036854775808"},
      {{1, 1, 1, 1, 1, 1, 1, 1, 1}, nine},
      {{big, big}, many + std::to_string(big)},
      {{vast, 2}, many + "2"},
      {{3, 3, vast}, many + std::to_string(vast)},
      {{0, vast, vast}, many + std::to_string(vast)},  // sizes beside a zero must be countable too
      {{vast, 0, vast}, many + std::to_string(vast)},
      {{vast, vast, 0}, many + std::to_string(vast)}};
  for (const auto& [sizes, text] : impossible)
    check(text, [&, from = sizes] { Shape{std::span<const Dim>(from)}; });

  const Shape shape{2, 3}, wide{vast, 1}, eight{1, 1, 1, 1, 1, 1, 1, 1}, tall{1, big};
  check(many + "2", [&] { wide.with(1, 2); });
  check(negative + "-2", [&] { wide.with(1, -2); });
  check(nine, [&] { eight.append({1}); });
  check(many + std::to_string(big), [&] { broadcast(Shape{big, 1}, tall, "+"); });
  check("dim: no axis 2 in shape (2, 3)", [&] { shape.dim(2); });
  check("with: no axis 2 in shape (2, 3)", [&] { shape.with(2, 1); });
  check("without: no axis -3 in shape (2, 3)", [&] { shape.without(-3); });
  check("dim: no axis -1 in shape ()", [] { rows_of({}); });
  check("sum: no axis 0 in shape ()", [] { axis_of(0, {}, "sum"); });
  for (const int axis : {2, -3, std::numeric_limits<int>::min()})
    check("sum: no axis " + std::to_string(axis) + " in shape (2, 3)",
          [&] { axis_of(axis, shape, "sum"); });
  const std::vector<std::pair<std::vector<int>, std::string>> lists = {
      {{1, 1}, twice}, {{1, -1}, twice}, {{0, 2}, "sum: no axis 2 in shape (2, 3)"}};
  for (const auto& [axes, text] : lists)
    check(text, [&, list = axes] { axes_of(list, shape, "sum"); });
}

TEST_CASE("shapes align at the last axis and sizes of 1 stretch; others are refused with both") {
  const std::vector<Shape> shapes{{},     {1},    {0},    {2},    {3},       {2, 1},    {1, 3},
                                  {2, 3}, {0, 3}, {2, 0}, {3, 1}, {2, 2, 3}, {1, 1, 1}, {2, 3, 4}};
  for (const Shape& a : shapes)
    for (const Shape& b : shapes) {
      CAPTURE(to_string(a), to_string(b));
      // The sizes from the last axis on, 1 where a shape has none.
      std::vector<Dim> sizes;
      std::string differ;
      for (int axis = 1; axis <= std::max(a.rank(), b.rank()); ++axis) {
        const Dim p = axis <= a.rank() ? a.dim(-axis) : 1, q = axis <= b.rank() ? b.dim(-axis) : 1;
        sizes.insert(sizes.begin(), p == 1 ? q : p);
        if (p == q || p == 1 || q == 1 || !differ.empty()) continue;
        differ = "*: shapes do not broadcast: " + to_string(a) + " and " + to_string(b) +
                 "; sizes " + std::to_string(p) + " and " + std::to_string(q) +
                 " differ and neither is 1";
      }
      const auto common = common_shape(a, b);
      CHECK(common.has_value() == differ.empty());
      if (!common) {
        CHECK(refusal<ShapeError>([&] { broadcast(a, b, "*"); }) == differ);
        continue;
      }
      CHECK(broadcast(a, b, "*") == *common);
      CHECK(std::vector<Dim>(common->begin(), common->end()) == sizes);
    }
}

TEST_CASE("rows are the last axis; the others count them") {
  for (const auto& [shape, count, length] : std::vector<std::tuple<Shape, Dim, Dim>>{
           {{2, 3, 4}, 6, 4}, {{5}, 1, 5}, {{3, 0}, 3, 0}, {{0, 3}, 0, 3}}) {
    CHECK(rows_of(shape).count == count);
    CHECK(rows_of(shape).length == length);
  }
}

TEST_CASE("indices are read row by row, may be anything, and as many as their shape holds") {
  const Indices ids({2, 3}, {5, 6, 7, 8, 9, 10}), list{-100, vast, -100}, one(Shape{}, {7});
  CHECK(ids.shape() == Shape{2, 3});
  CHECK((ids.size() == 6 && ids[0] == 5 && ids[5] == 10));
  CHECK(list.shape() == Shape{3});
  CHECK((list[0] == -100 && list[1] == vast));
  CHECK((one.size() == 1 && one[0] == 7));
  CHECK(Indices({0}, {}).size() == 0);
  CHECK(Indices({2, 0}, {}).shape() == Shape{2, 0});
  CHECK(refusal<ShapeError>([] {
          Indices({2, 3}, {1, 2, 3});
        }) == "Indices: shape (2, 3) holds 6 ids: got 3");
  CHECK(refusal<ShapeError>([] { Indices({0}, {1}); }) == "Indices: shape (0) holds 0 ids: got 1");
  CHECK(refusal<ShapeError>([] { Indices(Shape{}, {}); }) ==
        "Indices: shape () holds 1 ids: got 0");
}
