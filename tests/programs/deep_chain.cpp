// Graphs of a million nodes are built, differentiated and freed on a stack of 256 KB: no recursion.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <thread>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/support/holding.h"

using namespace fledge;

namespace {

#ifdef FLEDGE_SANITIZED
constexpr int million = 100000;  // a sanitizer sees no more in ten times as many
#else
constexpr int million = 1000000;
#endif

void check(bool ok, const char* what, double found = 0) {
  if (ok) return;
  std::fprintf(stderr, "deep_chain: %s: %g\n", what, found);
  std::exit(1);
}

Tensor chain(Tensor y, int depth) {
  for (int i = 0; i < depth; ++i) y = -y;
  return y;
}
Tensor number(double value) { return parameter(Array({}, {value})); }
double gradient_of(const Tensor& x) { return value_of(x.grad().item()); }

// Linear time shows in the figures; quadratic time would run into the limit that every test has.
void every_depth() {
  for (const int depth : {1000, 10000, 100000, million}) {
    const std::clock_t start = std::clock();  // of this program; others do not count
    const Tensor x = number(3);
    backward(chain(x, depth));
    check(gradient_of(x) == 1, "the gradient of an even chain of signs is not 1", depth);
    std::printf("chain of %7d nodes: %5.0f ns a node\n", depth,
                1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / depth);
  }
}

// At the end of its scope, and by an exception.
void freed_without_backward() {
  for (const bool throws : {false, true}) {
    const Tensor x = number(3);
    const Array witness({1}, {0});
    try {
      const Tensor y = chain(tests::holding(witness, x), million);
      if (throws) throw std::runtime_error("unwinding");
    } catch (const std::runtime_error&) {
    }
    check(witness.is_unique() && !x.has_grad(), "a graph outlives its last handle", throws);
  }
}

void freed_in_mid_backward() {
  const Tensor x = number(3), middle = chain(x, 100000);
  const auto fail = [](const Array&) -> Array { throw std::runtime_error("rule"); };
  const Tensor failing = record("failing", middle.value(), wrt(middle, fail));
  bool has_thrown = false;
  try {
    backward(chain(failing, 100000));
  } catch (const std::runtime_error&) {
    has_thrown = true;
  }
  check(has_thrown, "a rule that throws passed unnoticed");
  check(!x.has_grad(), "a failed backward left a gradient");
}

void freed_on_another_thread() {
  const Tensor x = number(3);
  std::thread other([y = chain(x, million), unused = chain(x, 100000)]() mutable {
    backward(y);
    y = Tensor();
    unused = Tensor();
  });
  other.join();
  check(gradient_of(x) == 1, "the gradient computed on another thread is not 1", gradient_of(x));
}

// y_k = (y_i + y_(k−1)) / 2 with any earlier i; the slopes are added up again in a plain array.
void skip_connections() {
  constexpr std::size_t depth = 100000;
  Rng rng(1);
  std::vector<std::size_t> skip(depth, 0);
  const Tensor x = number(3);
  std::vector<Tensor> y{x};
  for (std::size_t k = 1; k < depth; ++k) {
    skip[k] = static_cast<std::size_t>(rng.below(static_cast<Dim>(k)));
    y.push_back((y[skip[k]] + y[k - 1]) * 0.5);
  }
  std::vector<double> slope(depth, 0.0);
  slope[depth - 1] = 1;
  for (std::size_t k = depth - 1; k >= 1; --k) {
    slope[skip[k]] += slope[k] / 2;
    slope[k - 1] += slope[k] / 2;
  }
  const Tensor last = y.back();
  y.clear();
  backward(last);
  check(std::abs(gradient_of(x) - slope[0]) < 1e-9, "skip connections give a gradient of",
        gradient_of(x));
}

void used_a_million_times() {
  const Tensor x = number(3);
  Tensor total = x;
  for (int i = 1; i < million; ++i) total = total + x;
  backward(total);
  check(gradient_of(x) == million, "a tensor used a million times has a gradient of",
        gradient_of(x));
}

}  // namespace

int main() {
  every_depth();
  freed_without_backward();
  freed_in_mid_backward();
  freed_on_another_thread();
  skip_connections();
  used_a_million_times();
  std::puts("a million nodes: built, differentiated and freed in every way");
}
