// One text of `fledge generate`: drawn, and shown while it is drawn.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/array.h"
#include "examples/fledge/attention/attention_weights.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/terminal.h"
#include "nn/generate/sampler.h"

namespace fledge {

/// The options of `fledge generate`.
struct GenerateConfig {
  std::string folder, prompt;  // the prompt "-": standard input
  std::int64_t tokens_out = 200, samples = 1;
  bool is_numbered = false;  // --samples was given: the JSON objects are numbered
  std::string stop, why;     // "": not given
  SampleOptions choice;
  HeadChoice heads;  // of --attention
  std::uint64_t seed = 1;
  bool probs = false, attention = false, json = false, raw = false;
};

/// What is the same for all samples.
struct Task {
  const GenerateConfig& config;
  const TrainedModel& trained;
  std::string prompt;
  std::vector<Dim> ids;    // the first token of a text where it is needed, then the prompt
  bool is_prompt = false;  // the last of ids is a token of the prompt
  bool raw = config.raw || !support::is_terminal(stdout);
  bool streams = !config.json && !config.probs;
};

/// Reads the prompt. Throws InputError for one that the model cannot read.
Task task_of(const GenerateConfig& config, const TrainedModel& trained);

struct Sample {
  std::vector<Dim> ids;   // the task's, and all that was drawn
  std::vector<Dim> seen;  // of each step: the number of earlier tokens in its window
  std::string text;       // what was drawn, up to the stop string
  Dim read = 0;           // the number of ids that the model has read: all but the last one drawn
  std::optional<AttentionWeights> attention;  // with --attention: of the last pass
};

/// A line about the last pass, and a map of its attention weights.
std::string attention_of(const Task& task, const Sample& sample);

/// Draws one text. A task that streams shows the prompt, and each piece as soon as it is final.
/// With --probs each token has a line.
Sample sample_of(const Task& task, Rng rng);

/// The bytes of a growing text that can be shown: all but an end that may become `stop`, or a code
/// point of UTF-8. "": there is no stop string.
std::size_t final_size(std::string_view text, std::string_view stop);

/// Writes to stdout; a text may have zeros in it.
void put(const std::string& text);

/// A user's text for stdout: harmless on a terminal, its lines kept.
std::string shown(const std::string& text, bool raw);

}  // namespace fledge
