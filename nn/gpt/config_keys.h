// The keys of config.json: which are read, which are ignored, and which values are refused.
#pragma once

#include <string>
#include <vector>

#include "nn/io/json.h"

namespace fledge {

/// Throws FormatError for a key that asks for other mathematics than this model computes. Returns the
/// keys that are not known: GPT-2's class in transformers ignores them, as its own that change no
/// number of the model.
std::vector<std::string> check_config_keys(const JsonValue& config);

}  // namespace fledge
