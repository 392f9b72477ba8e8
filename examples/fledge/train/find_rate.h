// --find-lr: short trainings with several learning rates, side by side.
#pragma once

#include "examples/fledge/train/train_config.h"

namespace fledge::train {

/// Trains the same new model for 60 steps with each of seven rates, from an eighth to eight times
/// the rate that is given or chosen from the text. Prints the losses on stdout as each rate is done,
/// and the rate with the lowest held-out loss (training loss, if nothing is held out). Saves nothing.
/// The same text and seed give the same numbers. Returns the exit status. Throws as TrainRun does.
int find_rate(TrainConfig config);

}  // namespace fledge::train
