#include "engine/tensor.h"

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/holding.h"
#include "tests/support/refuses.h"

using namespace tests;

TEST_CASE("a tensor shows the value and the shape of its array; a number is one of shape ()") {
  const Tensor x(counting({2, 3})), number = 2.5, none;
  CHECK(x.shape() == Shape{2, 3});
  CHECK((x.exists() && x.rank() == 2 && x.size() == 6 && x.dim(-1) == 3));
  CHECK(same_bits(x.value(), counting({2, 3})));
  CHECK(to_string(x) == "[[1, 2, 3], [4, 5, 6]]");
  CHECK(number.shape() == Shape{});
  CHECK(number.item() == 2.5);
  CHECK(Tensor(Array({1, 1}, {3})).item() == 3);
  CHECK(refuses<ShapeError>([&] { x.item(); }, "item", "one number", "(2, 3)"));
  for (const Tensor& constant : {x, number, none})
    CHECK_FALSE((constant.needs_grad() || constant.has_grad()));
  CHECK_FALSE(none.exists());
  const std::function<void()> uses[] = {[&] { none.value(); }, [&] { none.shape(); },
                                        [&] { none + 1.0; }, [&] { backward(none); }};
  for (const auto& use : uses)
    CHECK(refusal<GraphError>(use) == "value: this tensor was never given a value");
}

TEST_CASE("copies of a parameter are the same parameter") {
  const Tensor w = parameter(counting({2})), same = w;
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
  const std::string hint = "a constant has no gradient; make it a parameter()";
  CHECK(refuses<GraphError>([&] { x.grad(); }, "grad: ", hint));
  CHECK(refuses<GraphError>([&] { x.keep_grad(); }, "keep_grad: ", hint));
  CHECK(refuses<GraphError>([&] { x.set_grad(counting({2})); }, "set_grad: ", hint));
  CHECK_NOTHROW(x.zero_grad());
}

TEST_CASE("a gradient that has not come is absent, not zero") {
  const Tensor w = parameter(counting({2}));
  CHECK(w.needs_grad());
  CHECK_FALSE(w.has_grad());
  const std::string none = "grad: no backward pass has reached this tensor of shape (2)";
  CHECK(refusal<GraphError>([&] { w.grad(); }) == none);
  const Tensor y = w * 2.0;
  CHECK(refuses<GraphError>([&] { y.grad(); }, none, "keep_grad() on intermediate results"));
}

TEST_CASE("set_grad replaces a gradient of the same shape") {
  const Tensor w = parameter(counting({2}));
  w.set_grad(Array({2}, {5, 6}));
  CHECK(same_bits(w.grad(), Array({2}, {5, 6})));
  const Array other = counting({1, 2});
  CHECK(refuses<ShapeError>([&] { w.set_grad(other); }, "set_grad",
                            "(1, 2) for a tensor of shape (2)"));
  CHECK(same_bits(w.grad(), Array({2}, {5, 6})));
  w.zero_grad();
  CHECK_FALSE(w.has_grad());
}

TEST_CASE("only a parameter may be written") {
  const Tensor w = parameter(counting({2}));
  for (const Tensor& other : {w * 2.0, Tensor(1.0), Tensor()})
    CHECK(refuses<GraphError>([&] { other.write(); }, "write: only a parameter() may be written"));
  CHECK_NOTHROW(w.write());
}

TEST_CASE("detach gives the same numbers without their history, and keeps no graph alive") {
  const Tensor w = parameter(counting({2}));
  const Array witness = counting({1});
  Tensor d;
  {
    const Tensor y = holding(witness, w * 3.0);
    d = y.detach();
    CHECK(d.value().data() == y.value().data());
    CHECK_FALSE(d.needs_grad());
    backward(sum(y * d));
  }
  CHECK(same_bits(w.grad(), Array({2}, {9, 18})));
  CHECK(witness.is_unique());
  CHECK(same_bits(d.value(), Array({2}, {3, 6})));
}
