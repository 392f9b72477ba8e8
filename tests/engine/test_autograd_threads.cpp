#include <thread>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/holding.h"

using namespace tests;

namespace {

// A small classifier, trained by plain gradient descent; its numbers afterwards.
std::vector<Array> trained(std::uint64_t seed) {
  Rng rng(seed);
  const Tensor w1 = parameter(random_normal({4, 8}, 0, 0.5, rng));
  const Tensor b1 = parameter(Array::zeros({8}));
  const Tensor w2 = parameter(random_normal({8, 3}, 0, 0.5, rng));
  const std::vector<Tensor> parameters{w1, b1, w2};
  for (int step = 0; step < 100; ++step) {
    const Tensor x(random_normal({5, 4}, 0, 1, rng));
    const Indices targets{rng.below(3), rng.below(3), rng.below(3), rng.below(3), rng.below(3)};
    const Tensor hidden = dropout(tanh(matmul(x, w1) + b1), 0.2, rng);
    backward(cross_entropy(matmul(hidden, w2), targets));
    for (const Tensor& p : parameters) {
      Real* to = p.write();
      for (Dim i = 0; i < p.size(); ++i) to[i] -= Real(0.1) * p.grad()[i];
      p.zero_grad();
    }
  }
  std::vector<Array> numbers;
  for (const Tensor& p : parameters) numbers.push_back(p.value());
  return numbers;
}

Tensor chain(const Tensor& x, int depth) {
  Tensor y = x;
  for (int i = 0; i < depth; ++i) y = -y;
  return y;
}

}  // namespace

TEST_CASE("two threads that train two models at once get the bits of each alone") {
  const std::vector<Array> alone_1 = trained(1), alone_2 = trained(2);
  std::vector<Array> beside_1, beside_2;
  std::thread other([&] { beside_1 = trained(1); });
  beside_2 = trained(2);
  other.join();
  for (std::size_t p = 0; p < alone_1.size(); ++p) {
    CHECK(same_bits(beside_1[p], alone_1[p]));
    CHECK(same_bits(beside_2[p], alone_2[p]));
    CHECK_FALSE(same_bits(alone_1[p], alone_2[p]));
  }
}

TEST_CASE("NoGrad holds for its own thread") {
  const NoGrad here;
  bool there = false, needs_grad = false;
  std::thread other([&] {
    there = recording();
    needs_grad = (parameter(counting({2})) * 2.0).needs_grad();
    const NoGrad inner;
  });
  other.join();
  CHECK(there);
  CHECK(needs_grad);
  CHECK_FALSE(recording());
}

TEST_CASE("a graph made on one thread is differentiated and freed on another") {
  const Tensor x = parameter(Array({}, {3}));
  const Array witness = counting({1});
  Tensor used = chain(x * x, 20000), unused = chain(holding(witness, x), 20000);
  std::thread other([y = std::move(used), z = std::move(unused)]() mutable {
    backward(y);
    y = Tensor();
    z = Tensor();
  });
  other.join();
  CHECK(same_bits(x.grad(), Array({}, {6})));
  CHECK(witness.is_unique());
}

TEST_CASE("subnormal numbers survive, on every thread") {
  constexpr double tiny = std::numeric_limits<Real>::denorm_min();
  const auto check = [] {
    const Tensor x = Array({2}, {tiny, -tiny});
    return same_bits((x * 1.0).value(), x.value()) && same_bits((x + 0.0).value(), x.value()) &&
           same_bits(tanh(x).value(), x.value()) && (sum(x + tiny)).item() == 2 * tiny;
  };
  CHECK(check());
  bool elsewhere = false;
  std::thread([&] { elsewhere = check(); }).join();
  CHECK(elsewhere);
}
