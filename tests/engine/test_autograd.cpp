// Recording, the order of the backward pass, and what an exception, a freed graph or a shared block
// may not change. What holds of the gradients of every op is in ops/test_op_table.cpp.
#include "engine/autograd.h"

#include <stdexcept>

#include "engine/array_math.h"
#include "engine/base/errors.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/holding.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

// How many nodes `run` makes: ids count them.
template <class F>
std::uint64_t nodes_made(F run) {
  const std::uint64_t before = Node("probe", {}).id;
  run();
  return Node("probe", {}).id - before - 1;
}

// y = x, and counts how often its rule runs.
Tensor counted(const Tensor& x, int& runs) {
  return record("counted", x.value(), wrt(x, [&runs](const Array& dy) { return ++runs, dy; }));
}

const std::string not_recorded =
    "backward: this tensor does not depend on any parameter, or was computed under NoGrad";

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

Tensor number(double value) { return parameter(Array({}, {value})); }

}  // namespace

TEST_CASE("every recorded op makes one node, newer than its inputs") {
  const Tensor w = parameter(counting({2}));
  Tensor y;
  CHECK(nodes_made([&] { y = w * w + w; }) == 2);
  CHECK(y.node()->id > w.node()->id);
  CHECK(y.node()->op == "+");
  CHECK(nodes_made([&] { y = Tensor(1.0) + Tensor(2.0); }) == 0);
  CHECK_FALSE(y.needs_grad());
}

TEST_CASE("under NoGrad nothing is recorded, until the last one ends, also by an exception") {
  const Tensor w = parameter(counting({2}));
  const Tensor before = sum(w * w);
  const auto fail_inside = [&] {
    const NoGrad outer, inner;
    w + Tensor(counting({3}));
  };
  CHECK(recording());
  {
    const NoGrad no_grad;
    { const NoGrad inner; }
    CHECK_FALSE(recording());
    CHECK_THROWS_AS(fail_inside(), ShapeError);
    CHECK_FALSE(recording());
    Tensor y;
    CHECK(nodes_made([&] { y = sum(exp(w * w)); }) == 0);
    CHECK_FALSE(y.needs_grad());
    CHECK(refuses<GraphError>([&] { backward(y); }, not_recorded));
    CHECK(parameter(counting({2})).needs_grad());
    backward(before);  // what was computed before keeps its history
    CHECK(same_bits(w.grad(), Array({2}, {2, 4})));
  }
  CHECK(recording());
  CHECK_THROWS_AS(fail_inside(), ShapeError);
  CHECK(recording());
  CHECK((w * w).needs_grad());
}

TEST_CASE("a rule that is not needed is freed at once, with what it captured") {
  const Tensor w = parameter(counting({2}));
  Array saved = counting({2});
  const auto rule = [&saved] { return [saved](const Array& dy) { return dy; }; };
  const Tensor of_constant = record("op", counting({2}), wrt(Tensor(1.0), rule()));
  CHECK(saved.is_unique());
  {
    const NoGrad no_grad;
    const Tensor unrecorded = record("op", counting({2}), wrt(w, rule()));
    CHECK(saved.is_unique());
  }
  const Tensor y = record("op", counting({2}), wrt(w, rule()));
  CHECK_FALSE(saved.is_unique());
  backward(sum(y));
  CHECK(saved.is_unique());  // freed with the graph, although y lives
}

TEST_CASE(
    "edges may come as a list; without an input they are dropped, and their rules never run") {
  const Tensor w = parameter(counting({2})), c(counting({2}));
  int runs = 0;
  const auto list = [&](const std::vector<Tensor>& inputs) {
    PoolVector<Edge> edges;
    for (const Tensor& x : inputs)
      edges.push_back(wrt(x, [&runs](const Array& dy) { return ++runs, dy; }));
    return record("list", counting({2}), std::move(edges));
  };
  CHECK(list({c, w}).node()->edges.size() == 1);
  CHECK(list({w, c, w}).node()->edges.size() == 2);
  CHECK_FALSE((list({c}).needs_grad() || list({}).needs_grad()));
  CHECK_FALSE(record("none", counting({2})).needs_grad());
  backward(sum(list({c, w})));
  CHECK((runs == 1 && w.has_grad() && !c.has_grad()));
}

