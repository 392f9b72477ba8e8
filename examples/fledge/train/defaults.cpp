// The sizes, the rate and the number of steps that a run has unless they are given: chosen from its
// text.
//
// The choice counts operations, never seconds. So the same text gives the same model on
// any machine.
#include <algorithm>
#include <cmath>

#include "examples/fledge/step_cost.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/train/train_config.h"
#include "examples/support/text.h"

namespace fledge::train {

using support::counted, support::formatted, support::thousands;

namespace {

// `most_passes`: the largest number of passes over the training text.
struct Defaults {
  Dim layers, heads, width, context, batch;
  double rate, dropout, decay, most_passes;
};

// Held-out losses of these rows, in nats per character, and of the best counting table beside them:
// verse 1.93 (2.04), German 1.79 (1.91), source code 1.89 (2.05), Chinese prose 1.79 (1.86), Chinese
// poems 4.67 (4.72), plays of 1.1 MB 1.67 (1.78), names in lines 1.99 (2.05).
constexpr Defaults of_tiny_text{1, 2, 32, 32, 8, 0.004, 0.1, 0.1, 100};
constexpr Defaults of_small_text{2, 4, 64, 64, 16, 0.004, 0.1, 0.1, 60};
constexpr Defaults of_text{4, 4, 128, 128, 16, 0.004, 0.1, 0.1, 40};
constexpr Defaults of_large_text{4, 4, 128, 128, 16, 0.004, 0, 0.1, 40};
// Each symbol is seen so seldom that the model soon knows the text by heart. A smaller rate, more
// dropout and more weight decay slow this down.
constexpr Defaults of_rare_symbols{4, 4, 128, 64, 12, 0.002, 0.15, 3, 20};
constexpr Defaults of_short_lines{4, 4, 64, 32, 64, 0.004, 0.05, 0.1, 24};

constexpr Dim tiny_tokens = 10'000, small_tokens = 40'000, large_tokens = 400'000;
constexpr Dim seldom = 100;  // training tokens for each symbol
constexpr Dim short_line = 32;

Defaults defaults_for(const Corpus& corpus) {
  const Dim tokens = corpus.train.size(), longest = longest_document(corpus.train);
  Defaults row = tokens < tiny_tokens                        ? of_tiny_text
                 : tokens < seldom * corpus.tokenizer.size() ? of_rare_symbols
                 : tokens < small_tokens                     ? of_small_text
                 : longest > 0 && longest <= short_line      ? of_short_lines
                 : tokens < large_tokens                     ? of_text
                                                             : of_large_text;
  if (longest == 0) {
    row.context = std::min(row.context, std::max<Dim>(tokens - 1, 1));
  } else if (longest < row.context) {  // shorter windows, and as many more of them
    const Dim context = std::max<Dim>((longest + 7) / 8 * 8, 8);
    row.batch = std::max(row.batch, row.batch * row.context / context / 2);
    row.context = context;
  }
  return row;
}

double rate_for(const TrainConfig& config, const Defaults& row) {
  // A model that has learned is trained further with a tenth of the rate.
  return config.from.empty() ? row.rate : row.rate / 10;
}

// Heads that divide the width, or a width that the heads divide: one of them may be given.
void fit_heads(TrainConfig& config, const Defaults& row) {
  LanguageModelSizes& sizes = config.sizes;
  const bool has_width = config.given.contains("--width");
  const bool has_heads = config.given.contains("--heads");
  if (!has_width && !has_heads) {
    sizes.width = row.width;
    sizes.heads = row.heads;
  } else if (!has_width) {
    sizes.width = std::max<Dim>((row.width + sizes.heads - 1) / sizes.heads, 1) * sizes.heads;
    if (sizes.width < 2) sizes.width = 2;
  } else if (!has_heads) {
    sizes.heads = row.heads;
    while (sizes.width % sizes.heads != 0) --sizes.heads;
  }
}

// At most this batch, halved until a step holds at most 10⁹ numbers: 4 GB.
Dim fitting_batch(const LanguageModelSizes& sizes, Dim batch) {
  while (batch > 1 && numbers_of_step(sizes, static_cast<double>(batch)) > 1e9) batch /= 2;
  return batch;
}

}  // namespace

double rate_after_divergence(const TrainConfig& config, const Corpus& corpus) {
  const double chosen =
      config.texts.empty() ? rate_of_built_in_text : rate_for(config, defaults_for(corpus));
  const double rate = config.training.schedule.rate;
  return rate > chosen ? chosen : rate / 10;
}

std::string choose_for_text(TrainConfig& config, const Corpus& corpus) {
  const Defaults row = defaults_for(corpus);
  TrainerOptions& training = config.training;
  CosineSchedule& schedule = training.schedule;
  std::string chosen;
  const auto chose = [&](const char* name, const std::string& what) {
    if (!config.given.contains(name)) chosen += (chosen.empty() ? "" : ", ") + what;
  };
  config.choose("--layers", config.sizes.layers, row.layers);
  fit_heads(config, row);
  config.choose("--context", config.sizes.context, row.context);
  config.choose("--batch", training.batch, fitting_batch(config.sizes, row.batch));
  config.choose("--lr", schedule.rate, rate_for(config, row));
  config.choose("--dropout", config.sizes.dropout, row.dropout);
  config.choose("--decay", training.decay, row.decay);
  const auto accumulate = static_cast<double>(training.accumulate);
  const auto batch = static_cast<double>(training.batch) * accumulate;
  const double by_work =
      config.minutes * operations_of_minute / operations_of_step(config.sizes, batch);
  const double by_passes = row.most_passes * static_cast<double>(corpus.train.size()) /
                           (batch * static_cast<double>(config.sizes.context));
  const std::int64_t least = config.given.contains("--warmup") ? schedule.warmup : 0;
  const double steps = std::clamp(std::floor(std::min(by_work, by_passes)), 20.0, 1e9);
  config.choose("--steps", schedule.steps, std::max(static_cast<std::int64_t>(steps), least));
  config.choose("--warmup", schedule.warmup, std::min<std::int64_t>(100, schedule.steps / 10));
  // After each twentieth of the steps, or less often: evaluations take at most a sixteenth of the work
  // of the steps between them. A step takes three times as long as reading its windows forward.
  const auto windows = [&](const TokenText& text, Dim most) {
    return std::min(most, text.size() / config.sizes.context + 1);
  };
  const double steps_of_evaluation = static_cast<double>(windows(corpus.valid, evaluated_windows) +
                                                         windows(corpus.train, training_windows)) /
                                     (3 * batch);
  config.choose("--eval-every", config.evaluate_every,
                std::max({schedule.steps / 20, std::int64_t{25},
                          static_cast<std::int64_t>(16 * steps_of_evaluation)}));
  if (config.corpus.valid > 0) config.choose("--patience", config.patience, 5);

  const std::string token = token_word(corpus.tokenizer.kind());
  chose("--layers", counted(config.sizes.layers, "layer"));
  chose("--heads", counted(config.sizes.heads, "head"));
  chose("--width", "width " + thousands(config.sizes.width));
  chose("--context", "context " + thousands(config.sizes.context));
  chose("--batch", "batch " + thousands(training.batch));
  chose("--lr", formatted("learning rate %g", schedule.rate));
  chose("--steps", counted(schedule.steps, "step"));
  if (chosen.empty()) return "";
  std::string text;
  if (corpus.train.size() < tiny_tokens)
    text =
        "The training text is very short: the model soon knows it by heart. 30 kB and more can be "
        "learned from.\n";
  text += "Chosen for " + counted(corpus.train.size(), "training " + token) + ": " + chosen + ".";
  if (config.given.contains("--steps")) return text;
  if (by_passes < by_work)
    return text + formatted(" These are %.0f passes over the text, the most that are chosen.",
                            row.most_passes);
  return text + formatted(" This is the work of %g ", config.minutes) +
         (config.minutes == 1 ? "minute" : "minutes") + " on two cores (--minutes).";
}

}  // namespace fledge::train
