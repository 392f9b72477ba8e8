#include "engine/autograd.h"

#include <functional>

#include "engine/array_math.h"
#include "engine/base/errors.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

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
const std::string freed_graph =
    "' was freed by an earlier backward(); run the forward pass again, or call the first one with "
    "Graph::keep";

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
    CHECK(refusal<GraphError>([&] { backward(y); }) == not_recorded);
    CHECK(parameter(counting({2})).needs_grad());
    backward(before);  // what was computed before keeps its history
    CHECK(same_bits(w.grad(), Array({2}, {2, 4})));
  }
  CHECK(recording());
  CHECK_THROWS_AS(fail_inside(), ShapeError);
  CHECK(recording());
  CHECK((w * w).needs_grad());
}

TEST_CASE("a wrong call is refused with the same words under NoGrad") {
  const Tensor w = parameter(counting({2}));
  const auto wrong = [&] { w + Tensor(counting({3})); };
  const std::string message = refusal<ShapeError>(wrong);
  const NoGrad no_grad;
  CHECK(refusal<ShapeError>(wrong) == message);
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

TEST_CASE("no rule runs for arguments that want no gradient") {
  int wanted = 0, unwanted = 0;
  const auto rule = [](int& runs) { return [&runs](const Array& dy) { return ++runs, dy; }; };
  const Tensor w = parameter(counting({2})), c(counting({2}));
  const Tensor y = record("pair", counting({2}), wrt(c, rule(unwanted)), wrt(w, rule(wanted)));
  CHECK(y.node()->edges.size() == 1);
  backward(sum(y));
  CHECK(wanted == 1);
  CHECK(unwanted == 0);
  CHECK_FALSE(c.has_grad());
}

TEST_CASE("edges may come as a list, of which those without an input are dropped") {
  const Tensor w = parameter(counting({2}));
  const auto list = [](const std::vector<Tensor>& inputs) {
    PoolVector<Edge> edges;
    for (const Tensor& x : inputs) edges.push_back(wrt(x, [](const Array& dy) { return dy; }));
    return record("list", counting({2}), std::move(edges));
  };
  CHECK(list({1.0, w}).node()->edges.size() == 1);
  CHECK(list({w, 1.0, w}).node()->edges.size() == 2);
  CHECK_FALSE(list({1.0}).needs_grad());
  CHECK_FALSE(list({}).needs_grad());
  CHECK_FALSE(record("none", counting({2})).needs_grad());
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

TEST_CASE("gradients of leaves add up over backward passes, in order, bit for bit") {
  const Tensor w = parameter(uniform({5}, 1));
  const Array first = uniform({5}, 2), second = uniform({5}, 3), third = uniform({5}, 4);
  for (const Array& dy : {first, second, third}) backward(w * 1.0, dy);
  CHECK(same_bits(w.grad(), (first + second) + third));
  w.zero_grad();
  CHECK_FALSE(w.has_grad());
  backward(w * 1.0, third);
  CHECK(same_bits(w.grad(), third));
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
  CHECK(
      refusal<ShapeError>([&] { backward(w * w); }) ==
      "backward: needs a single number, got shape (2, 3); pass a cotangent of that shape for ⟨dy, y⟩");
  CHECK(refusal<ShapeError>([&] {
          backward(w * w, counting({3, 2}));
        }) == "backward: cotangent of shape (3, 2) for a tensor of shape (2, 3)");
  CHECK(refusal<ShapeError>([&] { backward(sum(w), counting({1})); }) ==
        "backward: cotangent of shape (1) for a tensor of shape ()");
  CHECK(refusal<GraphError>([] { backward(Tensor(1.0)); }) == not_recorded);
  CHECK(refusal<GraphError>([&] { backward(sum(w).detach()); }) == not_recorded);
  CHECK_FALSE(w.has_grad());
}

TEST_CASE("Graph::keep: the same gradients again, and no stale ones inside") {
  int runs = 0;
  const Tensor w = parameter(uniform({3}, 1));
  const Tensor inner = tanh(w * w).keep_grad();
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
  CHECK(runs == 3);
  CHECK(refusal<GraphError>([&] { backward(y); }) == "backward: the graph of 'sum" + freed_graph);
  CHECK(same_bits(w.grad(), once + once));
}

TEST_CASE("the gradient is linear in the cotangent, and exactly zero for zeros") {
  const Tensor w = parameter(uniform({3}, 1));
  const Tensor y = tanh(w * w) * w;
  const Array dy = uniform({3}, 2);
  const auto gradient = [&](const Array& cotangent) {
    w.zero_grad();
    backward(y, cotangent, Graph::keep);
    return w.grad();
  };
  CHECK(same_bits(gradient(dy * Real(2)), gradient(dy) * Real(2)));
  CHECK(same_numbers(gradient(Array::zeros({3})), Array::zeros({3})));
}

TEST_CASE("one tensor at several places of a graph gets the sum of their gradients") {
  using In = const std::vector<Tensor>&;
  struct Row {
    std::size_t places;
    Shape shape;
    std::function<Tensor(In)> f;
  };
  const std::vector<Row> rows = {
      {4, {4}, [](In x) { return x[0] * x[1] + x[2] - x[3] * 3.0; }},
      {3, {3, 3}, [](In x) { return matmul(matmul(x[0], transpose(x[1])), x[2]); }},
      {2,
       {4},
       [](In x) {
         return concat({slice(x[0], 0, 0, 3), slice(x[1], 0, 1, 4)}, 0);
       }},
      {2,
       {3, 1},
       [](In x) {
         return x[0] - reshape(x[1], {1, 3}) * 2.0;
       }},
      {2,
       {4, 3},
       [](In x) {
         return matmul(embedding(x[0], {2, 1}), transpose(x[1]));
       }},
  };
  for (const Row& row : rows) {
    const Array x = uniform(row.shape, 1);
    std::vector<Tensor> apart;
    for (std::size_t i = 0; i < row.places; ++i) apart.push_back(parameter(x.clone()));
    const Tensor y = row.f(apart), together = parameter(x.clone());
    const Array dy = uniform(y.shape(), 2);
    backward(y, dy);
    backward(row.f(std::vector<Tensor>(row.places, together)), dy);
    Array sum = Array::zeros(row.shape);
    for (const Tensor& argument : apart) sum = sum + argument.grad();
    // Of two summands the order changes no bit.
    CHECK((row.places == 2 ? same_numbers(together.grad(), sum) : close(together.grad(), sum)));
  }
}

TEST_CASE("broadcasting sums the gradient over exactly the axes that were stretched") {
  for (const Shape& to : {Shape{2, 3}, Shape{0, 3}})
    for (const Shape& shape :
         {Shape{3}, Shape{1, 3}, Shape{2, 1}, Shape{1, 1}, Shape{1}, Shape{}}) {
      if (to[0] == 0 && shape == Shape{2, 1}) continue;
      const Tensor w = parameter(uniform(shape, 1));
      const Array dy = uniform(to, 2);
      backward(w + Tensor(Array::zeros(to)), dy);
      CHECK(same_bits(w.grad(), sum_to(dy, shape)));
    }
}