TEST_CASE("one rule for several arguments runs once, and knows which of them are wanted") {
  const Tensor a = parameter(counting({2})), b = parameter(counting({2})), c(counting({2}));
  int runs = 0;
  std::array<bool, 3> last{};
  const auto joint = [&](const Tensor& x, const Tensor& y, const Tensor& z) {
    return record(
        "joint", x.value() + y.value() * Real(2) + z.value() * Real(3),
        wrt({x, y, z}, [&](const Array& dy, std::array<bool, 3> wanted) {
          ++runs;
          last = wanted;
          return std::array<Array, 3>{dy, wanted[1] ? dy * Real(2) : Array(), dy * Real(3)};
        }));
  };
  const Tensor y = joint(a, c, b);
  CHECK(y.node()->edges.size() == 2);
  backward(sum(y), Graph::keep);
  CHECK(runs == 1);
  CHECK((last == std::array<bool, 3>{true, false, true}));
  CHECK(same_bits(a.grad(), Array({2}, {1, 1})));
  CHECK(same_bits(b.grad(), Array({2}, {3, 3})));
  backward(sum(y));  // once more: the rule runs again
  CHECK(runs == 2);
  CHECK(same_bits(b.grad(), Array({2}, {6, 6})));
  a.zero_grad();
  backward(sum(joint(a, c, a)));  // one tensor, wanted twice
  CHECK(same_bits(a.grad(), Array({2}, {4, 4})));
  CHECK_FALSE(joint(c, c, c).needs_grad());
  const NoGrad no_grad;
  CHECK_FALSE(joint(a, b, c).needs_grad());
}

TEST_CASE("an adding rule starts at zero or at what has come before") {
  const Tensor w = parameter(Array({3}, {1, 2, 3}));
  const auto second = [](const Array& dy, Real* dx) { dx[1] += dy[0]; };
  const Tensor one = record("second", Array({}, {2}), wrt_adding(w, second));
  const Tensor two = record("second", Array({}, {2}), wrt_adding(w, second));
  backward(one + two * 10.0 + sum(w));
  CHECK(same_bits(w.grad(), Array({3}, {1, 12, 1})));
}

TEST_CASE("backward of one number, of any shape of size 1, starts with 1; of a parameter too") {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}}) {
    const Tensor w = parameter(Array(shape, {3}));
    backward(w * w);
    CHECK(same_bits(w.grad(), Array(shape, {6})));
    backward(w);
    CHECK(same_bits(w.grad(), Array(shape, {7})));
  }
}

TEST_CASE("backward refuses what has no gradient") {
  const Tensor w = parameter(counting({2, 3}));
  const Tensor y = w * w, total = sum(w);
  CHECK(refuses<ShapeError>([&] { backward(y); }, "single number, got shape (2, 3)", "⟨dy, y⟩"));
  const Array turned = counting({3, 2}), one = counting({1});
  CHECK(refuses<ShapeError>([&] { backward(y, turned); },
                            "cotangent of shape (3, 2) for a tensor of shape (2, 3)"));
  CHECK(refuses<ShapeError>([&] { backward(total, one); }, "cotangent", "(1)", "()"));
  for (const Tensor& constant : {Tensor(1.0), total.detach()})
    CHECK(refuses<GraphError>([&] { backward(constant); }, not_recorded));
  CHECK_FALSE(w.has_grad());
}

