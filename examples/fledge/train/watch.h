// The words and sentences whose attention a run follows: --watch and --probe.
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

/// A sentence of --probe. Its attention is shown at the end of the run.
struct Probe {
  std::string sentence;
  std::size_t at;
  std::vector<Dim> ids{};  // as the model reads it: with lines, a line end is in front
};
/// "birds walk | they fly" as sentences, without the spaces around them. Throws UsageError.
std::vector<Probe> probed_sentences(const std::string& text);
/// The sentences of --probe, with their tokens. Throws InputError for a sentence that is longer than
/// the model's context or has an unknown token.
std::vector<Probe> sentences_to_probe(const TrainConfig& config, const Tokenizer& tokenizer);

}  // namespace fledge::train
