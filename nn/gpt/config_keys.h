// The keys of config.json: which are read, which are ignored, and which values are refused.
#pragma once

#include "nn/io/json_reader.h"

namespace fledge {

/// Throws FormatError for a key that is not known, and for a key that asks for other mathematics
/// than this model computes. Keys of GPT-2's configurations that change no number are accepted.
void check_config_keys(const JsonValue& config);

}  // namespace fledge
