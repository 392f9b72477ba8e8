// What other tools call the options of fledge: nanoGPT, Hugging Face's scripts, llm.c, PyTorch.
#pragma once

#include "examples/support/options.h"

namespace fledge {

/// Each option of the table gets the names that other tools have for it. Call it when the table is
/// complete.
void add_known_names(support::Options& options);

}  // namespace fledge
