// A snapshot of a model while it learns: where it looks and what it predicts in a few sentences.
//
// Not here: the page that shows snapshots (page_data.h). Key idea: a snapshot is one event of a run,
// a line of its log like the others, so it is resumed, cut back and read as they are.
#pragma once

#include <cstdint>

#include "examples/page/plan.h"
#include "nn/gpt/language_model.h"

namespace fledge::page {

inline constexpr int histogram_bins = 24;

/// {"type":"snapshot","step":…,…}. Each sentence has its loss, the attention of each layer and head,
/// and the five likeliest tokens at each position. A full snapshot also has the vectors q, k and v,
/// the gradients of the last layer, the vectors of the map, and a histogram of each parameter. Watched pairs are measured in `text`, if there
/// is one. Throws NumericError if a logit is not a number.
Json::Members snapshot_event(const LanguageModel& model, const Tokenizer& tokenizer,
                             const Plan& plan, std::int64_t step, bool is_full,
                             const TokenText* text);

}  // namespace fledge::page
