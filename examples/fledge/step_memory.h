// How much memory a training step needs, estimated before it is allocated.
#pragma once

namespace fledge {

/// The largest number of Reals that a training step of the language model holds, optimiser
/// included. Each layer keeps 19 vectors of `width` for a token (measured); 24 leaves room for
/// temporary ones. Each parameter has its gradient and two moments.
inline double numbers_of_step(double layers, double width, double context, double batch,
                              double vocabulary) {
  return context * batch * (24 * width * layers + 4 * vocabulary) +
         4 * (12 * width * width * layers + (vocabulary + context) * width);
}

}  // namespace fledge
