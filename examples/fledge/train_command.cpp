// fledge train: a run, or with --find-lr its first steps with seven rates.
#include <cmath>
#include <cstdio>
#include <memory>

#include "examples/fledge/commands.h"
#include "examples/fledge/train/run.h"
#include "examples/fledge/train/source.h"
#include "examples/support/text.h"

namespace fledge {

namespace train {

namespace {

using support::formatted, support::refuse_usage;

constexpr std::int64_t tried_steps = 60;
constexpr Dim tried_windows = 240;
constexpr double factors[] = {1.0 / 8, 1.0 / 4, 1.0 / 2, 1, 2, 4, 8};

struct TriedRate {
  double rate, training = infinity, held_out = infinity;  // infinite: it diverged
  double loss(bool holds_out) const { return holds_out ? held_out : training; }
};

TriedRate tried(double rate, const TrainConfig& config, const Corpus& corpus) {
  TriedRate result{rate};
  TrainerOptions options = config.training;
  options.schedule = {
      .rate = rate, .final_ratio = 1, .warmup = tried_steps / 10, .steps = tried_steps};
  Rng weights(options.seed);
  const LanguageModel model(config.sizes, weights);
  Trainer trainer(model, corpus.train, options);
  try {
    for (std::int64_t step = 1; step <= tried_steps; ++step) trainer.step();
    result.training = trainer.loss_on(corpus.train, options.batch, training_windows);
    if (corpus.valid.size() > 1)
      result.held_out = trainer.loss_on(corpus.valid, options.batch, tried_windows);
  } catch (const NumericError&) {
    return {rate};
  }
  return result;
}

void print(const TriedRate& rate, bool holds_out, bool json) {
  if (json) {
    const Json line = Json::object({{"type", "rate"},
                                    {"lr", rate.rate},
                                    {"training_loss", rate.training},
                                    {"held_out_loss", rate.held_out}});
    std::printf("%s\n", line.text().c_str());
  } else if (!std::isfinite(rate.training)) {
    std::printf("%-12g  diverged\n", rate.rate);
  } else {
    std::printf("%-12g  %13.4f  %s\n", rate.rate, rate.training,
                holds_out ? formatted("%13.4f", rate.held_out).c_str() : "");
  }
  std::fflush(stdout);
}

}  // namespace

/// --find-lr: trains the same new model for 60 steps with each of seven rates, from an eighth to eight
/// times the rate that is given or chosen from the text. The same text and seed give the same
/// numbers. Saves nothing. Returns the exit status. Throws as set_up() does.
int find_rate(TrainConfig config) {
  if (config.resumes())
    refuse_usage("--find-lr tries rates on a new model, --resume goes on with an old one",
                 "use one of them");
  if (!config.from.empty())
    refuse_usage("--find-lr tries rates on a new model, --from begins with another",
                 "use one of them");
  config.texts = text_files(config.texts);
  std::string chosen;
  const Corpus corpus = new_corpus(config, read_text(config).text, nullptr, chosen);
  require_memory(config);
  const bool holds_out = corpus.valid.size() > 1;
  if (!config.json)
    std::printf("Losses after %lld steps with each rate:\n\n%-12s  %13s  %s\n",
                static_cast<long long>(tried_steps), "--lr", "training loss",
                holds_out ? "held-out loss" : "");
  TriedRate best{0};
  for (const double factor : factors) {
    const TriedRate rate = tried(config.training.schedule.rate * factor, config, corpus);
    print(rate, holds_out, config.json);
    if (rate.loss(holds_out) < best.loss(holds_out)) best = rate;
  }
  if (best.rate == 0)
    throw support::CommandError(support::Exit::diverged, "training diverged with each rate",
                                "try a smaller --lr");
  if (!config.json)
    std::printf("\nThe lowest is that of --lr %g. In a longer run another rate may be better.\n",
                best.rate);
  return 0;
}

}  // namespace train

int train_command(int argc, char** argv) {
  const train::TrainConfig config = train::train_config(argc, argv);
  const std::string advice = config.resumes() ? "make the file readable, or move it away"
                                              : "all options: fledge train --help";
  if (config.find_lr)
    return support::with_advice("all options: fledge train --help",
                                [&] { return train::find_rate(config); });
  const std::unique_ptr<train::Run> run =
      support::with_advice(advice, [&] { return train::set_up(config); });
  try {
    return train::train(*run);
  } catch (const FileError& error) {  // a problem with writing to the run's folder
    throw support::CommandError(support::Exit::failed, error.what(),
                                support::remedy(error) +
                                    "; then go on with: fledge train --resume " +
                                    support::shell_word(run->config.folder()));
  }
}

}  // namespace fledge
