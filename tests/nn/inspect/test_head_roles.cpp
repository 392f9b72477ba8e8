// The roles of heads: patterns made by hand, and their shares by their definition.
#include "nn/inspect/head_roles.h"

#include <algorithm>

#include "engine/base/random.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

using Ids = std::vector<Dim>;

/// "the cat sat on a mat": letters 1 … 9, blanks 0.
const Ids cat_letters{1, 2, 3, 0, 4, 5, 1, 0, 6, 5, 1, 0};

std::vector<bool> blanks_of(const Ids& ids) {
  std::vector<bool> is_blank;
  for (const Dim id : ids) is_blank.push_back(id == 0);
  return is_blank;
}

/// One head: each query gives `most` to its target, and the rest evenly to all of its keys.
Array pattern(const Ids& ids, double most, const auto& target) {
  const Dim T = static_cast<Dim>(ids.size());
  std::vector<double> weights(static_cast<std::size_t>(T * T));
  for (Dim i = 0; i < T; ++i) {
    const Dim j = target(i);
    for (Dim key = 0; key <= i; ++key)
      weights[static_cast<std::size_t>(i * T + key)] =
          (j < 0 ? 1 : 1 - most) / static_cast<double>(i + 1) + (key == j ? most : 0);
  }
  return Array({1, T, T}, weights);
}

HeadRole role_of(const Array& weights, const Ids& ids = cat_letters) {
  return head_roles(weights, ids, blanks_of(ids)).at(0);
}

/// The nearest position before i with this token, −1 if there is none.
Dim last_of(Dim token, Dim i) {
  while (--i >= 0)
    if (cat_letters[static_cast<std::size_t>(i)] == token) return i;
  return -1;
}

}  // namespace

TEST_CASE("head_roles: each pattern has its role") {
  const auto previous = [](Dim i) { return i - 1; };
  const auto itself = [](Dim i) { return i; };
  const auto first = [](Dim) { return Dim{0}; };
  const auto blank = [](Dim i) { return last_of(0, i); };
  const auto five = [](Dim i) { return last_of(5, i); };
  const auto nowhere = [](Dim) { return Dim{-1}; };
  for (const double most : {1.0, 0.7}) {
    CHECK(role_of(pattern(cat_letters, most, previous)).role == Role::previous_token);
    CHECK(role_of(pattern(cat_letters, most, itself)).role == Role::itself);
    CHECK(role_of(pattern(cat_letters, most, first)).role == Role::first_token);
    CHECK(role_of(pattern(cat_letters, most, blank)).role == Role::last_blank);
    const HeadRole token = role_of(pattern(cat_letters, most, five));
    CHECK(token.role == Role::one_token);
    CHECK(token.token == 5);
  }
  CHECK(role_of(pattern(cat_letters, 0.1, previous)).role == Role::mixed);
  const HeadRole even = role_of(pattern(cat_letters, 1, nowhere));
  CHECK(even.role == Role::mixed);
  CHECK(even.share == 0);
  CHECK(even.token == -1);
}

