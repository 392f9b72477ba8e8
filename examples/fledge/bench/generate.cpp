// Generation by the decoder: a prompt in one call, then one token at a time.
//
// A token needs each weight once, in one multiply-add: reading the weights from memory takes
// longer than computing with them. So generation is compared with the rate of reading memory.
#include <algorithm>

#include "examples/fledge/bench/limits.h"
#include "examples/fledge/bench/model.h"
#include "examples/fledge/bench/timing.h"
#include "examples/fledge/step_cost.h"
#include "nn/generate/sampler.h"

namespace fledge::bench {

namespace {

constexpr double least_seconds = 3;  // of all that is measured
constexpr double turn = 0.1;         // seconds of generation, then of reading memory
constexpr Dim tokens_a_prompt = 64;  // then the prompt is read again, by a new decoder

// Every weight is read once, but the table of positions: of it, one row.
double bytes_of_token(const LanguageModel& model) {
  Dim numbers = model.sizes.width - model.wpe.weight.size();
  for (const Tensor& weight : parameters(model)) numbers += weight.size();
  return static_cast<double>(numbers) * sizeof(Real);
}

double best(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin(), seconds.end());
}

}  // namespace

std::vector<Row> generate(const StepSizes& sizes) {
  Rng rng(1);
  const LanguageModel model = model_of(sizes, rng);
  const Dim half = std::max<Dim>(1, sizes.context / 2);
  const Dim length = sizes.prompt > 0 ? sizes.prompt : std::min<Dim>(64, half);
  const Dim most_tokens = std::min(tokens_a_prompt, sizes.context - length);  // of one window
  const std::vector<Dim> prompt = random_tokens(length, sizes.vocab, rng);

  ReadRate reading(bytes_of_token(model));
  reading.measure(turn);
  std::vector<double> of_prompts, of_tokens;  // seconds
  double total = 0, since_reading = 0;
  const auto enough = [&] {
    const auto tokens = static_cast<std::int64_t>(of_tokens.size());
    return sizes.steps > 0 ? tokens >= sizes.steps
                           : of_prompts.size() >= 3 && total >= least_seconds;
  };
  while (!enough()) {
    Decoder decoder(model);
    bool is_prompt = true;
    auto begin = Clock::now();
    fledge::generate(decoder, prompt, most_tokens + 1, {}, rng, [&](Dim, const Array&) {
      const double seconds = seconds_since(begin);
      (is_prompt ? of_prompts : of_tokens).push_back(seconds);
      is_prompt = false;
      total += seconds;
      since_reading += seconds;
      if (since_reading >= turn) {
        reading.measure(turn);
        since_reading = 0;
      }
      begin = Clock::now();
      return !enough();
    });
  }
  reading.measure(turn);

  const std::string shape = by({sizes.layers, sizes.heads, sizes.width});
  const std::string vocab = vocabulary_of(sizes);
  const std::string context = " context " + std::to_string(sizes.context);
  const std::string tokens = " " + std::to_string(length);
  const double bytes = bytes_of_token(model);
  return {{.name = "prompt",
           .sizes = shape + context + " tokens" + tokens + vocab,
           .short_sizes = shape + tokens + vocab,
           .seconds = median(of_prompts),
           .flops = operations_of_prompt(model.sizes, static_cast<double>(length)),
           .tokens = static_cast<double>(length),
           .best_seconds = best(of_prompts)},
          {.name = "generate",
           .sizes = shape + context + vocab,
           .short_sizes = shape + vocab,
           .seconds = median(of_tokens),
           .bytes = bytes,
           .array_bytes = bytes,
           .tokens = 1,
           .best_seconds = best(of_tokens),
           .reading = reading.rates()}};
}

}  // namespace fledge::bench