TEST_CASE("Graph::keep: the same gradients again, also of intermediate results that keep theirs") {
  int runs = 0;
  const Tensor w = parameter(uniform({3}, 1));
  const Tensor square = w * w, inner = tanh(square).keep_grad();
  const Tensor y = sum(counted(inner, runs) * inner);
  backward(y, Graph::keep);
  const Array once = w.grad(), inner_once = inner.grad();
  w.zero_grad();
  inner.zero_grad();
  backward(y, Graph::keep);
  CHECK(same_bits(w.grad(), once));
  CHECK(same_bits(inner.grad(), inner_once));
  backward(y);
  CHECK(same_bits(w.grad(), once + once));
  CHECK(same_bits(inner.grad(), inner_once + inner_once));
  CHECK_FALSE(square.has_grad());
  CHECK(runs == 3);
  CHECK(refuses<GraphError>([&] { backward(y); }, "backward: the graph of 'sum' was freed",
                            "run the forward pass again", "Graph::keep"));
  CHECK(same_bits(w.grad(), once + once));
}

TEST_CASE("a long and a short path that meet: no node goes on before all has come") {
  for (const bool short_first : {true, false}) {
    int runs = 0;
    const Tensor x = number(2);
    const Tensor trunk = counted(x * x, runs);
    Tensor path = trunk;
    for (int i = 0; i < 50; ++i) path = -path;
    backward(short_first ? trunk * path : path * trunk);
    CHECK(runs == 1);
    CHECK(same_bits(x.grad(), Array({}, {32})));  // (x⁴)' = 4x³
  }
}

TEST_CASE("detached branches, unused pieces and other parameters get nothing, and run nothing") {
  int runs = 0;
  const Tensor x = parameter(counting({3})), unused = parameter(counting({2}));
  const Tensor cut = counted(x * x, runs).detach();
  backward(sum(cut * x));
  CHECK(runs == 0);
  CHECK(same_bits(x.grad(), Array({3}, {1, 4, 9})));
  CHECK_FALSE(unused.has_grad());
  const Tensor whole = parameter(counting({6}));
  backward(sum(split(whole, 3, 0)[1] * 5.0));
  CHECK(same_bits(whole.grad(), Array({6}, {0, 0, 5, 5, 0, 0})));
}

TEST_CASE("one tensor in k positions gets k times the gradient, of chains and of one node") {
  for (const int k : {2, 3, 10, 1000}) {
    const Tensor x = number(3), z = number(1), last = parameter(Array({1}, {1}));
    Tensor y = x;
    for (int i = 1; i < k; ++i) y = y + x;
    backward(y);
    CHECK(same_bits(x.grad(), Array({}, {static_cast<double>(k)})));
    std::vector<Tensor> parts(static_cast<std::size_t>(k), reshape(z, {1}));
    parts.push_back(last);
    backward(concat(parts, 0), counting({k + 1}));
    CHECK(close(z.grad(), Array({}, {k * (k + 1.0) / 2}), 1e-2));
    CHECK(same_bits(last.grad(), Array({1}, {k + 1.0})));
  }
}

TEST_CASE("a parameter may be written when no rule and no handle needs its values") {
  const Tensor w = parameter(counting({2})), v = parameter(counting({2})), c(counting({2}));
  const auto is_refused = [&](const Tensor& x) {
    return refusal<GraphError>([&] { x.write(); }).starts_with("write: these values are shared");
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

TEST_CASE("when a rule throws no gradient has changed and everything is freed") {
  const Tensor w = parameter(counting({2}));
  backward(sum(w * 5.0));
  const Array witness = counting({1});
  {
    const Tensor bad = failing(holding(witness, w * w));
    const Tensor late = parameter(counting({2}));  // newer: its gradient is finished first
    const Tensor kept = (late * 2.0).keep_grad();
    const Tensor y = sum(bad + kept);
    CHECK(refusal<RuleFailed>([&] { backward(y); }) == "rule");
    CHECK(same_bits(w.grad(), Array({2}, {5, 5})));
    CHECK_FALSE(late.has_grad());
    CHECK_FALSE(kept.has_grad());
    CHECK_THROWS_AS(backward(y), GraphError);
  }
  CHECK(witness.is_unique());
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
  for (const Shape& shape : {Shape{3}, Shape{3, 2}, Shape{1, 3}, Shape{}, Shape{2, 4}, Shape{0}})
    CHECK(refuses<ShapeError>([&] { backward(sum(misshapen(w, shape))); }, "misshapen",
                              "of shape " + to_string(shape), "of shape (2, 3)"));
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
