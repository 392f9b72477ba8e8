// What a mask hides is not read, and has weight and gradient exactly 0.
#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

// Query 1 sees no key, and no query sees key 3; query 0 sees two keys and query 2 all three others.
const Mask three_by_four =
    custom(3, 4, {true, false, true, false, false, false, false, false, true, true, true, false});

// x with `filling` where keep is 0.
Array filled(const Array& x, const Array& keep, double filling) {
  return where(keep, x, filling).value();
}

// 1 in all rows but one.
Array all_rows_but(Dim row, const Shape& shape) {
  Array keep = Array::ones(shape);
  for (Dim c = 0; c < shape[1]; ++c) keep.write()[row * shape[1] + c] = Real(0);
  return keep;
}

// A call with what of each input, of dy and of y is visible; the rest of y is exactly `hidden`.
struct MaskedCall {
  const char* name;
  Function f;
  std::vector<Array> visible;
  Array visible_dy, visible_y;
  double hidden;
};

void check_hidden(const MaskedCall& call) {
  INFO(call.name);
  std::vector<Array> x;
  for (const Array& visible : call.visible) x.push_back(uniform(visible.shape(), x.size() + 1));
  const Array dy = uniform(call.visible_dy.shape(), 7);
  const Pass clean = pass(call.f, x, dy);
  CHECK(same_bits(clean.y, filled(clean.y, call.visible_y, call.hidden)));
  for (const double poison : {quiet_nan, infinity, -infinity, 1e30}) {
    std::vector<Array> poisoned;
    for (std::size_t i = 0; i < x.size(); ++i)
      poisoned.push_back(filled(x[i], call.visible[i], poison));
    const Pass found = pass(call.f, poisoned, filled(dy, call.visible_dy, poison));
    CHECK(same_bits(found.y, clean.y));
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(same_bits(found.dx[i], clean.dx[i]));
      CHECK(same_bits(found.dx[i], filled(found.dx[i], call.visible[i], 0)));
    }
  }
}

}  // namespace

TEST_CASE("masked ops read nothing that is hidden, and give it nothing") {
  const Array seen = table_of(three_by_four, {3, 4}), several = table_of(three_by_four, {5, 3, 4});
  const Array queries = all_rows_but(1, {3, 2}), keys = all_rows_but(3, {4, 2});
  const auto soft = [](const Tensors& x) { return softmax(x[0], three_by_four); };
  check_hidden({"softmax", soft, {several}, several, several, 0});
  check_hidden({"attention_scores",
                [](const Tensors& x) { return attention_scores(x[0], x[1], three_by_four); },
                {queries, keys},
                seen,
                seen,
                -infinity});
  check_hidden({"weighted_sum",
                [](const Tensors& x) { return weighted_sum(x[0], x[1], three_by_four); },
                {seen, keys},
                queries,
                queries,
                0});
  CHECK(
      close(sum(value(soft, {uniform({3, 4}, 1)}), {1}).value(), Array({3}, {1, 0, 1}), 4 * unit));
}

TEST_CASE("softmax under a mask that hides nothing is softmax to the bit") {
  for (const Shape& shape : {Shape{4, 1}, Shape{2, 3, 65}, Shape{2, 0}, Shape{0, 3}}) {
    const Array x = uniform(shape, 1, -20, 20);
    CHECK(same_bits(softmax(x, Mask()).value(), softmax(x).value()));
  }
}
