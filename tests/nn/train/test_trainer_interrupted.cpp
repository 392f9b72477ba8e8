// A step that is interrupted at any place has changed nothing.
#include <atomic>

#include "engine/base/interrupt.h"
#include "engine/base/thread_pool.h"
#include "nn/train/trainer.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

std::atomic<int> checks_left{0};

// A trainer whose products are large enough for several threads.
Trainer trainer_on(const Corpus& corpus) {
  Rng rng(5);
  TrainerOptions options;
  options.batch = 4;
  options.accumulate = 2;
  options.schedule = {.rate = 0.02, .warmup = 2, .steps = 20};
  return {LanguageModel({.vocabulary = corpus.tokenizer.size(),
                         .context = 16,
                         .layers = 1,
                         .heads = 2,
                         .width = 32,
                         .dropout = 0.1},
                        rng),
          corpus.train, options};
}

// Weights and moments.
std::vector<Array> weights_and_moments(const Trainer& trainer) {
  std::vector<Array> all = weights_of(trainer.model());
  for (const AdamW::Moments& moments : trainer.state().moments) {
    all.push_back(moments.m);
    all.push_back(moments.v);
  }
  return all;
}

bool same_arrays(const std::vector<Array>& a, const std::vector<Array>& b) {
  bool result = a.size() == b.size();
  for (std::size_t i = 0; result && i < a.size(); ++i)
    result = a[i].exists() == b[i].exists() && (!a[i].exists() || same_bits(a[i], b[i]));
  return result;
}

}  // namespace

TEST_CASE("trainer: a step that is interrupted at any place has changed nothing") {
  const Corpus corpus =
      read_corpus("birds sometimes walk and birds often fly over the small blue lake\n", {});
  for (const int count : {1, 3}) {
    set_threads(count);
    Trainer undisturbed = trainer_on(corpus), trainer = trainer_on(corpus);
    int interruptions = 0, wrong = 0;
    for (int step = 0; step < 6; ++step) {
      undisturbed.step();
      const std::vector<Array> before = weights_and_moments(trainer);
      for (int calls = 0; trainer.steps_done() == step; ++calls) {
        checks_left = calls;
        const InterruptScope scope([] { return --checks_left < 0; });
        try {
          trainer.step();
        } catch (const Interrupted&) {
          ++interruptions;
          if (trainer.steps_done() != step || !same_arrays(weights_and_moments(trainer), before))
            ++wrong;
        }
      }
      CHECK(same_arrays(weights_and_moments(trainer), weights_and_moments(undisturbed)));
    }
    INFO(count << " threads, " << interruptions << " interruptions");
    CHECK(wrong == 0);
    CHECK(interruptions > 300);
  }
  set_threads(1);
}

TEST_CASE("mean_loss: interrupted before any batch, however small the model is") {
  const Corpus corpus = read_corpus("birds sometimes walk and birds often fly\n", {});
  Rng rng(5);
  const LanguageModel model(
      {.vocabulary = corpus.tokenizer.size(), .context = 8, .layers = 1, .heads = 1, .width = 4},
      rng);
  const double whole = mean_loss(model, corpus.train, 1);
  for (int calls = 0; calls < 3; ++calls) {
    checks_left = calls;
    const InterruptScope scope([] { return --checks_left < 0; });
    CHECK_THROWS_AS(mean_loss(model, corpus.train, 1), Interrupted);
  }
  CHECK(mean_loss(model, corpus.train, 1) == whole);
}
