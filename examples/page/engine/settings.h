// The settings of a run in a page, each under its name in JSON, and what a page can compute: it has
// 2 GB of memory and one core.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "nn/gpt/config.h"
#include "nn/io/json.h"
#include "nn/text/corpus.h"
#include "nn/train/defaults.h"
#include "nn/train/step_cost.h"
#include "nn/train/trainer.h"

namespace fledge {

struct Settings {
  CorpusOptions corpus;
  LanguageModelSizes sizes{.vocabulary = 1, .context = 0};
  TrainerOptions training;

  /// Calls f(name, option, value) for each setting: its name in the JSON of a page, and the option of
  /// `fledge train`, as run.safetensors has it. "": it has none there.
  void each(auto&& f) {
    f("lines", "lines", corpus.reading), f("tokens", "", corpus.tokens);
    f("symbols", "", corpus.symbols), f("valid", "valid", corpus.valid);
    f("layers", "", sizes.layers), f("heads", "", sizes.heads), f("width", "", sizes.width);
    f("hidden", "", sizes.hidden), f("context", "", sizes.context), f("bias", "", sizes.bias);
    f("dropout", "dropout", sizes.dropout), f("without", "", sizes.recipe);
    f("freeze", "freeze", sizes.recipe.learned);
    CosineSchedule& schedule = training.schedule;
    f("steps", "steps", schedule.steps), f("warmup", "warmup", schedule.warmup);
    f("rate", "lr", schedule.rate);
    f("batch", "batch", training.batch);
    f("decay", "decay", training.decay), f("clip", "clip", training.clip);
    f("beta2", "", training.beta2), f("seed", "seed", training.seed);
    f("optimizer", "optimizer", training.optimizer);
  }
};

inline Json json_of(std::integral auto number) { return number; }
inline Json json_of(double number) { return number; }
inline Json json_of(Tokens tokens) { return to_string(tokens); }
inline Json json_of(Reading reading) { return reading == Reading::lines; }
inline Json json_of(Bias bias) { return bias == Bias::with; }
inline Json json_of(Optimizer optimizer) { return optimizer == Optimizer::muon ? "muon" : "adamw"; }
inline Json json_of(const Recipe& recipe) { return words_of_none(recipe); }
inline Json json_of(const Recipe::Learned& learned) { return words_of_none(learned); }

/// JavaScript has no larger whole numbers.
inline constexpr std::uint64_t largest_seed = std::uint64_t{1} << 53;

/// What fledge_new() takes (interface.h). `name` is that of the text's file.
inline Json settings_json(Settings s, const std::string& name) {
  s.training.seed = std::min(s.training.seed, largest_seed);
  Json::Members members{{"name", name}};
  s.each([&](const char* key, std::string_view, const auto& value) {
    members.emplace_back(key, json_of(value));
  });
  members.emplace_back("forms", Json::object(forms_json(s.sizes.recipe)));
  return Json::object(members);
}

/// The sizes of a model for which a page takes hundreds of steps in half a minute: not larger than
/// these, and at most 2 million numbers in the table of the vocabulary.
inline TrainingDefaults row_of_page(TrainingDefaults row, Dim vocabulary) {
  row.layers = std::min<Dim>(row.layers, 2), row.width = std::min<Dim>(row.width, 64);
  row.context = std::min<Dim>(row.context, 64), row.batch = std::min<Dim>(row.batch, 32);
  while (row.width > 16 && vocabulary * row.width > 2'000'000) row.width /= 2;
  return row;
}

/// Whether a page can take a step of the model and show all its weights of attention. Sizes in bytes
/// have 32 bits in a page, so that a size that is too large must not be computed.
inline bool fits_page(const LanguageModelSizes& sizes, Dim batch) {
  const auto number = [](Dim n) { return static_cast<double>(n); };
  const double T = number(sizes.context), L = number(sizes.layers),
               of_step = numbers_of_step(sizes, number(batch)) + 4 * parameter_count(sizes) +
                         2 * L * T * number(batch * sizes.hidden_width()),
               of_view = 4 * T * T * number(sizes.heads) * L;
  return 4 * (of_step + of_view) < 1.5e9;
}

}  // namespace fledge
