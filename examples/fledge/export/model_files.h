// The files of a model for other programs, and what rounding changed in them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "examples/fledge/trained_model.h"
#include "nn/io/safetensors.h"

namespace fledge {

/// Files as (name, bytes).
using NamedFiles = std::vector<std::pair<std::string, std::string>>;

/// The bytes of model.safetensors: the weights as numbers of a type.
std::string weight_file(const TrainedModel& trained, const Dtype& type);

/// config.json, generation_config.json and the files of the tokenizer. Those of a folder without a
/// run of fledge train are copied; its config.json is written anew, without keys that change nothing.
/// config.json is the last.
NamedFiles text_files(const TrainedModel& trained, const Dtype& type, const Folder& folder);

/// How many numbers of a model a type changes, in a sentence. Throws InputError for a number that is
/// too large for the type.
std::string rounding_report(const LanguageModel& model, const Dtype& type);

}  // namespace fledge
