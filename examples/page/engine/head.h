// One attention head of given numbers, with the gradient of a goal: what figures of the lessons show.
#pragma once

#include "nn/io/json.h"

namespace fledge {

/// q = from·W_Q   k = x·W_K   v = x·W_V   scores = q·kᵀ/√D   output = softmax(scores)·v
/// Input and output are those of fledge_head(), interface.h. Throws FormatError for JSON of another
/// kind, ValueError for sizes that do not fit.
Json head_json(const JsonValue& head);

}  // namespace fledge
