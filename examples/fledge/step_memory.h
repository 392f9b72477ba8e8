// How much memory a training step will need, told before anything is allocated.
#pragma once

#include <unistd.h>

#include "engine/real.h"

namespace fledge {

/// Numbers of Real that a step of the language model holds at most, and its optimiser between
/// steps. A token has 19 vectors of `width` kept in each layer, measured, and a few more on their
/// way; each number of the model has its gradient and two moments.
inline double numbers_of_step(double layers, double width, double context, double batch,
                              double vocabulary) {
  return context * batch * (24 * width * layers + 4 * vocabulary) +
         4 * (12 * width * width * layers + (vocabulary + context) * width);
}

/// Bytes of memory that this machine has.
inline double bytes_of_machine() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace fledge
