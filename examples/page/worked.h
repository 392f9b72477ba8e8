// What a page needs to compute by itself: the weights of the last block and its inputs, and the
// gradients that the engine computes.
#pragma once

#include "examples/page/plan.h"
#include "nn/gpt/language_model.h"

namespace fledge::page {

/// The gradients of the mean loss of a sentence in the last layer, as the engine computes them:
/// {"loss":…,"d_mixed":…,"d_scores":…}. d_mixed (T, C): of the sum Σ_j w_j·v_j, heads side by side;
/// d_scores (H, T, T): of the scores after the division by √D. null if nothing is predicted.
Json gradients_json(const LanguageModel& model, const Plan::Sentence& sentence);

/// How many numbers the weights of the last block, of ln_f and of the word table have.
Dim numbers_of_worked(const LanguageModel& model);

/// {"step":…,"weights":{name: floats},"inputs":[floats (T, C) of each sentence]}; "weights" may be left
/// out: null.
Json worked_json(const LanguageModel& model, const Plan& plan, std::int64_t step,
                 bool has_weights = true);

}  // namespace fledge::page
