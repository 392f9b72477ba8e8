// Every mask shows the scores that its rule allows, written out once more here.
#include "engine/masks.h"

#include <array>
#include <functional>

#include "engine/base/errors.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refusal;
using tests::refuses;

namespace {

struct MaskedScore {
  Dim batch, query, key, queries, keys;

  Dim distance() const { return query + keys - queries - key; }  // of the last ones it is 0
};
using MaskRule = std::function<bool(const MaskedScore&)>;

struct RuledMask {
  Mask mask;
  MaskRule allows;
};

RuledMask operator&(const RuledMask& a, const RuledMask& b) {
  return {a.mask & b.mask, [=](const MaskedScore& at) { return a.allows(at) && b.allows(at); }};
}

const RuledMask all_seen{Mask(), [](const MaskedScore&) { return true; }},
    past_seen{causal(), [](const MaskedScore&at) { return at.distance() >= 0; }};

RuledMask near_seen(Dim width) {
  return {window(width),
          [=](const MaskedScore& at) { return at.distance() < width && -at.distance() < width; }};
}
RuledMask start_seen(const std::vector<Dim>& lengths) {
  return {padding(lengths), [=](const MaskedScore& at) {
            return at.key < lengths[static_cast<std::size_t>(at.batch)];
          }};
}
// Neighbours see each other within a document.
RuledMask document_seen(const std::vector<Dim>& lengths) {
  std::vector<std::size_t> owner;
  for (std::size_t d = 0; d < lengths.size(); ++d)
    owner.insert(owner.end(), static_cast<std::size_t>(lengths[d]), d);
  return {documents(lengths), [=](const MaskedScore& at) {
            return owner[static_cast<std::size_t>(at.query)] ==
                   owner[static_cast<std::size_t>(at.key)];
          }};
}
// Every third score is hidden.
RuledMask table_seen(Dim queries, Dim keys) {
  std::vector<bool> visible;
  for (Dim i = 0; i < queries * keys; ++i) visible.push_back(i % 3 != 1);
  return {custom(queries, keys, visible),
          [=](const MaskedScore& at) { return (at.query * keys + at.key) % 3 != 1; }};
}

// Whether the table, and the spans if there are any, show what the rule allows, in both heads, and
// spans never go back. Spans depend on the batch element only if a part of the mask does.
void check_rule(const RuledMask& ruled, Dim batches, Dim queries, Dim keys, bool has_padding) {
  INFO(batches << " x " << queries << " queries x " << keys << " keys");
  const Shape scores{batches, 2, queries, keys};
  const VisibleTable table = ruled.mask.table(scores, "op");
  REQUIRE(static_cast<Dim>(table.size()) == scores.size());
  const bool spanned = ruled.mask.has_spans();
  const auto spans = spanned ? ruled.mask.spans(scores, "op") : PoolVector<IndexRange>();
  REQUIRE(
      (!spanned || static_cast<Dim>(spans.size()) == (has_padding ? batches * queries : queries)));
  Dim wrong = 0;
  for (Dim batch = 0; batch < batches; ++batch)
    for (Dim query = 0; query < queries; ++query) {
      IndexRange span{0, keys}, before{0, 0};
      const auto row = static_cast<std::size_t>((has_padding ? batch * queries : 0) + query);
      if (spanned) span = spans[row];
      if (spanned && query > 0) before = spans[row - 1];
      for (Dim key = 0; key < keys; ++key) {
        const bool allowed = ruled.allows({batch, query, key, queries, keys});
        if (spanned && allowed != (span.begin <= key && key < span.end)) ++wrong;
        for (Dim head = 0; head < 2; ++head) {
          const Dim at = ((batch * 2 + head) * queries + query) * keys + key;
          if (allowed != (table[static_cast<std::size_t>(at)] != 0)) ++wrong;
        }
      }
      if (span.begin < before.begin || span.begin > keys || span.end < before.end ||
          span.end > keys)
        ++wrong;
    }
  REQUIRE(wrong == 0);
}

}  // namespace

