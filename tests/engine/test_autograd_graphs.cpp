#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

// y = x, and counts how often its rule runs.
Tensor counting_visits(const Tensor& x, int& runs) {
  return record("counted", x.value(), wrt(x, [&runs](const Array& dy) { return ++runs, dy; }));
}

Tensor number(double value) { return parameter(Array({}, {value})); }

}  // namespace

TEST_CASE("a diamond: its node is visited once, with the gradients of both sides") {
  int runs_x = 0, runs_a = 0, runs_b = 0, runs_c = 0;
  const Tensor x = number(0.7);
  const Tensor a = counting_visits(counting_visits(x, runs_x) * x, runs_a);
  const Tensor b = counting_visits(tanh(a), runs_b), c = counting_visits(exp(a), runs_c);
  backward(b * c);
  CHECK((runs_x == 1 && runs_a == 1 && runs_b == 1 && runs_c == 1));
  const double t = std::tanh(0.49), e = std::exp(0.49);
  CHECK(close(x.grad(), Array({}, {((1 - t * t) * e + t * e) * 1.4})));
}

TEST_CASE("a long and a short path that meet: no node goes on before all has come") {
  for (const bool short_first : {true, false}) {
    int runs = 0;
    const Tensor x = number(2);
    const Tensor trunk = counting_visits(x * x, runs);
    Tensor path = trunk;
    for (int i = 0; i < 50; ++i) path = -path;
    backward(short_first ? trunk * path : path * trunk);
    CHECK(runs == 1);
    CHECK(same_bits(x.grad(), Array({}, {32})));  // (x⁴)' = 4x³
  }
}

TEST_CASE("a path made before its sibling still waits for it") {
  int runs = 0;
  const Tensor x = number(2);
  const Tensor old_branch = x * 3.0;
  const Tensor trunk = counting_visits(x * 5.0, runs);
  const Tensor late = trunk * old_branch;
  backward(late + trunk + old_branch);
  CHECK(runs == 1);
  CHECK(same_bits(x.grad(), Array({}, {5 * 6 + 3 * 10 + 5 + 3})));
}

TEST_CASE("detached branches, unused pieces and other parameters get nothing, and run nothing") {
  int runs = 0;
  const Tensor x = parameter(counting({3})), unused = parameter(counting({2}));
  const Tensor cut = counting_visits(x * x, runs).detach();
  backward(sum(cut * x));
  CHECK(runs == 0);
  CHECK(same_bits(x.grad(), Array({3}, {1, 4, 9})));
  CHECK_FALSE(unused.has_grad());
  const Tensor whole = parameter(counting({6}));
  backward(sum(split(whole, 3, 0)[1] * 5.0));
  CHECK(same_bits(whole.grad(), Array({6}, {0, 0, 5, 5, 0, 0})));
}

TEST_CASE("the gradient of an intermediate result is kept when asked for, and adds up") {
  const Tensor x = parameter(counting({2}));
  const Tensor kept = (x * x).keep_grad(), other = x * 2.0;
  const Tensor y = sum(kept * kept + other);
  backward(y, Graph::keep);
  CHECK(same_bits(kept.grad(), Array({2}, {2, 8})));
  CHECK_FALSE(other.has_grad());
  backward(y);
  CHECK(same_bits(kept.grad(), Array({2}, {4, 16})));
  CHECK(same_bits(x.grad(), Array({2}, {12, 68})));
}

TEST_CASE("outputs that share a trunk: one after the other, or their sum") {
  const Array start = integers({2, 2}, 1);
  const Tensor apart = parameter(start.clone()), together = parameter(start.clone());
  const auto outputs = [](const Tensor& w) {
    const Tensor trunk = matmul(w, w);
    return std::pair{sum(trunk * 3.0), sum(trunk * trunk)};
  };
  const auto [p, q] = outputs(apart);
  backward(p, Graph::keep);
  backward(q);
  const auto [r, s] = outputs(together);
  backward(r + s);
  CHECK(same_bits(apart.grad(), together.grad()));
}

TEST_CASE("one tensor in k places gets k times the gradient, of chains and of one node") {
  for (const int k : {2, 3, 10, 1000, 100000}) {
    const Tensor x = number(3), z = parameter(Array({1}, {1}));
    Tensor y = x;
    for (int i = 1; i < k; ++i) y = y + x;
    backward(y);
    CHECK(same_bits(x.grad(), Array({}, {static_cast<double>(k)})));
    backward(sum(concat(std::vector<Tensor>(static_cast<std::size_t>(k), z), 0)));
    CHECK(same_bits(z.grad(), Array({1}, {static_cast<double>(k)})));
  }
}

TEST_CASE("a node with 10^5 inputs, all different") {
  constexpr Dim count = 100000;
  std::vector<Tensor> parts;
  for (Dim i = 0; i < count; ++i) parts.push_back(parameter(Array({1}, {1})));
  backward(concat(parts, 0), counting({count}));
  Dim wrong = 0;
  for (Dim i = 0; i < count; ++i)
    wrong += parts[static_cast<std::size_t>(i)].grad()[0] == real(i + 1) ? 0 : 1;
  CHECK(wrong == 0);
}

TEST_CASE("ladders of diamonds and long chains are passed once from end to end") {
  int runs = 0;  // quadratic time would run into the limit that every test has
  const Tensor x = number(3), z = number(1);
  Tensor y = x, chain = z;
  for (int rung = 0; rung < 1000; ++rung) {
    const Tensor half = counting_visits(y * 0.5, runs);
    y = half + half;
  }
  backward(y);
  CHECK(runs == 1000);
  CHECK(same_bits(x.grad(), Array({}, {1})));
  for (int i = 0; i < 200000; ++i) chain = -chain;
  backward(chain);
  CHECK(same_bits(z.grad(), Array({}, {1.0})));
}
