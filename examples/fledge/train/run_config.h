// config.json of a run: GPT-2's sizes and, under "fledge", the run's options, tokenizer and text,
// its identity and a checksum.
//
// Key idea: the identity is a hash of the sizes, the tokenizer, the text and the saved options
// except steps, learning rate and text path. So it never changes during a run. Files with different
// identities belong to different runs.
#pragma once

#include <string>

#include "examples/fledge/train/train_config.h"
#include "nn/gpt/config.h"
#include "nn/io/folder.h"
#include "nn/text/tokenizer.h"

namespace fledge::train {

struct RunConfig {
  TrainConfig settings;  // with the sizes, vocabulary included
  Tokenizer tokenizer;
  std::uint64_t text_bytes = 0, text_hash = 0;
  std::string id = {};  // see run_id()
};

/// The identity: 16 hexadecimal digits. Does not depend on config.id.
std::string run_id(const RunConfig& config);

/// The text of config.json. `notes` are further members that other programs read.
std::string config_text(const RunConfig& config, const Json::Members& notes = {});
/// The tokens that begin and end a text, for other programs: Tokenizer::marks() if they are set, else
/// "<|endoftext|>" or the line end.
MarkTokens saved_marks(const Tokenizer& tokenizer);
/// Parses config.json; throws FormatError, also for a version that config_text() does not write.
RunConfig run_config(const ModelConfig& config);
RunConfig run_config(const std::string& text);

/// What to do if fledge train has not written config.json, or it was changed since.
inline constexpr const char* config_advice =
    "config.json must be as fledge train wrote it: restore it, or train again";

/// Of a folder. Throws FileError, and InputError for a config.json that fledge has not written.
RunConfig read_run_config(const Folder& folder);

}  // namespace fledge::train
