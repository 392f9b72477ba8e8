// config.json of a run: GPT-2's sizes and, under "fledge", the run's options, tokenizer and text,
// its identity and a checksum.
//
// Key idea: the identity is computed from what never changes in a run: sizes, tokenizer, text and
// all options but the number of steps, the rate and the path of the text. So the same run always
// has the same identity, and files with one identity belong together.
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
  std::string id = {};     // see run_id()
  bool is_current = true;  // read from the version that config_text() writes
};

/// The identity: 16 hexadecimal digits. Does not depend on config.id.
std::string run_id(const RunConfig& config);

std::string config_text(const RunConfig& config);
/// Throws FormatError. A config.json of version 1 has no identity and no checksum; it gets the
/// identity that it would have.
RunConfig run_config(const ModelConfig& config);
RunConfig run_config(const std::string& text);

/// The advice about a config.json that is not a run's.
inline constexpr const char* not_of_a_run =
    "it was not written by fledge train, or was changed since";

/// Of a folder. Throws FileError, and InputError for a config.json that fledge has not written.
RunConfig read_run_config(const Folder& folder);

}  // namespace fledge::train
