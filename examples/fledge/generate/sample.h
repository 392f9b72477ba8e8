// One text of `fledge generate`: drawn, and shown while it is drawn.
//
// Not here: what is said about it afterwards (generate_command.cpp).
#pragma once

#include <string>
#include <vector>

#include "engine/random_array.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/terminal.h"
#include "nn/generate/sampler.h"

namespace fledge {

/// What `fledge generate` is to do, as its options say.
struct GenerateConfig {
  std::string folder, prompt;  // the prompt "-": standard input
  std::int64_t tokens_out = 200, samples = 1;
  bool is_numbered = false;  // --samples was given: JSON says which text this is
  std::string stop, why;     // "": not given
  SampleOptions choice;
  std::uint64_t seed = 1;
  bool probs = false, attention = false, json = false, raw = false;
};

/// What is the same for all samples.
struct Task {
  const GenerateConfig& config;
  const TrainedModel& trained;
  std::string prompt;
  std::vector<Dim>
      ids;  // of the prompt, behind a line's first token or, without a prompt, any text's
  bool is_prompt = false;  // the last of them is the prompt's
  bool raw = config.raw || !support::is_terminal(stdout);
  bool streams = !config.json && !config.probs;
};

/// Reads the prompt. Throws InputError for one that the model cannot read.
Task task_of(const GenerateConfig& config, const TrainedModel& trained);

struct Sample {
  std::vector<Dim> ids;   // the task's, and all that was drawn
  std::vector<Dim> seen;  // of each step: how many of the tokens in front of its own it saw
  std::string text;       // what was drawn, up to the stop string
  Dim read = 0;           // so many of ids: the last one that was drawn is not
  train::Looked looked;   // with --attention: of the last pass, behind which the last was drawn
};

/// Where the tokens looked that the last pass read, below a line about what it read and shows.
std::string attention_of(const Task& task, const Sample& sample);

/// Draws, and where the task streams shows the prompt and each piece as soon as nothing can change
/// it any more; with --probs, a line a token.
Sample sample_of(const Task& task, Rng rng);

/// Writes to stdout; a text may have zeros in it.
void put(const std::string& text);

/// A user's text for stdout: harmless on a terminal, its lines kept.
std::string shown(const std::string& text, bool raw);

}  // namespace fledge
