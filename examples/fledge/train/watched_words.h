// The words and sentences whose attention a run follows: --watch and --probe.
#pragma once

#include <string>
#include <vector>

#include "engine/base/dim.h"

namespace fledge::train {

/// Two words that are watched: how much the first looks at the second. Their tokens are known when
/// the text has been read.
struct WordPair {
  std::string word, looks_at;
  Dim word_token = 0, looks_at_token = 0;
};
/// "walk:birds,at:good" as pairs. Throws UsageError.
std::vector<WordPair> watched_pairs(const std::string& text);

/// A sentence of --probe. Its attention is shown at the end of the run.
struct Probe {
  std::string sentence;
  std::size_t at;
  std::vector<Dim> ids{};  // as the model reads it: with lines, a line end is in front
  std::size_t begin = 0;   // the sentence's own tokens are ids[begin] …
};
/// "birds walk | they fly" as sentences, without the spaces around them. Throws UsageError.
std::vector<Probe> probed_sentences(const std::string& text);

}  // namespace fledge::train
