// --film: where one sentence looks, redrawn while the model learns, with three curves: the weight
// from one word to another, the weight to a control, and an even split.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "examples/fledge/attention/attention_weights.h"
#include "examples/fledge/train/train_config.h"
#include "examples/fledge/train/watched_words.h"
#include "examples/support/terminal.h"
#include "nn/io/json.h"

namespace fledge::train {

/// The attention of the sentence after a step: the mean over all layers and heads.
struct FilmFrame {
  std::int64_t step = 0;
  std::vector<double> weights;  // (T, T), rows are queries
  double target = 0, control = 0;
};

class Film {
 public:
  /// Films a sentence of at least two tokens. The query and its target are the words of the first
  /// pair of --watch that is in the sentence, or else its last and its first token. The control is
  /// another token before the query, if there is one.
  Film(const Probe& sentence, const std::vector<WordPair>& pairs, const Tokenizer& tokenizer,
       std::int64_t steps, bool is_causal = true);

  /// Whether this step has a frame: sixty steps, evenly spaced, and the first and the last.
  bool has_frame(std::int64_t step) const;
  FilmFrame frame(const LanguageModel& model, const Tokenizer& tokenizer, std::int64_t step) const;
  void add(const FilmFrame& frame) { frames_.push_back(frame); }

  /// The step of the picture: of the last frame, 0 before the first.
  std::int64_t step() const { return frames_.empty() ? 0 : frames_.back().step; }

  /// {"type":"film",…}: the step, the weights as rows, the two places and their weights.
  Json::Members event(const FilmFrame& frame) const;
  /// The map of the last frame and the curves of all, at most `columns` wide; "" before the first
  /// frame. Each line ends with a line end.
  std::string picture(int columns, bool unicode, support::Paint paint) const;

 private:
  /// The number of keys that a query sees.
  std::size_t keys_of(std::size_t query) const { return is_causal_ ? query + 1 : ids_.size(); }
  double even_split() const { return 1 / static_cast<double>(keys_of(query_)); }

  std::vector<Dim> ids_;
  std::vector<std::string> labels_;
  std::size_t query_ = 0, target_;
  std::optional<std::size_t> control_;
  std::int64_t steps_, every_;
  bool is_causal_;
  std::vector<FilmFrame> frames_;
};

}  // namespace fledge::train
