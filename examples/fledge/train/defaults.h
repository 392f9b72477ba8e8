// The sizes, the rate and the number of steps that a run has unless they are given: chosen from its
// text.
//
// Key idea: the choice counts operations, never seconds. So the same text gives the same model on
// any machine.
#pragma once

#include <string>

#include "examples/fledge/train/train_config.h"
#include "nn/text/corpus.h"

namespace fledge::train {

/// The work of a minute on two cores, in operations of operations_of_step(). Measured: a run of two
/// such minutes on a text of 1.1 MB (4 layers, 128 wide) took 92 s on two cores, evaluations and
/// samples included.
inline constexpr double operations_of_minute = 8.4e12;

inline constexpr double rate_of_built_in_text = 0.02;

/// Sets each option of the model and of training that was not given. The context fits into the
/// text, the heads divide the width. config.sizes.vocabulary must be known. Returns what was chosen
/// and why, in sentences; "" if everything was given.
std::string choose_for_text(TrainConfig& config, const Corpus& corpus);

/// The learning rate to try after this run's was too large: what is chosen for the text, if that is
/// smaller, else a tenth.
double rate_after_divergence(const TrainConfig& config, const Corpus& corpus);

}  // namespace fledge::train
