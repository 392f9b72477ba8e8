#include "engine/tensor.h"

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {
const std::string constant = ": a constant has no gradient; make it a parameter()";
}

TEST_CASE("a tensor shows the value and the shape of its array") {
  const Tensor x(counting({2, 3}));
  CHECK(x.exists());
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.rank() == 2);
  CHECK(x.size() == 6);
  CHECK(x.dim(-1) == 3);
  CHECK(same_bits(x.value(), counting({2, 3})));
  CHECK(to_string(x) == "[[1, 2, 3], [4, 5, 6]]");
}

TEST_CASE("a number is a tensor of shape ()") {
  const Tensor two = 2.5;
  CHECK(two.shape() == Shape{});
  CHECK(two.item() == 2.5);
  CHECK_FALSE(two.needs_grad());
}

TEST_CASE("the item() of a tensor is for exactly one number") {
  CHECK(Tensor(Array({1, 1}, {3})).item() == 3);
  CHECK(refusal<ShapeError>([] { Tensor(counting({2})).item(); }) ==
        "item: needs exactly one number: got shape (2)");
}

TEST_CASE("a tensor that was never given a value says so") {
  const Tensor none;
  CHECK_FALSE(none.exists());
  CHECK_FALSE(none.needs_grad());
  CHECK_FALSE(none.has_grad());
  CHECK(refusal<GraphError>([&] { none.value(); }) == "value: this tensor was never given a value");
  CHECK(refusal<GraphError>([&] { none.shape(); }) == "value: this tensor was never given a value");
  CHECK(refusal<GraphError>([&] { none + 1.0; }) == "value: this tensor was never given a value");
  CHECK(refusal<GraphError>([&] { backward(none); }) ==
        "value: this tensor was never given a value");
}

TEST_CASE("a parameter without a value is refused") {
  CHECK_THROWS_AS(parameter(Array()), ValueError);
}

TEST_CASE("copies of a parameter are the same parameter") {
  const Tensor w = parameter(counting({2}));
  const Tensor same = w;
  CHECK(same.node() == w.node());
  w.write()[0] = Real(7);
  CHECK(same_bits(same.value(), Array({2}, {7, 2})));
  backward(sum(same));
  CHECK(same_bits(w.grad(), Array::ones({2})));
}

TEST_CASE("a moved-from or self-assigned tensor is safe") {
  Tensor w = parameter(counting({2}));
  Tensor& same = w;
  w = same;
  CHECK(same_bits(w.value(), counting({2})));
  Tensor y = w * w;
  y = y * 1.0;  // the old y lives on in the new one's history
  y = std::move(y) * 1.0;
  backward(sum(y));
  CHECK(same_bits(w.grad(), Array({2}, {2, 4})));
  const Tensor moved = std::move(w);
  CHECK(moved.has_grad());
  CHECK_FALSE(w.exists());
}

TEST_CASE("constants have no gradient") {
  const Tensor x(counting({2}));
  CHECK_FALSE(x.needs_grad());
  CHECK_FALSE(x.has_grad());
  CHECK(refusal<GraphError>([&] { x.grad(); }) == "grad" + constant);
  CHECK(refusal<GraphError>([&] { x.keep_grad(); }) == "keep_grad" + constant);
  CHECK(refusal<GraphError>([&] { x.set_grad(counting({2})); }) == "set_grad" + constant);
  CHECK_NOTHROW(x.zero_grad());
}

TEST_CASE("a gradient that has not come is absent, not zero") {
  const Tensor w = parameter(counting({2}));
  CHECK(w.needs_grad());
  CHECK_FALSE(w.has_grad());
  CHECK(refusal<GraphError>([&] { w.grad(); }) ==
        "grad: no backward pass has reached this tensor of shape (2)");
  const Tensor y = w * 2.0;
  CHECK(
      refusal<GraphError>([&] { y.grad(); }) ==
      "grad: no backward pass has reached this tensor of shape (2); call keep_grad() on intermediate "
      "results first");
}

TEST_CASE("set_grad replaces a gradient of the same shape") {
  const Tensor w = parameter(counting({2}));
  w.set_grad(Array({2}, {5, 6}));
  CHECK(same_bits(w.grad(), Array({2}, {5, 6})));
  CHECK(refusal<ShapeError>([&] {
          w.set_grad(counting({1, 2}));
        }) == "set_grad: gradient of shape (1, 2) for a tensor of shape (2)");
  CHECK(same_bits(w.grad(), Array({2}, {5, 6})));
  w.zero_grad();
  CHECK_FALSE(w.has_grad());
}

TEST_CASE("only a parameter may be written") {
  const std::string refused =
      "write: only a parameter() may be written; values of other tensors do not change";
  const Tensor w = parameter(counting({2}));
  const Tensor y = w * 2.0;
  CHECK(refusal<GraphError>([&] { y.write(); }) == refused);
  CHECK(refusal<GraphError>([] { Tensor(1.0).write(); }) == refused);
  CHECK(refusal<GraphError>([] { Tensor().write(); }) == refused);
  CHECK_NOTHROW(w.write());
}

TEST_CASE("detach gives the same numbers without their history") {
  const Tensor w = parameter(counting({2}));
  const Tensor y = w * 3.0;
  const Tensor d = y.detach();
  CHECK(d.value().data() == y.value().data());
  CHECK_FALSE(d.needs_grad());
  backward(sum(y * d));
  CHECK(same_bits(w.grad(), Array({2}, {9, 18})));
}

TEST_CASE("a detached tensor keeps no graph alive") {
  std::weak_ptr<Node> node;
  Tensor d;
  {
    const Tensor y = parameter(counting({2})) * 3.0;
    node = y.node();
    d = y.detach();
  }
  CHECK(node.expired());
  CHECK(same_bits(d.value(), Array({2}, {3, 6})));
}
