#include "engine/masks.h"

#include "engine/base/errors.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

// One grid of a table as text: '#' may look.
std::string grid(const std::vector<unsigned char>& table, Dim which, Dim queries, Dim keys) {
  std::string text;
  for (Dim i = 0; i < queries * keys; ++i)
    text += table[static_cast<std::size_t>(which * queries * keys + i)] != 0 ? '#' : '.';
  return text;
}

// A mask without batch as text, a line per query: '#' may look, '.' hidden.
std::string picture(const Mask& mask, Dim queries, Dim keys) {
  const std::vector<unsigned char> table = mask.table({queries, keys}, "picture");
  std::string text;
  for (Dim query = 0; query < queries; ++query) text += grid(table, query, 1, keys) + '\n';
  return text;
}

}  // namespace

TEST_CASE("a mask without parts hides nothing") { CHECK(picture(Mask(), 2, 3) == "###\n###\n"); }

TEST_CASE("causal: a query sees itself and what came before") {
  CHECK(picture(causal(), 4, 4) ==
        "#...\n"
        "##..\n"
        "###.\n"
        "####\n");
}

TEST_CASE("causal with fewer queries than keys: the newest query sees everything") {
  CHECK(picture(causal(), 2, 4) ==
        "###.\n"
        "####\n");
  CHECK(picture(causal(), 1, 3) == "###\n");
}

TEST_CASE("causal with more queries than keys: the first queries see nothing") {
  CHECK(picture(causal(), 4, 2) ==
        "..\n"
        "..\n"
        "#.\n"
        "##\n");
}

TEST_CASE("window: keys less than the width away, on both sides") {
  CHECK(picture(window(1), 3, 3) ==
        "#..\n"
        ".#.\n"
        "..#\n");
  CHECK(picture(window(2), 4, 4) ==
        "##..\n"
        "###.\n"
        ".###\n"
        "..##\n");
  CHECK(picture(window(2), 2, 4) ==
        ".###\n"
        "..##\n");
  CHECK(picture(window(std::numeric_limits<Dim>::max()), 2, 2) == "##\n##\n");
}

TEST_CASE("custom: the caller's table, queries by keys") {
  CHECK(picture(custom(2, 3, {true, false, true, false, false, true}), 2, 3) ==
        "#.#\n"
        "..#\n");
}

TEST_CASE("masks are joined with &: all must allow") {
  CHECK(picture(causal() & window(2), 4, 4) ==
        "#...\n"
        "##..\n"
        ".##.\n"
        "..##\n");
  CHECK(picture(causal() & Mask(), 2, 2) == picture(causal(), 2, 2));
  CHECK(picture(Mask() & causal(), 2, 2) == picture(causal(), 2, 2));
  const Mask three = causal() & window(3) & custom(2, 2, {true, true, false, true});
  CHECK(picture(three, 2, 2) == "#.\n.#\n");
}

TEST_CASE("padding: a batch element sees its own first keys") {
  const auto table = padding({0, 2, 3}).table({3, 2, 3}, "op");
  CHECK(grid(table, 0, 2, 3) == "......");
  CHECK(grid(table, 1, 2, 3) == "##.##.");
  CHECK(grid(table, 2, 2, 3) == "######");
}

TEST_CASE("padding with heads between batch and queries") {
  const auto table = padding({1, 2}).table({2, 3, 1, 2}, "op");
  for (Dim head = 0; head < 3; ++head) {
    CHECK(grid(table, head, 1, 2) == "#.");
    CHECK(grid(table, 3 + head, 1, 2) == "##");
  }
}

TEST_CASE("a mask of queries and keys repeats over the batch") {
  const auto table = (causal() & padding({1, 2})).table({2, 2, 2}, "op");
  CHECK(grid(table, 0, 2, 2) == "#.#.");
  CHECK(grid(table, 1, 2, 2) == "#.##");
}

TEST_CASE("a table has one entry per score, also when there are none") {
  CHECK(causal().table({2, 3, 4}, "op").size() == 24);
  CHECK(causal().table({0, 3}, "op").empty());
  CHECK(causal().table({2, 0, 3}, "op").empty());
  CHECK(padding({1, 2}).table({2, 0, 3}, "op").empty());
  CHECK(padding({}).table({0, 2, 2}, "op").empty());
}

