// A training step after the first ones asks the system for no memory at all: every new is counted.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "engine/autograd.h"
#include "engine/base/thread_pool.h"
#include "engine/ops.h"
#include "nn/gpt/language_model.h"
#include "nn/optim/adamw.h"
#include "nn/optim/clip.h"

namespace {

std::atomic<long> asked{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++asked;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* block = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) return block;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }

int main() {
  using namespace fledge;
  if (!memory_is_kept) return std::puts("under AddressSanitizer no block is kept"), 0;
  set_threads(
      1);  // which thread takes a task is chance, and so would be when it first needs a block
  Rng rng(1);
  const LanguageModel model(
      {.vocabulary = 11, .context = 70, .layers = 2, .heads = 2, .width = 24, .dropout = 0.1}, rng);
  const std::vector<Tensor> learned = parameters(model);
  AdamW optimizer(learned, {.rate = 1e-3});
  std::vector<Dim> ids;
  for (Dim i = 0; i < 2 * 70; ++i) ids.push_back(rng.below(11));
  const Indices words({2, 70}, ids), next({2, 70}, ids);

  const long before_all = asked;
  for (int step = 1; step <= 20; ++step) {
    const long before = asked;
    optimizer.zero_grad();
    backward(cross_entropy(model(words, Mode::training(rng)), next));
    clip_gradients(learned, 1);
    optimizer.step();
    if (step <= 2 || asked == before) continue;
    std::printf("step %d asked for memory %ld times\n", step, asked - before);
    return 1;
  }
  if (asked == before_all) {
    std::puts("nothing was counted, not even in the first step");
    return 1;
  }
  std::printf("%ld requests in the first steps, none in the others\n", asked - before_all);
}
