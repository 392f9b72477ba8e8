#include "examples/fledge/attention/role_label.h"

#include <algorithm>

#include "examples/support/text.h"
#include "examples/support/token_label.h"

namespace fledge {

const char* const role_glossary =
    "A head has the name of what gets clearly more of its weight than an even split would give: the "
    "previous token, the token itself, the first token, the last blank (a space or a line break), "
    "or one token of the vocabulary. The share is a mean over all queries but the first. mixed: "
    "nothing stands out.";

const char* name_of(Role role) {
  static constexpr const char* names[] = {"mixed",       "previous token", "itself",
                                          "first token", "last blank",     "one token"};
  return names[static_cast<std::size_t>(role)];
}

std::string role_label(const AttentionWeights& attention, HeadNumber head, bool unicode) {
  const HeadRole& role = attention.role(head);
  if (role.role != Role::one_token) return name_of(role.role);
  const auto at = std::find(attention.ids.begin(), attention.ids.end(), role.token);
  const std::string& token = attention.tokens[static_cast<std::size_t>(at - attention.ids.begin())];
  return "token " + support::cut(support::token_label(token, unicode), 8, unicode ? "…" : ".");
}

std::string head_title(const AttentionWeights& attention, HeadNumber head, bool unicode) {
  const HeadRole& role = attention.role(head);
  return "Layer " + std::to_string(head.layer) + ", head " + std::to_string(head.head) + ": " +
         role_label(attention, head, unicode) +
         (role.role == Role::mixed
              ? ""
              : support::formatted(", %.0f %% of the weight (an even split: %.0f %%)",
                                   100 * role.share, 100 * role.chance));
}

}  // namespace fledge
