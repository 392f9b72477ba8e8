// What a page needs to compute by itself: the weights of the last block, and for each sentence the
// input of this block, its loss, and the gradients of the loss that the engine computes.
#pragma once

#include "examples/page/plan.h"
#include "nn/gpt/language_model.h"

namespace fledge::page {

/// {"step":…,"weights":{name: floats},"sentences":[{"x":…,"loss":…,"d_mixed":…,"d_scores":…}]}.
/// "weights" is null if they have more than `most_numbers` numbers. d_mixed (T, C): of the sum
/// Σ_j w_j·v_j, heads side by side; d_scores (H, T, T): of the scores after the division by √D.
Json worked_json(const LanguageModel& model, const Plan& plan, std::int64_t step, Dim most_numbers);

}  // namespace fledge::page