TEST_CASE("head_roles: share and chance are means over the queries with two keys or more") {
  const Ids ids{1, 0, 2, 3};
  const Array weights({1, 4, 4}, {1, 0, 0, 0,          //
                                  0.3, 0.7, 0, 0,      //
                                  0.1, 0.8, 0.1, 0,    //
                                  0.0, 0.9, 0.1, 0});  //
  // The blank at position 1 is a target of the queries 2 and 3.
  const HeadRole blank = role_of(weights, ids);
  CHECK(blank.role == Role::one_token);  // the query 1 looks at it too
  CHECK(blank.token == 0);
  CHECK(blank.share == Approx((0.7 + 0.8 + 0.9) / 3));
  CHECK(blank.chance == Approx((1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 3));

  const Array other({1, 4, 4}, {1, 0, 0, 0,        //
                                1, 0, 0, 0,        //
                                0.1, 0.9, 0, 0,    //
                                0.1, 0.9, 0, 0});  //
  const HeadRole last = role_of(other, ids);
  CHECK(last.role == Role::last_blank);
  CHECK(last.share == Approx((0.9 + 0.9) / 3));
  CHECK(last.chance == Approx((1.0 / 3 + 1.0 / 4) / 3));
}

TEST_CASE("head_roles: a first token that occurs once is the first token, not one token") {
  const HeadRole role =
      role_of(pattern({7, 1, 2, 3, 4, 5}, 0.9, [](Dim) { return Dim{0}; }), {7, 1, 2, 3, 4, 5});
  CHECK(role.role == Role::first_token);
}

TEST_CASE("head_roles: several heads, one after the other; a chosen role is above its chance") {
  Rng rng(5);
  const Dim T = 9, H = 40;
  std::vector<double> weights;
  Ids ids;
  for (Dim i = 0; i < T; ++i) ids.push_back(rng.below(4));
  for (Dim head = 0; head < H; ++head)
    for (Dim i = 0; i < T; ++i) {
      std::vector<double> row(static_cast<std::size_t>(T));
      double sum = 0;
      for (Dim j = 0; j <= i; ++j)
        sum += row[static_cast<std::size_t>(j)] = std::exp(6 * rng.uniform());
      for (const double w : row) weights.push_back(w / sum);
    }
  const std::vector<HeadRole> roles = head_roles(Array({H, T, T}, weights), ids, blanks_of(ids));
  REQUIRE(roles.size() == 40);
  std::size_t mixed = 0;
  for (std::size_t head = 0; head < 40; ++head) {
    const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(head) * T * T;
    const HeadRole alone =
        role_of(Array({1, T, T}, std::vector<double>(begin, begin + T * T)), ids);
    CHECK(alone.role == roles[head].role);
    CHECK(alone.share == roles[head].share);
    mixed += alone.role == Role::mixed;
    if (alone.role == Role::mixed) continue;
    CHECK(alone.share >= 2 * alone.chance);
    CHECK(alone.share - alone.chance >= (1 - alone.chance) / 10);
  }
  CHECK(mixed > 10);
}

TEST_CASE("head_roles: texts of no, one and equal tokens") {
  CHECK(head_roles(Array({2, 1, 1}, {1, 1}), {3}, {false}).at(1).role == Role::mixed);
  CHECK(role_of(pattern({3, 3, 3, 3}, 0, [](Dim) { return Dim{-1}; }), {3, 3, 3, 3}).role ==
        Role::mixed);
  CHECK(role_of(pattern({3, 3, 3, 3}, 1, [](Dim i) { return i; }), {3, 3, 3, 3}).role ==
        Role::itself);
}

TEST_CASE("head_roles: what does not fit") {
  CHECK(refusal<ShapeError>([] {
          head_roles(Array({1, 2, 2}, {1, 0, 0, 1}), {1, 2, 3}, {});
        }) == "head_roles: needs weights (heads, 3, 3): got shape (1, 2, 2)");
  CHECK(refusal<ValueError>([] {
          head_roles(Array({1, 2, 2}, {1, 0, 0, 1}), {1, 2}, {true});
        }) == "head_roles: needs to know of 2 tokens whether they are blanks: got 1");
}

TEST_CASE("head_roles: without a mask later keys count, and the chance is 1/T") {
  const Ids ids{1, 2, 3, 4};
  std::vector<double> weights(16, 0.05);  // each query gives 0.85 to the last token
  for (std::size_t i = 0; i < 4; ++i) weights[i * 4 + 3] = 0.85;
  const HeadRole role = head_roles(Array({1, 4, 4}, weights), ids, blanks_of(ids), false).at(0);
  CHECK(role.role == Role::one_token);
  CHECK(role.token == 4);
  CHECK_THAT(role.share, WithinAbs(0.85, 1e-6));
  CHECK(role.chance == 0.25);
}
