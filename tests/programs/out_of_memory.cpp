// Memory runs out at each allocation of a decoder's read and of a training step in turn. What could
// not be done has changed nothing: done again, it gives the bits of an undisturbed run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "engine/base/memory.h"
#include "engine/base/thread_pool.h"
#include "nn/gpt/decoder.h"
#include "nn/train/trainer.h"
#include "tests/support/counted_new.h"

namespace {

using namespace fledge;
using testing::requests_left;

constexpr long no_limit = -1;

[[noreturn]] void fail(const char* what) {
  std::puts(what);
  std::exit(1);
}

/// Calls f with memory for 0, 1, 2, … allocations until it succeeds; how often it failed.
/// unchanged() is asked after each failure.
template <class F, class Unchanged>
long failures_until_done(F f, Unchanged unchanged) {
  for (long allowed = 0;; ++allowed) {
    release_memory();  // blocks that are kept for the next would hide allocations
    requests_left = allowed;
    try {
      f();
      requests_left = no_limit;
      return allowed;
    } catch (const std::bad_alloc&) {
      requests_left = no_limit;
      if (!unchanged()) fail("a failed allocation has changed something");
    }
  }
}

bool same_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.size(), b.data());
}

bool same_weights(const LanguageModel& a, const LanguageModel& b) {
  const std::vector<Tensor> p = parameters(a), q = parameters(b);
  return std::equal(p.begin(), p.end(), q.begin(), [](const Tensor& x, const Tensor& y) {
    return same_bits(x.value(), y.value());
  });
}

LanguageModel made() {
  Rng rng(1);
  return {{.vocabulary = 3, .context = 6, .layers = 3, .heads = 2, .width = 8}, rng};
}

// In calls of one token and of several, within the window and across its moves.
long decoder_failures() {
  const LanguageModel model = made();
  Decoder disturbed(model), undisturbed(model);
  long failures = 0;
  for (const std::vector<Dim>& ids : std::vector<std::vector<Dim>>{
           {0, 2}, {1}, {1, 1}, {2}, {0}, {2, 0, 1}, {1, 0, 2, 2, 1}, {0}}) {
    const std::vector<Dim> window = disturbed.window();
    Array logits;
    failures += failures_until_done([&] { logits = disturbed.read(ids); },
                                    [&] { return disturbed.window() == window; });
    if (!same_bits(logits, undisturbed.read(ids))) fail("the decoder's logits differ");
  }
  return failures;
}

long trainer_failures() {
  const Corpus corpus = read_corpus("abcabbcaabcbacbbacab", {});
  TrainerOptions options;
  options.batch = 2;
  options.schedule = {.rate = 0.02, .warmup = 0, .steps = 20};
  const auto trainer = [&] { return Trainer(made(), corpus.train, options); };
  Trainer disturbed = trainer(), undisturbed = trainer();
  long failures = 0;
  for (int step = 0; step < 2; ++step) {
    failures += failures_until_done([&] { disturbed.step(); },
                                    [&] {
                                      return disturbed.steps_done() == step &&
                                             same_weights(disturbed.model(), undisturbed.model());
                                    });
    undisturbed.step();
    if (!same_weights(disturbed.model(), undisturbed.model())) fail("the trained weights differ");
  }
  return failures;
}

}  // namespace

int main() {
  fledge::set_threads(1);  // the allocations of one thread come in the same order each time
  const long reads = decoder_failures(), steps = trainer_failures();
  std::printf("%ld failed allocations while reading, %ld while training\n", reads, steps);
  return reads > 100 && steps > 100 ? 0 : 1;
}
