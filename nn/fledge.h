// All of fledge that a program with a model of its own needs: arrays, tensors and ops, modules and
// layers, the language model, optimisers; in the float build files of weights, in the dual build
// gradient checks. Once installed:   #include "fledge.h"
#pragma once

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "nn/gpt/language_model.h"
#include "nn/layers/attention.h"
#include "nn/layers/block.h"
#include "nn/layers/layers.h"
#include "nn/module.h"
#include "nn/optim/adamw.h"
#include "nn/optim/sgd.h"

#if defined(FLEDGE_DUAL)
#include "nn/gradcheck.h"
#else
#include "nn/io/module_file.h"

namespace fledge {
/// Refused in the float build.
template <class... T>
void gradcheck(const T&...) {
  static_assert(sizeof...(T) < 0, "gradcheck needs the dual build: link fledge::fledge_dual");
}
}  // namespace fledge
#endif
