// The role of a head in words.
#pragma once

#include "examples/fledge/attention/attention_weights.h"

namespace fledge {

/// "mixed", "previous token", "itself", "first token", "last blank" or "one token".
const char* name_of(Role role);

/// "previous token"; for one token that token: "token ␣".
std::string role_label(const AttentionWeights& attention, HeadNumber head, bool unicode);

/// "Layer 0, head 1: previous token, 84 % of the weight (an even split: 12 %)"
std::string head_title(const AttentionWeights& attention, HeadNumber head, bool unicode);

/// What the names mean, in a sentence each.
extern const char* const role_glossary;

}  // namespace fledge
