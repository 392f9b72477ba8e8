// Measurements of a model besides its loss: attention between two words and in a sentence.
#pragma once

#include "examples/fledge/train/reporter.h"
#include "nn/text/corpus.h"

namespace fledge::train {

/// The pairs of --watch, with their tokens. Throws InputError for a word that is not a token of the
/// text.
std::vector<WordPair> pairs_to_watch(const TrainConfig& config, const Tokenizer& tokenizer);
/// Measures each pair and its control: the first word with another word that stands before
/// it beside the second, and is about as frequent. Throws Diverged when the attention is not a number.
std::vector<PairMeasurement> watch(const std::vector<WordPair>& pairs, const LanguageModel& model,
                                   const Corpus& corpus, std::int64_t step);

/// The sentences of --probe, with their tokens. Throws InputError for a sentence that is longer than
/// the model's context or has an unknown token.
std::vector<Probe> sentences_to_probe(const TrainConfig& config, const Tokenizer& tokenizer);

}  // namespace fledge::train
