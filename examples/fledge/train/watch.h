// The words whose attention a run follows: --watch.
#pragma once

#include <string>
#include <vector>

#include "nn/inspect/probes.h"

namespace fledge::train {

struct TrainConfig;

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
