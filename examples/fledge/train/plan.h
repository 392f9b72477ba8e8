// What a run is asked to do, from the command line or from the folder that it goes on in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/support/options.h"
#include "nn/gpt/language_model.h"
#include "nn/io/json.h"
#include "nn/io/json_reader.h"
#include "nn/text/corpus.h"
#include "nn/train/trainer.h"

namespace fledge::train {

/// Two words that are watched: how the first comes to look at the second.
struct PairOfWords {
  std::string word, looks_at;
};

/// A sentence whose attention is shown at the end, and its first byte in --probe.
struct Probe {
  std::string sentence;
  std::size_t at;
};

struct Plan {
  // The run itself: kept in the folder, the same for its whole life but for `steps` and the rate.
  std::string text_path;  // "": the built-in text
  CorpusOptions corpus;
  LanguageModelSizes sizes{};  // the vocabulary follows from the text
  TrainerOptions training;
  std::int64_t evaluate_every = 250, patience = 0;

  // How it is watched and where it goes: asked anew each time.
  std::string folder;  // "": nothing is kept
  bool resumes = false, replaces = false, steps_given = false, rate_given = false;
  bool json = false, quiet = false, no_progress = false;
  std::int64_t log_every = 1, sample_every = 0, save_seconds = 30, pace = 0;
  std::vector<PairOfWords> watched;
  std::vector<Probe> probes;
};

/// The options of `fledge train`.
support::Options declared_options();

/// What they ask for. Refuses what contradicts itself, before anything is read.
Plan plan_of(const support::Options& options);

/// The lasting part of a plan as the fields of a JSON object, and back. Throws FormatError or
/// ValueError for what no run has written.
void write_plan(JsonWriter& json, const Plan& plan);
void read_plan(const JsonValue& json, Plan& plan);

}  // namespace fledge::train
