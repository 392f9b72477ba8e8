// The settings of a run as the text of a config.json: GPT-2's sizes and, under "fledge", the run's
// options, tokenizer and text. run.safetensors holds this text, and fledge export writes it.
#pragma once

#include <string>

#include "examples/fledge/train/train_config.h"
#include "nn/gpt/config.h"
#include "nn/text/tokenizer.h"

namespace fledge::train {

struct RunConfig {
  TrainConfig settings;  // with the sizes, vocabulary included
  Tokenizer tokenizer;
  std::uint64_t text_bytes = 0, text_hash = 0;  // no bytes: these are no settings of a run
};

/// The text of config.json. `notes` are further members that other programs read.
std::string config_text(const RunConfig& config, const Json::Members& notes = {});
/// The tokens that begin and end a text, for other programs: Tokenizer::marks() if they are set, else
/// "<|endoftext|>" or the line end.
MarkTokens saved_marks(const Tokenizer& tokenizer);
/// Parses config.json; throws FormatError, also for a version that config_text() does not write.
RunConfig run_config(const ModelConfig& config);
RunConfig run_config(const std::string& text);

/// What to do if fledge has not written config.json, or it was changed since.
inline constexpr const char* config_advice =
    "config.json must be as fledge export wrote it: restore it, or export the run again";
/// What to do about a folder that was written before a run was one file.
inline constexpr const char* older_advice = "commit 44c42e9 of fledge reads it";

}  // namespace fledge::train