TEST_CASE("spans and tables are what a mask allows, for every score, and spans never go back") {
  for (const Dim queries : {0, 1, 2, 3, 7, 20})
    for (const Dim keys : {0, 1, 2, 5, 7, 23}) {
      check_rule(all_seen, 2, queries, keys, false);
      check_rule(past_seen, 2, queries, keys, false);
      check_rule(table_seen(queries, keys), 2, queries, keys, false);
      check_rule(past_seen & table_seen(queries, keys) & all_seen, 2, queries, keys, false);
      for (const Dim width : {Dim{1}, Dim{2}, Dim{5}, Dim{30}, std::numeric_limits<Dim>::max()})
        for (const RuledMask& mask : {near_seen(width), past_seen & near_seen(width)}) {
          check_rule(mask, 1, queries, keys, false);
          check_rule(mask & start_seen({keys, 0, keys / 2}), 3, queries, keys, true);
          check_rule(start_seen({keys / 2, keys}) & mask & past_seen, 2, queries, keys, true);
        }
    }
  for (const std::vector<Dim>& lengths :
       {std::vector<Dim>{9}, {1, 8}, {0, 3, 0, 0, 5, 1, 0}, {1, 1, 1, 1, 5}, {4, 5}})
    for (const RuledMask& mask :
         {all_seen, past_seen, near_seen(2), near_seen(4) & past_seen, table_seen(9, 9)}) {
      check_rule(document_seen(lengths) & mask, 2, 9, 9, false);
      check_rule(mask & document_seen({6, 3}) & document_seen(lengths), 2, 9, 9, false);
      check_rule(mask & start_seen({9, 5, 0}) & document_seen(lengths), 3, 9, 9, true);
    }
  CHECK(positions_in({2, 0, 3, 1}) == std::vector<Dim>{0, 1, 0, 1, 2, 0});
  CHECK(documents({}).spans({3, 3}, "op").size() == 3);
  CHECK(documents({0, 0}).spans({0, 0}, "op").empty());
  CHECK(causal().table({0, 3}, "op").empty());
  CHECK(padding({}).table({0, 2, 2}, "op").empty());
  CHECK(padding({}).spans({0, 4, 4}, "op").empty());
  CHECK(Mask().spans({4, 7}, "op").size() == 4);
  const Mask own = custom(1, 1, {true});
  for (const Mask& mask : {own, own & causal(), causal() & own, Mask() & own})
    CHECK_FALSE(mask.has_spans());
  for (const Mask& mask : {Mask(), causal(), window(2), padding({1}), causal() & padding({1})})
    CHECK(mask.has_spans());
}

TEST_CASE("masks that do not fit the scores are refused, and impossible masks when they are made") {
  const Mask table = custom(2, 3, std::vector<bool>(6, true)), one = custom(1, 1, {true});
  constexpr Dim huge = std::numeric_limits<Dim>::max();
  struct Row {
    Mask mask;
    Shape scores;
    std::string says;
  };
  const std::vector<Row> rows = {
      {causal(), {3}, "needs scores (..., queries, keys)"},
      {Mask(), {}, "needs scores (..., queries, keys)"},
      {padding({1, 2}), {3, 4}, "2 lengths needs scores (2, ..., queries, keys)"},
      {padding({1, 2}), {3, 2, 4}, "2 lengths needs scores (2, ..., queries, keys)"},
      {padding({1}), {2, 2}, "1 lengths needs scores (1, ..., queries, keys)"},
      {padding({1, 5}), {2, 3, 4}, "padding length of 5 exceeds the keys"},
      {documents({2, 1}), {2, 4, 4}, "2 documents"},
      {documents({2, 2}), {3, 3}, "2 documents"},
      {documents({2, 1}), {3, 4}, "2 documents"},
      {documents({2, 1}), {4, 3}, "2 documents"},
      {documents({huge, huge, 5}), {3, 3}, "3 documents"},
      {table, {3, 2}, "custom mask (2, 3) does not fit scores"},
      {causal() & one, {2, 2}, "custom mask (1, 1) does not fit scores"},
  };
  for (const Row& row : rows) {
    const std::string shape = "shape " + to_string(row.scores);
    CHECK(refuses<ShapeError>([&] { row.mask.table(row.scores, "op"); }, "op: ", row.says, shape));
    if (row.mask.has_spans())
      CHECK(
          refuses<ShapeError>([&] { row.mask.spans(row.scores, "op"); }, "op: ", row.says, shape));
  }
  const Mask both = causal() & one;
  CHECK(refuses<ValueError>([&] { both.spans({1, 1}, "op"); }, "op: a custom mask has no spans"));
  CHECK(refuses<ValueError>([] { padding({1, -1}); }, "padding", "negative", "-1"));
  CHECK(refuses<ValueError>([] { documents({3, -1}); }, "documents", "negative", "-1"));
  CHECK(refuses<ValueError>([] { window(0); }, "window", "at least 1", "got 0"));
  constexpr Dim vast = Dim{1} << 40;
  std::vector<std::array<Dim, 3>> wrong = {
      {0, 0, 1}, {0, 3, 1}, {3, 0, 1}, {-1, -1, 1}, {vast, vast, 0}};
  for (const Dim count : {0, 1, 3, 4, 5, 7, 8, 12}) wrong.push_back({2, 3, count});
  for (const auto& [queries, keys, count] : wrong)
    CHECK(refusal<ShapeError>([&, q = queries, k = keys, n = count] {
            custom(q, k, std::vector<bool>(static_cast<std::size_t>(n), true));
          }) == "custom: a table of (" + std::to_string(queries) + ", " + std::to_string(keys) +
                    ") entries: got " + std::to_string(count));
}
