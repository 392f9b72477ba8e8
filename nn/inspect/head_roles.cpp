#include "nn/inspect/head_roles.h"

#include <algorithm>

namespace fledge {

namespace {

constexpr double least_excess = 0.1;
constexpr double rounding = 1e-6;  // of the weights; a smaller difference does not count

double excess_of(const HeadRole& role) { return (role.share - role.chance) / (1 - role.chance); }

bool stands_out(const HeadRole& role) {
  return role.share >= 2 * role.chance && excess_of(role) >= least_excess;
}

// Of each position the nearest blank before it; −1: there is none.
std::vector<Dim> last_blanks(const std::vector<bool>& is_blank) {
  std::vector<Dim> nearest;
  Dim last = -1;
  for (std::size_t i = 0; i < is_blank.size(); ++i) {
    nearest.push_back(last);
    if (is_blank[i]) last = static_cast<Dim>(i);
  }
  return nearest;
}

// From sums over the queries 1 … T − 1 to means.
void divide(HeadRole& role, Dim T) {
  role.share /= static_cast<double>(T - 1);
  role.chance /= static_cast<double>(T - 1);
}

// The role in which the query i has one target, the position target(i), or none: −1.
HeadRole role_of_position(const Array& weights, Dim head, Role role, bool is_causal,
                          const auto& target) {
  const Dim T = weights.dim(1);
  HeadRole found{role, 0, 0, -1};
  for (Dim i = 1; i < T; ++i) {
    const Dim j = target(i);
    if (j < 0) continue;
    found.share += value_of(weights.at({head, i, j}));
    found.chance += 1 / static_cast<double>(is_causal ? i + 1 : T);
  }
  divide(found, T);
  return found;
}

// The token with the largest excess of those that stand out; of equals the smallest. Mixed if none
// does, and if all tokens are the same.
HeadRole role_of_token(const Array& weights, Dim head, const std::vector<Dim>& ids,
                       bool is_causal) {
  const Dim T = weights.dim(1);
  std::vector<Dim> different = ids;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (different.size() == 1) return {};
  std::vector<HeadRole> tokens;
  for (const Dim id : different) tokens.push_back({Role::one_token, 0, 0, id});
  for (Dim j = 0; j < T; ++j) {
    const Dim id = ids[static_cast<std::size_t>(j)];
    const auto at = std::lower_bound(different.begin(), different.end(), id) - different.begin();
    HeadRole& token = tokens[static_cast<std::size_t>(at)];
    for (Dim i = is_causal ? std::max<Dim>(1, j) : 1; i < T; ++i) {
      token.share += value_of(weights.at({head, i, j}));
      token.chance += 1 / static_cast<double>(is_causal ? i + 1 : T);
    }
  }
  HeadRole best;
  for (HeadRole& token : tokens) {
    divide(token, T);
    if (stands_out(token) && excess_of(token) > excess_of(best)) best = token;
  }
  return best;
}

}  // namespace

std::vector<HeadRole> head_roles(const Array& weights, const std::vector<Dim>& ids,
                                 const std::vector<bool>& is_blank, bool is_causal) {
  const Dim T = static_cast<Dim>(ids.size());
  require(weights.rank() == 3 && weights.dim(1) == T && weights.dim(2) == T, "head_roles",
          "needs weights (heads, ", T, ", ", T, "): got shape ", weights.shape());
  require<ValueError>(is_blank.size() == ids.size(), "head_roles", "needs to know of ", T,
                      " tokens whether they are blanks: got ", is_blank.size());
  const std::vector<Dim> blanks = last_blanks(is_blank);
  std::vector<HeadRole> roles;
  for (Dim head = 0; head < weights.dim(0); ++head) {
    HeadRole best;
    if (T >= 2) {
      const auto at = [&](Role role, const auto& target) {
        return role_of_position(weights, head, role, is_causal, target);
      };
      for (const HeadRole& role :
           {at(Role::previous_token, [](Dim i) { return i - 1; }),
            at(Role::itself, [](Dim i) { return i; }),
            at(Role::first_token, [](Dim) { return Dim{0}; }),
            at(Role::last_blank, [&](Dim i) { return blanks[static_cast<std::size_t>(i)]; }),
            role_of_token(weights, head, ids, is_causal)})
        if (stands_out(role) && excess_of(role) > excess_of(best) + rounding) best = role;
    }
    roles.push_back(best);
  }
  return roles;
}

}  // namespace fledge
