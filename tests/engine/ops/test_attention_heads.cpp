#include "engine/ops/attention_heads.h"

#include "engine/array.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

TEST_CASE("AttentionHeads: sizes, and the spans that neighbours in the batch share") {
  const AttentionHeads one("test", {5, 6}, 7, 2, causal());
  CHECK(one.batch == 1);
  CHECK(one.queries == 5);
  CHECK(one.keys == 7);
  CHECK(one.D == 3);
  CHECK(one.spans.size() == 5);
  CHECK(one.spans[0].end == 3);
  CHECK(one.spans[4].end == 7);
  CHECK(one.log_sums_shape() == Shape{1, 2, 5, 2});

  const AttentionHeads same("test", {2, 3, 5, 6}, 7, 2, causal());
  CHECK(same.batch == 6);
  CHECK(same.share == 6);
  CHECK(same.spans.size() == 5);
  const AttentionHeads padded("test", {2, 3, 5, 6}, 7, 2, padding({7, 1}));
  CHECK(padded.share == 3);
  CHECK(padded.spans.size() == 10);
  CHECK(AttentionHeads("test", {0, 3, 5, 6}, 7, 2, padding({})).batch == 0);
}

TEST_CASE("AttentionHeads: each head of each batch element reads and writes its own part") {
  // D = 1 and one key: y is the value.
  const AttentionHeads all("test", {2, 1, 2}, 1, 2, padding({1, 0}));
  const Array q = uniform({2, 1, 2}, 1), k = uniform({2, 1, 2}, 2), v = uniform({2, 1, 2}, 3);
  Array y({2, 1, 2}), log_sums(all.log_sums_shape());
  all.attend({q.data(), 2}, {k.data(), 2}, {v.data(), 2}, {y.write(), 2}, log_sums.write());
  CHECK(y[0] == v[0]);
  CHECK(y[1] == v[1]);
  CHECK(y[2] == Real(0));  // the second element of the batch has no key
  CHECK(y[3] == Real(0));

  Array dq({2, 1, 2}), dk({2, 1, 2}), dv({2, 1, 2});
  const Array dy = uniform({2, 1, 2}, 4);
  all.attend_vjp({q.data(), 2}, {k.data(), 2}, {v.data(), 2}, {y.data(), 2}, {dy.data(), 2},
                 log_sums.data(), {dq.write(), 2}, {dk.write(), 2}, {dv.write(), 2});
  CHECK(dv[0] == dy[0]);
  CHECK(dv[1] == dy[1]);
  CHECK(dv[2] == Real(0));
  CHECK(dv[3] == Real(0));
}

TEST_CASE("AttentionHeads refuses heads that do not divide the width, and custom masks") {
  for (const Dim heads : {-1, 0, 4})
    CHECK(refusal<ValueError>([&] {
            AttentionHeads("test", {2, 6}, 2, heads, Mask());
          }) == "test: 6 channels do not split into " + std::to_string(heads) + " equal heads");
  CHECK(refusal<ValueError>([] {
          AttentionHeads("test", {1, 6}, 1, 2, custom(1, 1, {true}));
        }) == "test: a custom mask has no spans");
}
