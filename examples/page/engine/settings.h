// The settings of a run, each under its name in the JSON of a page.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "nn/gpt/config.h"
#include "nn/io/json.h"
#include "nn/text/corpus.h"
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

}  // namespace fledge
