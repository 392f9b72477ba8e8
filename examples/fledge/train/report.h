// The messages before the first and after the last step of a run, and samples: drawn, shown to people,
// and compared with the training text.
//
// A loss alone means little, so it is shown beside the losses of guessing and of n-gram
// models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "examples/fledge/train/train_config.h"
#include "examples/support/text.h"
#include "nn/inspect/probes.h"

namespace fledge::train {

/// Losses of uniform guessing and of n-gram models, on the held-out text (on the training text
/// when nothing is held out), in nats per token.
struct Baselines {
  double uniform = 0;            // ln V
  std::vector<double> counting;  // of tables with 0, 1, … tokens of history; the last is best
  // The tokens that the tables were counted and measured on, if these are not all; else 0.
  Dim counted = 0, measured = 0;
};
/// The losses of these on the corpus. Of a long text the tables are counted and measured on a part:
/// the last tokens of the training stream and the first ones held out, or every n-th document of
/// lines.
Baselines count_baselines(const Corpus& corpus);
/// The loss of a text, in nats per token, as bits per byte of this text. So the losses of models
/// with different tokenizers can be compared.
double bits_per_byte(double loss, const TokenText& text, const Tokenizer& tokenizer);

/// What the model is without, and which of its weights do not learn: "Left out: mask, scale." "" if
/// nothing is left out and all weights learn.
std::string variant_report(const LanguageModelSizes& sizes);

/// The warning about a model that sees later tokens. `token`: the word for a token.
std::string cheating_report(const std::string& token);

/// "Held-out loss 1.9412 nats per character (2.801 bits per byte): like choosing among 7.0
/// characters." or, if the loss is not below `uniform`, "worse than guessing blindly."  `bits`: the
/// loss as bits per byte.
std::string loss_sentence(const std::string& name, double loss, double bits, double uniform,
                          const std::string& token);

/// The word for a token of this kind: "character".
std::string token_word(Tokens kind);

/// Draws at most `count` tokens behind first_token(), which may be a part of the sample. The same
/// seed and `number` draw the same sample. Throws Diverged when the scores are not finite.
std::string draw_sample(const Trainer& trainer, const TrainConfig& config, const Corpus& corpus,
                        Dim count, std::int64_t number);

/// A sample as it is, line by line, each behind `indent` spaces. A line of more than `columns`
/// columns goes on in the next row, broken between words where possible. More than `most_rows` rows:
/// the rest is "...". No line end at the end.
std::string sample_rows(std::string_view text, int columns, int indent, int most_rows);

// The words whose attention a run follows: --watch.

/// Two words that are watched: how much the first looks at the second. Their tokens are known when
/// the text has been read.
struct WordPair {
  std::string word, looks_at;
  Dim word_token = 0, looks_at_token = 0;
};
/// "walk:birds,at:good" as pairs. Throws UsageError.
std::vector<WordPair> watched_pairs(const std::string& text);
/// The pairs of --watch, with their tokens. Throws InputError for a word that is not a token of the
/// text.
std::vector<WordPair> pairs_to_watch(const TrainConfig& config, const Tokenizer& tokenizer);

/// How much one word attends to another after a step.
struct PairMeasurement {
  std::int64_t step;
  WordPair words;
  bool is_first;
  std::string control;             // the word that the second word is compared with
  WatchedPair pair, control_pair;  // the two words; the first word with the control
};
/// Measures each pair and its control: the first word with another word that stands before
/// it beside the second, and is about as frequent. Throws Diverged when the attention is not a number.
std::vector<PairMeasurement> watch(const std::vector<WordPair>& pairs, const LanguageModel& model,
                                   const Corpus& corpus, std::int64_t step);

}  // namespace fledge::train
