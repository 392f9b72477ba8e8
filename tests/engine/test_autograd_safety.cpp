#include <stdexcept>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

struct RuleFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// y = x; its rule throws.
Tensor failing(const Tensor& x) {
  return record("failing", x.value(),
                wrt(x, [](const Array&) -> Array { throw RuleFailed("rule"); }));
}

// y = x; its rule returns an array of this shape, whatever x's.
Tensor misshapen(const Tensor& x, const Shape& shape) {
  return record("misshapen", x.value(),
                wrt(x, [shape](const Array&) { return Array::ones(shape); }));
}

const std::string shared_values =
    "write: these values are shared, with a graph that still needs them or with another Array: run "
    "backward() or drop the result first, and keep copies with clone()";

}  // namespace

TEST_CASE("a parameter may be written when no rule and no handle needs its values") {
  const Tensor w = parameter(counting({2})), v = parameter(counting({2})), c(counting({2}));
  const auto is_refused = [&](const Tensor& x) {
    return refusal<GraphError>([&] { x.write(); }) == shared_values;
  };
  {
    const Tensor y = sum(w * w);
    CHECK(is_refused(w));
    backward(y, Graph::keep);
    CHECK(is_refused(w));
    backward(y);
    CHECK_FALSE(is_refused(w));  // y lives, its rules do not
    CHECK(same_bits(w.grad(), Array({2}, {4, 8})));
  }
  { const Tensor dropped = w * w; }
  CHECK_FALSE(is_refused(w));
  {
    const Tensor one_side = w * c;  // dw needs c; dc, which would need w, is not needed
    CHECK_FALSE(is_refused(w));
    const Tensor both = w * v;
    CHECK((is_refused(w) && is_refused(v)));
  }
  {
    const Array seen = w.value();
    CHECK(is_refused(w));
  }
  {
    const Tensor other_shape = reshape(w, {2, 1});
    CHECK(is_refused(w));
  }
  {
    const NoGrad no_grad;
    const Tensor unrecorded = w * w;
    CHECK_FALSE(is_refused(w));
  }
  w.zero_grad();
  const Tensor sums = sum(w + w - 3.0);  // whose rules need no values
  w.write()[0] = Real(100);
  backward(sums);
  CHECK(same_bits(w.grad(), Array({2}, {2, 2})));
  CHECK(sums.item() == 0);
}

TEST_CASE("results outlive the handles they were computed from, gradients and values their graph") {
  Array grad, value;
  Tensor late;
  {
    const Tensor w = parameter(counting({2}));
    const Tensor y = w * w;
    late = sum(exp(w) * w);
    backward(y, counting({2}));
    grad = w.grad();
    value = y.value();
  }
  CHECK(same_bits(grad, Array({2}, {2, 8})));
  CHECK(same_bits(value, Array({2}, {1, 4})));
  CHECK_NOTHROW(backward(late));
}

TEST_CASE("when a rule throws no gradient has changed and everything is freed") {
  const Tensor w = parameter(counting({2}));
  backward(sum(w * 5.0));
  std::weak_ptr<Node> inner;
  {
    const Tensor bad = failing(w * w);
    inner = bad.node();
    const Tensor late =
        parameter(counting({2}));  // newer than `bad`: its gradient is finished first
    const Tensor kept = (late * 2.0).keep_grad();
    const Tensor y = sum(bad + kept);
    CHECK(refusal<RuleFailed>([&] { backward(y); }) == "rule");
    CHECK(same_bits(w.grad(), Array({2}, {5, 5})));
    CHECK_FALSE(late.has_grad());
    CHECK_FALSE(kept.has_grad());
    CHECK_THROWS_AS(backward(y), GraphError);
  }
  CHECK(inner.expired());
  backward(sum(w * 2.0));
  CHECK(same_bits(w.grad(), Array({2}, {7, 7})));
}

TEST_CASE("after a failed backward no half gradient waits on a shared trunk") {
  for (const Graph graph : {Graph::free, Graph::keep}) {
    const Tensor w = parameter(counting({2}));
    const Tensor trunk = w * 2.0;
    const Tensor bad = failing(w);  // visited after trunk * 3.0, before trunk
    CHECK_THROWS_AS(backward(sum(trunk * 3.0 + bad), graph), RuleFailed);
    CHECK_FALSE(w.has_grad());
    backward(sum(trunk));
    CHECK(same_bits(w.grad(), Array({2}, {2, 2})));
  }
}

TEST_CASE("a freed trunk is an error every time it is reached, never a missing gradient") {
  const Tensor w = parameter(counting({2})), v = parameter(counting({2}));
  const Tensor trunk = w * 2.0;
  backward(sum(trunk));
  for (int attempt = 0; attempt < 3; ++attempt) {
    CHECK_THROWS_AS(backward(sum(trunk * v)), GraphError);
    CHECK(same_bits(w.grad(), Array({2}, {2, 2})));
    CHECK_FALSE(v.has_grad());
  }
}

TEST_CASE("a rule that returns no array, or one of a wrong shape, is an error") {
  const Tensor w = parameter(counting({2, 3})), v = parameter(Array({}, {3}));
  for (const Shape& shape : {Shape{3}, Shape{3, 2}, Shape{1, 3}, Shape{}, Shape{2, 4}, Shape{0}}) {
    CAPTURE(to_string(shape));
    const std::string message = refusal<ShapeError>([&] { backward(sum(misshapen(w, shape))); });
    for (const auto& part :
         {"of shape " + to_string(shape), std::string("of shape (2, 3)"), std::string("misshapen")})
      CHECK_THAT(message, ContainsSubstring(part));
  }
  const auto empty = [&] {
    return record("empty", v.value(), wrt(v, [](const Array&) { return Array(); }));
  };
  CHECK_THROWS_AS(backward(empty()), ValueError);
  CHECK_THROWS_AS(backward(empty() + v), ValueError);  // also when something has come before
  CHECK_FALSE((w.has_grad() || v.has_grad()));
}

TEST_CASE("a rule may return the cotangent itself, or one array twice: no block changes another") {
  const Array constant = counting({2}), dy = counting({2});
  const Tensor w = parameter(counting({2})), v = parameter(counting({2})),
               x = parameter(counting({2}));
  const auto same = [constant](const Array&) { return constant; };
  backward(sum(record("constant", w.value(), wrt(w, same), wrt(v, same), wrt(v, same))));
  CHECK(same_bits(constant, counting({2})));
  CHECK(same_bits(w.grad(), counting({2})));
  CHECK(same_bits(v.grad(), Array({2}, {2, 4})));
  backward(x + x + x, dy);
  CHECK(same_bits(dy, counting({2})));
  CHECK(same_bits(x.grad(), Array({2}, {3, 6})));
  w.zero_grad();
  v.zero_grad();
  backward(sum(w + v));  // both gradients start as one block
  backward(sum(w * 3.0));
  CHECK(same_bits(w.grad(), Array({2}, {4, 4})));
  CHECK(same_bits(v.grad(), Array({2}, {1, 1})));
}
