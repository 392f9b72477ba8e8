#include <cstdint>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Function look_up(const Indices& ids) {
  return [ids](const Tensors& x) { return embedding(x[0], ids); };
}

Function place(const Indices& ids, Dim first) {
  return [=](const Tensors& x) { return embedding(x[0], x[1], ids, first); };
}

// The matrix product with the rows of the identity, which is what a lookup is.
Function one_hot(const Indices& ids, Dim V) {
  std::vector<double> rows(static_cast<std::size_t>(ids.size() * V));
  for (Dim i = 0; i < ids.size(); ++i) rows[static_cast<std::size_t>(i * V + ids[i])] = 1;
  return [choice = Array(ids.shape().append({V}), rows)](const Tensors& x) {
    return matmul(Tensor(choice), x[0]);
  };
}

}  // namespace

TEST_CASE("embedding takes rows, and repeated ids add up") {
  const Array table({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Pass found =
      pass(look_up({2, 0, 2, 2}), {table}, Array({4, 2}, {1, 2, 30, 40, 500, 600, 7000, 8000}));
  CHECK(same_bits(found.y, Array({4, 2}, {5, 6, 1, 2, 5, 6, 5, 6})));
  CHECK(same_bits(found.dx[0], Array({4, 2}, {30, 40, 0, 0, 7501, 8602, 0, 0})));
}

TEST_CASE("embedding and a product with one-hot rows are two roads to one answer") {
  const std::vector<Indices> all = {{3},
                                    {0, 0, 0, 0},
                                    {4, 1, 4, 2, 0, 1},
                                    Indices({2, 3}, {4, 0, 4, 1, 4, 2}),
                                    Indices({2, 1, 2}, {3, 3, 1, 3})};
  for (const Indices& ids : all)
    for (const Dim C : {1, 3, 17}) {
      const Array table = integers({5, C}, 1), dy = integers(ids.shape().append({C}), 2);
      const Pass found = pass(look_up(ids), {table}, dy);
      // Of one row of ids the product is (n, C); of a batch (…, n, C).
      const Pass expected = pass(one_hot(ids, 5), {table}, dy);
      CHECK(same_numbers(found.y, expected.y));
      CHECK(same_numbers(found.dx[0], expected.dx[0]));
    }
}

TEST_CASE("embedding of no ids, of one id and of empty rows") {
  const Pass none = pass(look_up(Indices({0}, {})), {counting({3, 2})}, Array::zeros({0, 2}));
  CHECK(none.y.shape() == Shape{0, 2});
  CHECK(same_bits(none.dx[0], Array::zeros({3, 2})));

  const Pass single = pass(look_up(Indices(Shape{}, {1})), {counting({3, 2})}, Array({2}, {5, 7}));
  CHECK(same_bits(single.y, Array({2}, {3, 4})));
  CHECK(same_bits(single.dx[0], Array({3, 2}, {0, 0, 5, 7, 0, 0})));

  CHECK(value(look_up({2, 1}), {Array::zeros({3, 0})}).shape() == Shape{2, 0});
  CHECK(value(look_up(Indices({0}, {})), {Array::zeros({0, 2})}).shape() == Shape{0, 2});
}

TEST_CASE("rows that are not looked up are not read") {
  const double nan = quiet_nan;
  const Pass found = pass(look_up({1, 1}), {Array({3, 2}, {nan, nan, 1, 2, infinity, nan})},
                          Array({2, 2}, {1, 2, 3, 4}));
  CHECK(same_bits(found.y, Array({2, 2}, {1, 2, 1, 2})));
  CHECK(same_bits(found.dx[0], Array({3, 2}, {0, 0, 4, 6, 0, 0})));
}

TEST_CASE("two lookups in one table add to one gradient") {
  const auto both = [](const Tensors& x) {
    return embedding(x[0], {0, 1}) + embedding(x[0], {1, 1});
  };
  CHECK(same_bits(pass(both, {counting({3, 1})}, Array({2, 1}, {1, 10})).dx[0],
                  Array({3, 1}, {1, 21, 0})));
  // A table that is also the output of the model, as in GPT-2.
  const auto tied = [](const Tensors& x) { return matmul(embedding(x[0], {1}), transpose(x[0])); };
  const Pass found = pass(tied, {Array({2, 1}, {3, 5})}, Array({1, 2}, {1, 10}));
  CHECK(same_bits(found.y, Array({1, 2}, {15, 25})));
  CHECK(same_numbers(found.dx[0], Array({2, 1}, {5, 103})));
}

TEST_CASE("embedding obeys the rules of every op") {
  check_rules(look_up(Indices({2, 3}, {4, 0, 4, 1, 4, 2})), {uniform({5, 3}, 1)});
  check_rules(look_up(Indices({0}, {})), {uniform({5, 3}, 1)});
  check_rules(look_up({0}), {Array::full({1, 2}, Real(infinity))});
}

TEST_CASE("embedding refuses ids outside its table") {
  const Tensor table = parameter(counting({5, 3}));
  const auto refused = [&](const Indices& ids) {
    return refusal_in_both_modes<ValueError>([&] { embedding(table, ids); });
  };
  const std::string outside = " is outside a table of shape (5, 3)";
  CHECK(refused({-1}) == "embedding: id -1 at position 0" + outside);
  CHECK(refused({0, 5}) == "embedding: id 5 at position 1" + outside);
  CHECK(refused({4, 0, 2147483647, 9}) == "embedding: id 2147483647 at position 2" + outside);
  CHECK(refused(Indices({2, 2}, {0, 0, 0, INT64_MIN})) ==
        "embedding: id -9223372036854775808 at position 3" + outside);
  const auto refused_table = [](const Shape& shape) {
    const Tensor wrong = parameter(Array::ones(shape));
    return refusal_in_both_modes<ShapeError>([&] { embedding(wrong, {0}); });
  };
  CHECK(refused_table({3}) == "embedding: needs a table (V, C): got shape (3)");
  CHECK(refused_table({2, 3, 4}) == "embedding: needs a table (V, C): got shape (2, 3, 4)");
  CHECK(refusal_in_both_modes<GraphError>([] { embedding(Tensor(), {0}); }) ==
        "value: this tensor was never given a value");
}

TEST_CASE("embedding with positions by hand") {
  const Array words({3, 2}, {1, 2, 3, 4, 5, 6}), places({4, 2}, {10, 20, 30, 40, 50, 60, 70, 80});
  const Pass found = pass(place(Indices({2, 2}, {2, 0, 2, 2}), 1), {words, places},
                          Array({2, 2, 2}, {1, 2, 10, 20, 100, 200, 1000, 2000}));
  CHECK(same_bits(found.y, Array({2, 2, 2}, {35, 46, 51, 62, 35, 46, 55, 66})));
  CHECK(same_bits(found.dx[0], Array({3, 2}, {10, 20, 0, 0, 1101, 2202})));
  CHECK(same_bits(found.dx[1], Array({4, 2}, {0, 0, 101, 202, 1010, 2020, 0, 0})));
}

TEST_CASE("embedding with positions is a sum of two lookups, to the bit") {
  const std::vector<Indices> all = {{3},
                                    {4, 1, 4, 2, 0, 1},
                                    Indices({2, 3}, {4, 0, 4, 1, 4, 2}),
                                    Indices({2, 1, 2}, {3, 3, 1, 3}),
                                    Indices({0, 3}, {}),
                                    Indices({3, 0}, {})};
  for (const Indices& ids : all)
    for (const Dim C : {1, 3, 17})
      for (const Dim first : {0, 1, 4}) {
        const Dim T = ids.shape().dim(-1);
        const auto composed = [&](const Tensors& x) {
          return embedding(x[0], ids) + slice(x[1], 0, first, first + T);
        };
        const std::vector<Array> tables = {uniform({5, C}, 1), uniform({first + T + 1, C}, 2)};
        const Array dy = integers(ids.shape().append({C}), 3);
        const Pass found = pass(place(ids, first), tables, dy);
        const Pass expected = pass(composed, tables, dy);
        INFO(to_string(ids.shape()) << " of size " << C << " from position " << first);
        CHECK(same_bits(found.y, expected.y));
        CHECK(same_numbers(found.dx[0], expected.dx[0]));
        CHECK(same_numbers(found.dx[1], expected.dx[1]));
      }
}

TEST_CASE("positions that are not reached are not read") {
  const double nan = quiet_nan;
  const Pass found = pass(place({0, 0}, 1), {Array({1, 1}, {1}), Array({4, 1}, {nan, 2, 3, nan})},
                          Array({2, 1}, {5, 7}));
  CHECK(same_bits(found.y, Array({2, 1}, {3, 4})));
  CHECK(same_bits(found.dx[1], Array({4, 1}, {0, 5, 7, 0})));
}

TEST_CASE("one table may hold words and positions") {
  const auto both = [](const Tensors& x) { return embedding(x[0], x[0], {2, 0}); };
  const Pass found = pass(both, {Array({3, 1}, {1, 2, 4})}, Array({2, 1}, {1, 10}));
  CHECK(same_bits(found.y, Array({2, 1}, {5, 3})));
  CHECK(same_bits(found.dx[0], Array({3, 1}, {11, 10, 1})));
}

TEST_CASE("embedding with positions obeys the rules of every op") {
  const Indices ids({2, 3}, {4, 0, 4, 1, 4, 2});
  check_rules(place(ids, 0), {uniform({5, 3}, 1), uniform({3, 3}, 2)});
  check_rules(place(ids, 2), {uniform({5, 3}, 1), uniform({6, 3}, 2)});
}

TEST_CASE("embedding with positions refuses what does not fit") {
  const auto refused = [](const Shape& positions, const Indices& ids, Dim first = 0) {
    const Tensor words = parameter(counting({5, 3})), places = parameter(Array::ones(positions));
    const auto call = [&] { embedding(words, places, ids, first); };
    const std::string shape = refusal_in_both_modes<ShapeError>(call);
    return shape[0] == '<' ? refusal_in_both_modes<ValueError>(call) : shape;
  };
  CHECK(refused({4, 3}, {0, 5}) ==
        "embedding: id 5 at position 1 is outside a table of shape (5, 3)");
  CHECK(refused({4, 2}, {0}) == "embedding: needs positions (context, 3): got shape (4, 2)");
  CHECK(refused({3}, {0}) == "embedding: needs positions (context, 3): got shape (3)");
  CHECK(refused({1, 4, 3}, {0}) == "embedding: needs positions (context, 3): got shape (1, 4, 3)");
  const std::string outside = " are outside a table of shape (4, 3)";
  CHECK(refused({4, 3}, {0, 1, 2, 3, 4}) == "embedding: 5 positions from 0 on" + outside);
  CHECK(refused({4, 3}, {0, 1}, 3) == "embedding: 2 positions from 3 on" + outside);
  CHECK(refused({4, 3}, {0, 1}, -1) == "embedding: 2 positions from -1 on" + outside);
  CHECK_THAT(refused({4, 3}, {0, 1}, INT64_MAX - 1), EndsWith(outside));
  const Tensor words = parameter(counting({5, 3}));
  CHECK(refusal_in_both_modes<GraphError>([&] { embedding(words, Tensor(), {0}); }) ==
        "value: this tensor was never given a value");
  // A single id stands at no time.
  CHECK_THAT(
      refusal_in_both_modes<ShapeError>([&] { embedding(words, words, Indices(Shape{}, {1})); }),
      EndsWith("shape ()"));
}
