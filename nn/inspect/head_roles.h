// The role of an attention head: which kind of token gets most of its weight.
//
// The roles are simple patterns of position or content, as Clark et al. 2019 ("What does BERT look
// at?") and Voita et al. 2019 describe them. A head can do more than its role says.
#pragma once

#include <vector>

#include "engine/array.h"

namespace fledge {

enum class Role {
  mixed,           // none of the following gets clearly more than its chance
  previous_token,  // the token before the query
  itself,          // the query's own position
  first_token,     // position 0
  last_blank,      // the nearest blank before the query
  one_token,       // one token of the vocabulary, wherever it is: the most frequent target
};

/// The role of a head and the numbers that give it.
struct HeadRole {
  Role role = Role::mixed;
  double share = 0;   // the share of the weight on the targets of the role; mixed: 0
  double chance = 0;  // the same if each query had equal weights on all keys that it can see
  Dim token = -1;     // of one_token: the token
};

/// The role of each of H heads. weights (H, T, T): row i has the weights of the query at position i
/// on the keys that it sees: 0 … i, or all T if the weights are not causal. ids: the T tokens.
/// is_blank: whether each of the T tokens is a blank.
///
///   share  = mean over i = 1 … T − 1 of Σ_{j is a target of i} weight_ij
///   chance = mean over i = 1 … T − 1 of (targets that i sees) / (keys that i sees)
///   excess = (share − chance) / (1 − chance)
///
/// Row 0 is left out: a causal one has one key and shows nothing. A role stands out if its share is
/// at least twice its chance and its excess at least 1/10. Of those, the head has the one with the largest excess; of equals
/// the first in Role. It is mixed if none stands out, and if T < 2. Throws
/// ShapeError or ValueError for other shapes and lengths.
std::vector<HeadRole> head_roles(const Array& weights, const std::vector<Dim>& ids,
                                 const std::vector<bool>& is_blank, bool is_causal = true);

}  // namespace fledge
