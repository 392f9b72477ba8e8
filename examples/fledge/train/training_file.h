// A run as one file for other programs: fledge export DIR -o OUT --training.
#pragma once

#include <string>

#include "nn/io/folder.h"

namespace fledge::train {

/// The bytes of training.safetensors (nn/train/training_export.h) of the run in a folder, after the
/// last step that was saved. Reads the run's text again. Throws InputError naming a file that is
/// missing, changed or damaged, or a model that has no such file.
std::string training_file(const Folder& folder);

}  // namespace fledge::train