TEST_CASE("all masks have spans but custom ones, and what they are part of") {
  for (const Mask& mask : {Mask(), causal(), window(2), padding({1}), causal() & padding({1})})
    CHECK(mask.has_spans());
  const Mask own = custom(1, 1, {true});
  for (const Mask& mask : {own, own & causal(), causal() & own, Mask() & own})
    CHECK_FALSE(mask.has_spans());
}

namespace {

// The rules of masks.h, written out once more for one place of the scores.
struct Place {
  Dim batch, query, key, queries, keys;

  Dim distance() const { return query + keys - queries - key; }
};

bool causal_allows(const Place& at) { return at.distance() >= 0; }
bool window_allows(Dim width, const Place& at) {
  return at.distance() < width && -at.distance() < width;
}
bool padding_allows(const std::vector<Dim>& lengths, const Place& at) {
  return at.key < lengths[static_cast<std::size_t>(at.batch)];
}

// Whether spans and table show the places that the rule allows, and spans never go back.
template <class Rule>
void check_rule(const Mask& mask, Dim batches, Dim queries, Dim keys, Rule allows) {
  const Shape scores{batches, 2, queries, keys};
  const PoolVector<KeyRange> spans = mask.spans(scores, "op");
  const std::vector<unsigned char> table = mask.table(scores, "op");
  const auto count = static_cast<Dim>(spans.size());
  const bool agree = [&] {
    for (Dim batch = 0; batch < batches; ++batch)
      for (Dim query = 0; query < queries; ++query) {
        const Dim row = (count == queries ? 0 : batch * queries) + query;
        const KeyRange span = spans[static_cast<std::size_t>(row)];
        for (Dim key = 0; key < keys; ++key) {
          const bool allowed = allows(Place{batch, query, key, queries, keys});
          if (allowed != (span.begin <= key && key < span.end)) return false;
          for (Dim head = 0; head < 2; ++head) {
            const Dim at = ((batch * 2 + head) * queries + query) * keys + key;
            if (allowed != (table[static_cast<std::size_t>(at)] != 0)) return false;
          }
        }
        if (span.begin < 0 || span.begin > keys || span.end < 0 || span.end > keys) return false;
        if (query == 0) continue;
        const KeyRange before = spans[static_cast<std::size_t>(row - 1)];
        if (span.begin < before.begin || span.end < before.end) return false;
      }
    return true;
  }();
  INFO(batches << " x " << queries << " queries x " << keys << " keys");
  REQUIRE((count == queries || count == batches * queries));
  REQUIRE(agree);
}

}  // namespace

TEST_CASE("spans and tables are what a mask allows, at every place, and spans never go back") {
  for (const Dim queries : {0, 1, 2, 3, 7, 20})
    for (const Dim keys : {0, 1, 2, 5, 7, 23})
      for (const Dim width : {Dim{1}, Dim{2}, Dim{5}, Dim{30}, std::numeric_limits<Dim>::max() / 2})
        for (const bool one_way : {false, true}) {
          const std::vector<Dim> three{keys, 0, keys / 2}, two{keys / 2, keys};
          const Mask near = one_way ? causal() & window(width) : window(width);
          const auto near_allows = [&](const Place& at) {
            return window_allows(width, at) && (!one_way || causal_allows(at));
          };
          check_rule(near, 1, queries, keys, near_allows);
          check_rule(near & padding(three), 3, queries, keys,
                     [&](const Place& at) { return near_allows(at) && padding_allows(three, at); });
          check_rule(padding(two) & near & causal(), 2, queries, keys, [&](const Place& at) {
            return near_allows(at) && causal_allows(at) && padding_allows(two, at);
          });
          check_rule(one_way ? causal() : Mask(), 2, queries, keys,
                     [&](const Place& at) { return !one_way || causal_allows(at); });
        }
}

