// One text of `fledge generate`: drawn, and shown while it is drawn; with --probs also what could have
// been drawn in each step, with the probabilities that were used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/array.h"
#include "examples/fledge/attention/attention_weights.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/table.h"
#include "nn/generate/sampler.h"

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

/// A token that could be drawn, at the temperature, top-k and top-p in use. The likeliest has rank 1.
struct RankedChoice {
  Dim token;
  double probability;
  Dim rank;
};

/// One step: the token that was drawn, and the likeliest ones, at most five. The drawn token is
/// always among them, the last one if it is not one of the five likeliest.
struct DrawnToken {
  RankedChoice drawn;
  std::vector<RankedChoice> likeliest;
  Dim position = 0;  // of the token in the text, counted from 0

  double surprise() const;  // −log2 p, in bits
};

/// [{"position":…,"id":…,"token":…,"probability":…,"rank":…,"likeliest":[{"id":…,"token":…,
/// "probability":…,"rank":…},…]},…]. The id is the token's number.
Json as_json(const std::vector<DrawnToken>& steps, const Tokenizer& tokenizer);

/// A row for each token of `likeliest` of each step; `drawn` is 1 or 0.
support::Rows probability_rows(const std::vector<DrawnToken>& steps, const Tokenizer& tokenizer);

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

/// Writes to stdout; a text may have zeros in it.
void put(const std::string& text);

/// A user's text for stdout: harmless on a terminal, its lines kept.
std::string shown(const std::string& text, bool raw);

}  // namespace fledge
