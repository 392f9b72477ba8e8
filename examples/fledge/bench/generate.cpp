// Generation by the decoder: a prompt in one call, then one token at a time.
//
// A token needs each weight once, in one multiply-add: reading the weights from memory takes
// longer than computing with them. So a token is compared with a loop that reads the same weights.
#include <algorithm>
#include <optional>

#include "examples/fledge/bench/limits.h"
#include "examples/fledge/bench/model.h"
#include "examples/fledge/step_cost.h"
#include "nn/generate/sampler.h"

namespace fledge::bench {

namespace {

constexpr double least_seconds = 3;  // of all that is measured
constexpr Dim tokens_a_prompt = 32;  // then the prompt is read again, by a new decoder

}  // namespace

std::vector<Row> generate(const StepSizes& sizes) {
  Rng rng(1);
  const LanguageModel model = model_of(sizes, rng);
  const Dim half = std::max<Dim>(1, sizes.context / 2);
  const Dim length = sizes.prompt > 0 ? sizes.prompt : std::min<Dim>(64, half);
  const Dim most_tokens = std::min(tokens_a_prompt, sizes.context - length);  // of one window
  const std::vector<Dim> words = random_tokens(length, sizes.vocab, rng);
  const double flops = operations_of_prompt(model.sizes, static_cast<double>(length));
  const Limit of_prompt = multiply_adds(flops), of_token = reading(model);

  std::optional<Decoder> decoder;
  Array logits;
  Timer prompt([&] { logits = decoder.emplace(model).read(words); });
  Timer token([&] { logits = decoder->read({sample(logits, {}, rng)}); });
  Timer computing(of_prompt.run), weights(of_token.run);
  const auto begin = Clock::now();
  const auto enough = [&] {
    return sizes.steps > 0
               ? token.runs() >= sizes.steps
               : prompt.timings() >= least_turns && seconds_since(begin) >= least_seconds;
  };
  while (!enough()) {
    computing.run(prompt.run(0) / 4);
    Dim left = sizes.steps > 0 ? std::min(most_tokens, sizes.steps - token.runs()) : most_tokens;
    for (const Dim end = token.runs() + left; token.runs() < end;)
      weights.run(token.run(work_turn, end - token.runs()) / 4);
  }

  const std::string shape = by({sizes.layers, sizes.heads, sizes.width});
  const std::string vocab = vocabulary_of(sizes);
  const std::string context = " context " + std::to_string(sizes.context);
  const std::string tokens = " " + std::to_string(length);
  return {with_times({.name = "prompt",
                      .sizes = shape + context + " tokens" + tokens + vocab,
                      .short_sizes = shape + tokens + short_vocabulary_of(sizes),
                      .flops = flops,
                      .tokens = static_cast<double>(length)},
                     of_prompt, {prompt.times(), computing.times()}),
          with_times({.name = "generate",
                      .sizes = shape + context + vocab,
                      .short_sizes = shape + short_vocabulary_of(sizes),
                      .bytes = bytes_of_token(model),
                      .tokens = 1},
                     of_token, {token.times(), weights.times()})};
}

}  // namespace fledge::bench
