// A training run as one file for another program, such as examples/pytorch/continue_training.py.
//
// Key idea: a step depends only on weights, moments, the tokens, the settings and the step number.
// All of them are in the file, and a batch with its loss and gradients, to check the other program.
#pragma once

#include <map>
#include <string>

#include "nn/train/trainer.h"

namespace fledge {

/// The bytes of training.safetensors. All tensors are F32:
///
///   NAME                     the weights after the last step, under their names
///   adamw.m.NAME, adamw.v.NAME   the moments of AdamW; none of a weight without a gradient so far
///   muon.m.NAME              the momentum of a matrix that Muon moves
///   average.NAME             the average of the weights, if there is one
///   tokens                   the text of training
///   lengths                  only for lines: document i begins with its boundary, at token
///                            lengths[0] + … + lengths[i − 1], and has lengths[i] predictions
///   valid.tokens, valid.lengths  the same of the held-out text, if there is one
///
/// In the metadata, beside `metadata`, are two JSON objects:
///
///   training   step (the number of steps done), steps, rate, final_ratio, warmup, batch,
///              context, clip (0: none), decay (of weights with two axes), beta1, beta2,
///              eps, muon (whether it moves the matrices of the blocks), muon_times, momentum,
///              average (β, 0: none), seed, gradients (of each weight, how many it has had)
///   check      inputs and targets (B, T): the first batch of the next step, with targets −1 for
///              padding; loss: its mean loss without dropout; gradient_norms: of each weight
///
/// All gradients of the model are removed. Throws ValueError for a recipe of no family
/// (LanguageModelSizes::family) or one that needs more than an optimiser (recipe.h), and
/// for token numbers or documents of 2²⁴ and more, which F32 does not hold exactly; NumericError if a gradient of the check is not finite.
std::string training_bytes(const Trainer& trainer, const TokenText& valid,
                           std::map<std::string, std::string> metadata = {});

}  // namespace fledge
