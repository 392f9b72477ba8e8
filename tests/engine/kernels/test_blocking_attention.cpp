// A head of attention with small blocks: every pair of block borders, over memory full of NaN.
#include "engine/kernels/tiles.h"
#include "tests/support/attention_head.h"
#include "tests/support/blocking.h"

using namespace tests;
using kernels::lanes;
using kernels::tile_columns;
using kernels::tile_rows;

namespace {

Blocking blocks_of_queries(Dim queries, Dim narrow) {
  Blocking sizes = kernels::blocking;
  sizes.serial_work = 0;
  sizes.block_queries = queries;
  sizes.small_head_queries = narrow;
  return sizes;
}

// Close to the formulas in blocks of every size, and the same bits in all of them.
void check_in_blocks(const Head& head, std::initializer_list<Dim> blocks) {
  const Head whole = Head(head).run();
  for (const Dim block : blocks) {
    const Blocked blocked(blocks_of_queries(block, block));
    fill_stack();
    const Head found = Head(head).run();
    INFO(head.queries << " queries in blocks of " << block << ", " << head.keys << " keys of size "
                      << head.D);
    REQUIRE(same_bits(found.y, whole.y));
    REQUIRE(same_bits(found.dq, whole.dq));
    REQUIRE(same_bits(found.dk, whole.dk));
    REQUIRE(same_bits(found.dv, whole.dv));
    check_head(head);
  }
}

const std::vector<Mask> blocked_masks = {Mask(), causal(), window(3), padding({0})};

}  // namespace

TEST_CASE("a head of attention is right on both sides of every two borders of blocks") {
  const Dim block = tile_rows + 1;
  for (const Mask& mask : blocked_masks)
    for (const Dim queries : around(block))
      for (const Dim keys : around(tile_columns))
        for (const Dim D : around(tile_columns))
          check_in_blocks(Head(queries, keys, D, mask), {block, block - 1, 3});
}

TEST_CASE("a narrow head is right on both sides of every two borders of blocks") {
  const Dim block = 2 * lanes;
  for (const Mask& mask : blocked_masks)
    for (const Dim queries : around(block))
      for (const Dim keys : around(lanes))
        for (const Dim D : {1, 3, 4, 5, 7, 8, 9})
          check_in_blocks(Head(queries, keys, D, mask), {block, lanes, 3});
}

TEST_CASE("a head whose table is long is right on both sides of the length") {
  for (const Dim keys : {255, 256, 257})
    for (const Dim D : {4, 9}) check_in_blocks(Head(tile_rows + 1, keys, D, causal()), {tile_rows});
}
