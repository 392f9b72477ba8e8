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

const std::string shared =
    "write: these values are shared, with a graph that still needs them or with another Array: run "
    "backward() or drop the result first, and keep copies with clone()";

}  // namespace

TEST_CASE("a parameter that the graph needs may not be written before backward") {
  const Tensor w = parameter(counting({2}));
  const Tensor y = sum(w * w);
  CHECK(refusal<GraphError>([&] { w.write(); }) == shared);
  backward(y, Graph::keep);
  CHECK(refusal<GraphError>([&] { w.write(); }) == shared);
  backward(y);
  CHECK_NOTHROW(w.write()[0] = Real(5));  // y lives, its rules do not
  CHECK(same_bits(w.grad(), Array({2}, {4, 8})));
}

TEST_CASE("a parameter that the graph does not need may be written at any time") {
  const Tensor w = parameter(counting({2}));
  const Tensor y = sum(w + w - 3.0);
  w.write()[0] = Real(100);
  backward(y);
  CHECK(same_bits(w.grad(), Array({2}, {2, 2})));
  CHECK(y.item() == 0);
}

TEST_CASE("only the side that a rule captured is protected") {
  const Tensor w = parameter(counting({2})), v = parameter(counting({2}));
  const Tensor c(counting({2}));
  const Tensor y = w * c;  // dw needs c; dc, which would need w, is not needed
  CHECK_NOTHROW(w.write());
  const Tensor z = w * v;
  CHECK_THROWS_AS(w.write(), GraphError);
  CHECK_THROWS_AS(v.write(), GraphError);
}

TEST_CASE("a dropped or unrecorded result protects nothing") {
  const Tensor w = parameter(counting({2}));
  { const Tensor dropped = w * w; }
  CHECK_NOTHROW(w.write());
  const NoGrad no_grad;
  const Tensor unrecorded = w * w;
  CHECK_NOTHROW(w.write());
}

TEST_CASE("numbers handed out are protected until they are given back") {
  const Tensor w = parameter(counting({2}));
  {
    const Array seen = w.value();
    CHECK(refusal<GraphError>([&] { w.write(); }) == shared);
  }
  {
    const Tensor other_shape = reshape(w, {2, 1});
    CHECK(refusal<GraphError>([&] { w.write(); }) == shared);
  }
  CHECK_NOTHROW(w.write());
}

TEST_CASE("an update between forward and backward cannot give a wrong gradient") {
  const Tensor w = parameter(Array({2, 2}, {1, 2, 3, 4}));
  const Tensor y = sum(tanh(matmul(w, w)));
  CHECK_THROWS_AS(w.write(), GraphError);
  backward(y);
  const Array before = w.grad();
  w.zero_grad();
  backward(sum(tanh(matmul(w, w))));
  CHECK(same_bits(w.grad(), before));
}

TEST_CASE("gradients and values outlive their graph") {
  Array grad, value;
  {
    const Tensor w = parameter(counting({2}));
    const Tensor y = w * w;
    backward(y, counting({2}));
    grad = w.grad();
    value = y.value();
  }
  CHECK(same_bits(grad, Array({2}, {2, 8})));
  CHECK(same_bits(value, Array({2}, {1, 4})));
}

TEST_CASE("a result outlives the handles it was computed from") {
  Tensor y;
  {
    const Tensor w = parameter(counting({2}));
    y = sum(exp(w) * w);
  }
  CHECK_NOTHROW(backward(y));
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

TEST_CASE("a rule that returns a wrong shape is an error") {
  const Tensor w = parameter(counting({2, 3}));
  for (const Shape& shape : {Shape{3}, Shape{3, 2}, Shape{1, 3}, Shape{}, Shape{2, 4}, Shape{0}}) {
    CAPTURE(to_string(shape));
    const std::string message = refusal<ShapeError>([&] { backward(sum(misshapen(w, shape))); });
    CHECK_THAT(message, ContainsSubstring("of shape " + to_string(shape)));
    CHECK_THAT(message, ContainsSubstring("of shape (2, 3)"));
    CHECK_THAT(message, ContainsSubstring("misshapen"));
    CHECK_FALSE(w.has_grad());
  }
}

TEST_CASE("a rule may return the cotangent itself, or one array twice") {
  const Array constant = counting({2});
  const Tensor w = parameter(counting({2})), v = parameter(counting({2}));
  const auto same = [constant](const Array&) { return constant; };
  backward(sum(record("constant", w.value(), wrt(w, same), wrt(v, same), wrt(v, same))));
  CHECK(same_bits(constant, counting({2})));
  CHECK(same_bits(w.grad(), counting({2})));
  CHECK(same_bits(v.grad(), Array({2}, {2, 4})));
  const Array dy = counting({2});
  const Tensor x = parameter(counting({2}));
  backward(x + x + x, dy);
  CHECK(same_bits(dy, counting({2})));
  CHECK(same_bits(x.grad(), Array({2}, {3, 6})));
}

TEST_CASE("gradients that start as one block do not change each other") {
  const Tensor w = parameter(counting({2})), v = parameter(counting({2}));
  backward(sum(w + v));
  backward(sum(w * 3.0));
  CHECK(same_bits(w.grad(), Array({2}, {4, 4})));
  CHECK(same_bits(v.grad(), Array({2}, {1, 1})));
}

TEST_CASE("a rule that returns no array is an error, also when something has come before") {
  const auto nothing = [](const Array&) { return Array(); };
  const Tensor w = parameter(Array({}, {3})), v = parameter(counting({2}));
  CHECK_THROWS_AS(backward(record("empty", w.value(), wrt(w, nothing))), std::invalid_argument);
  CHECK_THROWS_AS(backward(sum(record("empty", v.value(), wrt(v, nothing)))),
                  std::invalid_argument);
  CHECK_THROWS_AS(backward(record("empty", w.value(), wrt(w, nothing)) + w), std::invalid_argument);
  CHECK_FALSE(w.has_grad());
}
