// One text of `fledge generate`: drawn, and shown while it is drawn.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/array.h"
#include "examples/fledge/attention/attention_weights.h"
#include "examples/fledge/generate/probs.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/terminal.h"

namespace fledge {

/// The options.
struct GenerateConfig {
  TextForm form = TextForm::text;
  std::string folder, prompt;  // the prompt "-": standard input
  std::int64_t tokens_out = 200, samples = 1;
  bool is_numbered = false;  // --samples was given: JSON objects and rows of CSV are numbered
  bool skip_unknown = false;
  bool null = false;      // a NUL after each text
  std::string stop, why;  // "": not given
  SampleOptions choice;
  std::uint64_t seed = 0;
  bool is_random_seed = false;  // --seed was not given
  bool probs = false, attention = false;
  HeadChoice heads;  // of --attention
  bool json = false, csv = false, raw = false;
};

/// What is the same for all samples.
struct Task {
  const GenerateConfig& config;
  const TrainedModel& trained;
  std::string prompt;
  std::vector<Dim> ids;    // the first token of a text where it is needed, then the prompt
  bool is_prompt = false;  // the last of ids is a token of the prompt
  bool raw = config.raw || !support::is_terminal(stdout);
  int columns = support::terminal_width(stdout);
  support::Paint paint{support::colour_wanted(stdout)};

  bool is_for_people() const { return !config.json && !config.csv; }
  bool streams = is_for_people() && !config.probs;
};

/// Reads the prompt. Throws InputError for one that the model cannot read.
Task task_of(const GenerateConfig& config, const TrainedModel& trained);

struct Sample {
  std::vector<Dim> ids;   // the task's, and all that was drawn
  std::vector<Dim> seen;  // of each step: the number of earlier tokens in its window
  std::string text;       // what was drawn, up to the stop string
  Dim read = 0;           // the number of ids that the model has read: all but the last one drawn
  std::vector<std::string> pieces;            // what each drawn token added to the text
  std::vector<DrawnToken> steps;              // with --probs: a step for each token that was drawn
  std::optional<AttentionWeights> attention;  // with --attention: of the last pass
};

/// Draws one text. A task that streams shows the prompt, and each piece as soon as it is final.
/// With --probs each token has a line.
Sample sample_of(const Task& task, Rng rng);

/// The text that a token adds after another token; before < 0: at the beginning.
std::string piece_of(const Tokenizer& tokenizer, Dim token, Dim before);

/// The bytes of a growing text that can be shown: all but an end that may become `stop`, or a code
/// point of UTF-8. "": there is no stop string.
std::size_t final_size(std::string_view text, std::string_view stop);

/// Writes to stdout; a text may have zeros in it.
void put(const std::string& text);

/// A user's text for stdout: harmless on a terminal, its lines kept.
std::string shown(const std::string& text, bool raw);

}  // namespace fledge
