// The text of a run: where it is read, and whether it is still the one that the run began with.
#pragma once

#include <string>

#include "examples/fledge/train/run_folder.h"

namespace fledge::train {

/// The built-in text when the plan names none; "-" is standard input. Throws FileError.
std::string read_text(const Plan& plan);

/// What messages call it, printable.
std::string name_of(const Plan& plan);

/// Throws ValueError that names the difference when this is not the text of the run.
void require_same_text(const RunConfig& config, const std::string& text, const std::string& name);

}  // namespace fledge::train