TEST_CASE("spans: one row for all when no part asks for the batch") {
  CHECK((causal() & window(2)).spans({3, 2, 4, 4}, "op").size() == 4);
  CHECK(Mask().spans({4, 7}, "op").size() == 4);
  CHECK((causal() & padding({1, 2, 3})).spans({3, 2, 4, 4}, "op").size() == 12);
  CHECK(padding({}).spans({0, 4, 4}, "op").empty());
}

TEST_CASE("spans of the widest window are all keys") {
  for (const KeyRange& span : window(std::numeric_limits<Dim>::max()).spans({3, 4}, "op")) {
    CHECK(span.begin == 0);
    CHECK(span.end == 4);
  }
}

TEST_CASE("spans are refused as tables are, and for a custom mask") {
  CHECK(refusal<ShapeError>([] { causal().spans({3}, "op"); }) ==
        "op: a mask needs scores (..., queries, keys): got shape (3)");
  CHECK(refusal<ShapeError>([] {
          padding({5}).spans({1, 3, 4}, "op");
        }) == "op: a padding length of 5 exceeds the keys of shape (1, 3, 4)");
  CHECK(refusal<ValueError>([] {
          (causal() & custom(1, 2, {true, true})).spans({1, 2}, "op");
        }) == "op: a custom mask has no spans");
}

TEST_CASE("masks that do not fit the scores are refused") {
  const auto refused = [](const Mask& mask, const Shape& scores) {
    return refusal<ShapeError>([&] { mask.table(scores, "softmax"); });
  };
  CHECK(refused(causal(), {3}) ==
        "softmax: a mask needs scores (..., queries, keys): got shape (3)");
  CHECK(refused(Mask(), {}) == "softmax: a mask needs scores (..., queries, keys): got shape ()");
  CHECK(
      refused(padding({1, 2}), {3, 4}) ==
      "softmax: a padding mask of 2 lengths needs scores (2, ..., queries, keys): got shape (3, 4)");
  CHECK(
      refused(padding({1, 2}), {3, 2, 4}) ==
      "softmax: a padding mask of 2 lengths needs scores (2, ..., queries, keys): got shape (3, 2, "
      "4)");
  CHECK(refused(padding({1, 5}), {2, 3, 4}) ==
        "softmax: a padding length of 5 exceeds the keys of shape (2, 3, 4)");
  CHECK(
      refused(custom(2, 3, std::vector<bool>(6, true)), {3, 2}) ==
      "softmax: a custom mask (2, 3) does not fit scores of shape (3, 2); its rows are queries, its "
      "columns keys");
  CHECK(
      refused(causal() & custom(1, 1, {true}), {2, 2}) ==
      "softmax: a custom mask (1, 1) does not fit scores of shape (2, 2); its rows are queries, its "
      "columns keys");
  CHECK(
      refused(padding({1}), {2, 2}) ==
      "softmax: a padding mask of 1 lengths needs scores (1, ..., queries, keys): got shape (2, 2)");
}

TEST_CASE("impossible masks are refused when they are made") {
  CHECK(refusal<ValueError>([] {
          padding({1, -1});
        }) == "padding: lengths must not be negative: got -1");
  CHECK(refusal<ValueError>([] { window(0); }) == "window: the width must be at least 1: got 0");
  for (const std::size_t count : {0u, 1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 12u})
    CHECK(refusal<ShapeError>([=] { custom(2, 3, std::vector<bool>(count, true)); }) ==
          "custom: a table of (2, 3) places: got " + std::to_string(count));
  for (const auto& [queries, keys] : {std::pair<Dim, Dim>{0, 0}, {0, 3}, {3, 0}})
    CHECK(refusal<ShapeError>([=, q = queries, k = keys] { custom(q, k, {true}); }) ==
          "custom: a table of (" + std::to_string(queries) + ", " + std::to_string(keys) +
              ") places: got 1");
  CHECK(refusal<ShapeError>([] { custom(-1, -1, {true}); }) ==
        "custom: a table of (-1, -1) places: got 1");
  CHECK(refusal<ShapeError>([] { custom(Dim{1} << 40, Dim{1} << 40, {}); }) ==
        "custom: a table of (1099511627776, 1099511627776) places: got 0");
}
