// Samples of a model: drawn, shown to people, and compared with the training text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "examples/fledge/train/train_config.h"
#include "nn/text/corpus.h"
#include "nn/train/trainer.h"

namespace fledge::train {

/// Draws at most `count` tokens behind first_token(), which may be a part of the sample. The same
/// seed and `number` draw the same sample. Throws Diverged when the scores are not finite.
std::string draw_sample(const Trainer& trainer, const TrainConfig& config, const Corpus& corpus,
                        Dim count, std::int64_t number);

/// How many samples of the final model are drawn, and of how many tokens at most: 3 pieces of a
/// stream, or 20 lines as long as the longest of the text.
struct SampleSizes {
  std::int64_t samples;
  Dim tokens;
};
SampleSizes final_sample_sizes(const Corpus& corpus);

/// A sample in rows of at most `columns` columns, each behind `indent` spaces. It is broken between
/// words where possible. A line break is shown as ⏎ (in ASCII \n). More than `most_rows` rows: the
/// last of them ends with "…". A single row may break a word. No line end at the end.
std::string sample_rows(std::string_view text, int columns, int indent, int most_rows,
                        bool unicode);

/// The final samples: each piece of a stream in its rows; lines one after the other.
std::string final_samples_text(const std::vector<std::string>& samples, bool are_lines,
                               bool unicode);

/// How much of the samples is copied from the training text: "8 % of these samples are copies …";
/// for lines also how many of them stand in it as they are.
std::string copied_report(const std::vector<std::string>& samples, const Corpus& corpus);

}  // namespace fledge::train
