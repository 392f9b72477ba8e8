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

TEST_CASE("masks of queries and keys, as pictures: '#' may look") {
  constexpr Dim widest = std::numeric_limits<Dim>::max();
  struct Row {
    Mask mask;
    Dim queries, keys;
    std::string expected;
  };
  const Mask table = custom(2, 3, {true, false, true, false, false, true});
  const Mask three = causal() & window(3) & custom(2, 2, {true, true, false, true});
  const std::vector<Row> rows = {
      {Mask(), 2, 3, "###\n###\n"},
      {causal(), 4, 4, "#...\n##..\n###.\n####\n"},
      {causal(), 2, 4, "###.\n####\n"},  // the newest query sees everything
      {causal(), 1, 3, "###\n"},
      {causal(), 4, 2, "..\n..\n#.\n##\n"},  // the first queries see nothing
      {window(1), 3, 3, "#..\n.#.\n..#\n"},
      {window(2), 4, 4, "##..\n###.\n.###\n..##\n"},
      {window(2), 2, 4, ".###\n..##\n"},
      {window(widest), 2, 2, "##\n##\n"},
      {table, 2, 3, "#.#\n..#\n"},
      // joined with &: all must allow
      {causal() & window(2), 4, 4, "#...\n##..\n.##.\n..##\n"},
      {causal() & Mask(), 2, 2, "#.\n##\n"},
      {Mask() & causal(), 2, 2, "#.\n##\n"},
      {three, 2, 2, "#.\n.#\n"},
  };
  for (const Row& row : rows) CHECK(picture(row.mask, row.queries, row.keys) == row.expected);
}

TEST_CASE("padding is by batch element, other masks repeat over the batch and over heads") {
  const auto of_batch = padding({0, 2, 3}).table({3, 2, 3}, "op");
  CHECK(grid(of_batch, 0, 2, 3) + grid(of_batch, 1, 2, 3) + grid(of_batch, 2, 2, 3) ==
        "......##.##.######");
  const auto of_heads = padding({1, 2}).table({2, 3, 1, 2}, "op");
  for (Dim head = 0; head < 3; ++head)
    CHECK(grid(of_heads, head, 1, 2) + grid(of_heads, 3 + head, 1, 2) == "#.##");
  const auto both = (causal() & padding({1, 2})).table({2, 2, 2}, "op");
  CHECK(grid(both, 0, 2, 2) + grid(both, 1, 2, 2) == "#.#.#.##");
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
  const PoolVector<IndexRange> spans = mask.spans(scores, "op");
  const std::vector<unsigned char> table = mask.table(scores, "op");
  const auto count = static_cast<Dim>(spans.size());
  const bool agree = [&] {
    for (Dim batch = 0; batch < batches; ++batch)
      for (Dim query = 0; query < queries; ++query) {
        const Dim row = (count == queries ? 0 : batch * queries) + query;
        const IndexRange span = spans[static_cast<std::size_t>(row)];
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
        const IndexRange before = spans[static_cast<std::size_t>(row - 1)];
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

TEST_CASE("masks that do not fit the scores are refused, and impossible masks when they are made") {
  const Mask table = custom(2, 3, std::vector<bool>(6, true)), one = custom(1, 1, {true});
  const std::string needs_scores = "op: a mask needs scores (..., queries, keys): got shape ",
                    rows_and_columns = "; its rows are queries, its columns keys";
  const auto padded = [](const std::string& n, const std::string& shape) {
    return "op: a padding mask of " + n + " lengths needs scores (" + n +
           ", ..., queries, keys): got shape " + shape;
  };
  struct Row {
    Mask mask;
    Shape scores;
    std::string text;
  };
  const std::vector<Row> rows = {
      {causal(), {3}, needs_scores + "(3)"},
      {Mask(), {}, needs_scores + "()"},
      {padding({1, 2}), {3, 4}, padded("2", "(3, 4)")},
      {padding({1, 2}), {3, 2, 4}, padded("2", "(3, 2, 4)")},
      {padding({1}), {2, 2}, padded("1", "(2, 2)")},
      {padding({1, 5}), {2, 3, 4}, "op: a padding length of 5 exceeds the keys of shape (2, 3, 4)"},
      {table,
       {3, 2},
       "op: a custom mask (2, 3) does not fit scores of shape (3, 2)" + rows_and_columns},
      {causal() & one,
       {2, 2},
       "op: a custom mask (1, 1) does not fit scores of shape (2, 2)" + rows_and_columns},
  };
  for (const Row& row : rows) {
    CHECK(refusal<ShapeError>([&] { row.mask.table(row.scores, "op"); }) == row.text);
    if (row.mask.has_spans())
      CHECK(refusal<ShapeError>([&] { row.mask.spans(row.scores, "op"); }) == row.text);
  }
  CHECK(refusal<ValueError>([&] {
          (causal() & one).spans({1, 1}, "op");
        }) == "op: a custom mask has no spans");
  CHECK(refusal<ValueError>([] {
          padding({1, -1});
        }) == "padding: lengths must not be negative: got -1");
  CHECK(refusal<ValueError>([] { window(0); }) == "window: the width must be at least 1: got 0");
  constexpr Dim vast = Dim{1} << 40;
  for (const auto& [queries, keys, count] : std::vector<std::array<Dim, 3>>{{2, 3, 0},
                                                                            {2, 3, 1},
                                                                            {2, 3, 3},
                                                                            {2, 3, 4},
                                                                            {2, 3, 5},
                                                                            {2, 3, 7},
                                                                            {2, 3, 8},
                                                                            {2, 3, 12},
                                                                            {0, 0, 1},
                                                                            {0, 3, 1},
                                                                            {3, 0, 1},
                                                                            {-1, -1, 1},
                                                                            {vast, vast, 0}})
    CHECK(refusal<ShapeError>([&, q = queries, k = keys, n = count] {
            custom(q, k, std::vector<bool>(static_cast<std::size_t>(n), true));
          }) == "custom: a table of (" + std::to_string(queries) + ", " + std::to_string(keys) +
                    ") entries: got " + std::to_string(count));
}
