// A training step after the first ones asks the system for no memory at all: every new is counted.
#include <cstdio>

#include "engine/autograd.h"
#include "engine/base/thread_pool.h"
#include "engine/ops.h"
#include "nn/gpt/language_model.h"
#include "nn/optim/adamw.h"
#include "nn/optim/optimizer.h"
#include "tests/support/counted_new.h"

int main() {
  using namespace fledge;
  using testing::requests;
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

  const std::size_t before_all = requests;
  for (int step = 1; step <= 20; ++step) {
    const std::size_t before = requests;
    optimizer.zero_grad();
    backward(cross_entropy(model(words, Mode::training(rng)), next));
    clip_gradients(learned, 1);
    optimizer.step();
    if (step <= 2 || requests == before) continue;
    std::printf("step %d asked for memory %zu times\n", step, requests - before);
    return 1;
  }
  if (requests == before_all) {
    std::puts("nothing was counted, not even in the first step");
    return 1;
  }
  std::printf("%zu requests in the first steps, none in the others\n", requests - before_all);
}
