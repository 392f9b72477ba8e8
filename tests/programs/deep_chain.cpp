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
using tests::holding;

namespace {

#ifdef FLEDGE_SANITIZED
constexpr int million = 100000;  // a sanitizer sees no more in ten times as many
#else
constexpr int million = 1000000;
#endif

void check(bool ok, const char* what, double found) {
  if (ok) return;
  std::fprintf(stderr, "deep_chain: %s: %g\n", what, found);
  std::exit(1);
}

Tensor chain(const Tensor& x, int depth) {
  Tensor y = x;
  for (int i = 0; i < depth; ++i) y = -y;
  return y;
}

Tensor number(double value) { return parameter(Array({}, {value})); }

// Processor time of this program in seconds; other programs do not count.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double nanoseconds_per_node(int depth) {
  const double start = now();
  const Tensor x = number(3);
  backward(chain(x, depth));
  check(x.grad().item() == 1, "the gradient of an even chain of signs is not 1", depth);
  return 1e9 * (now() - start) / depth;
}

// Linear time shows in the figures; quadratic time would run into the limit that every test has.
void every_depth() {
  for (const int depth : {1000, 10000, 100000, million})
    std::printf("chain of %7d nodes: %5.0f ns a node\n", depth, nanoseconds_per_node(depth));
}

void freed_without_backward() {
  const Tensor x = number(3);
  const Array witness({1}, {0});
  { const Tensor y = chain(holding(witness, x), million); }
  check(witness.is_unique() && !x.has_grad(), "a graph outlives its last handle", million);
}

void freed_by_an_exception() {
  const Tensor x = number(3);
  const Array witness({1}, {0});
  try {
    const Tensor y = chain(holding(witness, x), million);
    throw std::runtime_error("unwinding");
  } catch (const std::runtime_error&) {
    check(witness.is_unique(), "a graph outlives the exception that unwound it", million);
  }
}

void freed_in_mid_backward() {
  const Tensor x = number(3);
  const Tensor middle = chain(x, 100000);
  const Tensor failing =
      record("failing", middle.value(),
             wrt(middle, [](const Array&) -> Array { throw std::runtime_error("rule"); }));
  try {
    backward(chain(failing, 100000));
    check(false, "a rule that throws passed unnoticed", 1);
  } catch (const std::runtime_error&) {
    check(!x.has_grad(), "a failed backward left a gradient", 1);
  }
}

void freed_on_another_thread() {
  const Tensor x = number(3);
  std::thread other([y = chain(x, million), unused = chain(x, 100000)]() mutable {
    backward(y);
    y = Tensor();
    unused = Tensor();
  });
  other.join();
  check(x.grad().item() == 1, "the gradient computed on another thread is not 1", 1);
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
  check(std::abs(value_of(x.grad().item()) - slope[0]) < 1e-9,
        "skip connections give a gradient of", value_of(x.grad().item()));
}

void used_a_million_times() {
  const Tensor x = number(3);
  Tensor total = x;
  for (int i = 1; i < million; ++i) total = total + x;
  backward(total);
  check(x.grad().item() == million, "a tensor used a million times has a gradient of",
        value_of(x.grad().item()));
}

}  // namespace

int main() {
  every_depth();
  freed_without_backward();
  freed_by_an_exception();
  freed_in_mid_backward();
  freed_on_another_thread();
  skip_connections();
  used_a_million_times();
  std::puts("a million nodes: built, differentiated and freed in every way");
}
