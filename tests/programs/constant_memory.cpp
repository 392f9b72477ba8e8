// Ten thousand training steps take the memory of one, and a graph leaves nothing behind.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "engine/autograd.h"
#include "engine/base/memory.h"
#include "engine/ops.h"
#include "tests/support/counted_new.h"

using namespace fledge;

namespace {

long blocks_alive() { return static_cast<long>(testing::live_blocks); }
long bytes_alive() { return static_cast<long>(testing::live_bytes); }

void check(bool ok, const char* what, long found, long expected) {
  if (ok) return;
  std::fprintf(stderr, "constant_memory: %s: %ld, expected %ld\n", what, found, expected);
  std::exit(1);
}

// Blocks that `run` leaves behind, when it is run again after a first time.
template <class F>
long left_behind(F run) {
  run();
  release_memory();  // what the pool keeps is not left behind
  const long before = blocks_alive();
  run();
  release_memory();
  return blocks_alive() - before;
}

struct Model {
  Tensor table, w1, b1, w2;
  explicit Model(Rng& rng)
      : table(parameter(random_normal({11, 8}, 0, 0.3, rng))),
        w1(parameter(random_normal({8, 16}, 0, 0.3, rng))),
        b1(parameter(Array::zeros({16}))),
        w2(parameter(random_normal({16, 11}, 0, 0.3, rng))) {}

  Tensor loss(const Indices& words, const Indices& next, Rng& rng) const {
    const Tensor x = embedding(table, words);
    const Tensor scores = attention_scores(x, x, causal());
    const Tensor mixed = x + weighted_sum(softmax(scores, causal()), x, causal());
    const Tensor hidden = dropout(gelu(matmul(mixed, w1) + b1), 0.1, rng);
    return cross_entropy(matmul(hidden, w2), next);
  }

  void step(Rng& rng) const {
    const Indices words({2, 4}, {1, 2, 3, 4, 5, 6, rng.below(11), 8});
    const Indices next({2, 4}, {2, 3, 4, 5, 6, 7, 8, rng.below(11)});
    backward(loss(words, next, rng));
    for (const Tensor& p : {table, w1, b1, w2}) {
      Real* to = p.write();
      for (Dim i = 0; i < p.size(); ++i) to[i] -= Real(0.05) * p.grad()[i];
      p.zero_grad();
    }
  }
};

void graphs_leave_nothing_behind() {
  Rng rng(1);
  const Model model(rng);
  const Indices words({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto left = [](long found, const char* what) { check(found == 0, what, found, 0); };
  const auto loss = [&] { return model.loss(words, words, rng); };

  left(left_behind([&] { loss(); }), "blocks left by a graph without backward");
  left(left_behind([&] { backward(loss()); }), "blocks left by a graph after backward");
  left(left_behind([&] { backward(loss(), Graph::keep); }), "blocks left by a kept graph");
  left(left_behind([&] {
         const NoGrad no_grad;
         loss();
       }),
       "blocks left by a forward pass under NoGrad");
  left(left_behind([&] {
         const Tensor y = loss();
         const auto fail = [](const Array&) -> Array { throw std::runtime_error("rule"); };
         try {
           backward(record("failing", y.value(), wrt(y, fail)));
         } catch (const std::runtime_error&) {
         }
       }),
       "blocks left by a backward that failed");
}

void only_what_rules_need_is_kept() {
  constexpr Dim size = 100000;
  constexpr long bytes = size * static_cast<long>(sizeof(Real));
  const Tensor w = parameter(Array::ones({size}));
  const auto live = [] {
    release_memory();  // what the pool keeps is not kept by a rule
    return bytes_alive();
  };
  long before = live();
  Tensor y = w;
  for (int i = 0; i < 50; ++i) y = y + w;
  check(live() - before < 2 * bytes, "bytes kept by 50 sums", live() - before, bytes);
  y = Tensor();

  before = live();
  y = sum(tanh(w));
  check(live() - before < 2 * bytes, "bytes kept by tanh", live() - before, bytes);
  backward(y);
  check(live() - before < 2 * bytes, "bytes after backward: the gradient alone", live() - before,
        bytes);
}

// The most memory this process has had, in KB on Linux and the BSDs, in bytes on macOS.
long peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void training_takes_constant_memory() {
  Rng rng(2);
  const Model model(rng);
  for (int i = 0; i < 1000; ++i) model.step(rng);
  const long blocks = blocks_alive(), bytes = bytes_alive(), peak = peak_memory();
  for (int i = 0; i < 9000; ++i) model.step(rng);
  check(blocks_alive() == blocks, "live blocks after 10,000 steps", blocks_alive(), blocks);
  check(bytes_alive() == bytes, "live bytes after 10,000 steps", bytes_alive(), bytes);
  // AddressSanitizer keeps freed blocks back on purpose; the counts above hold there too.
  check(!memory_is_kept || peak_memory() - peak <= peak / 20, "peak memory after 10,000 steps",
        peak_memory(), peak);
  std::printf("10,000 steps: %ld blocks, %ld bytes live, peak %ld then %ld\n", blocks, bytes, peak,
              peak_memory());
}

}  // namespace

int main() {
  graphs_leave_nothing_behind();
  only_what_rules_need_is_kept();
  training_takes_constant_memory();
}
