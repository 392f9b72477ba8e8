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

TEST_CASE("a block of keys may be hidden from a whole block of queries") {
  for (const Dim block : {Dim{3}, tile_rows}) {
    const Dim size = 9 * tile_columns;  // hidden keys end many panels before the last queries
    check_in_blocks(Head(size, size, 9, window(3)), {block});
  }
  const Dim size = 2 * kernels::blocking.block_queries + 1;
  check_head(Head(size, size, 9, window(60)));
}

TEST_CASE("a narrow head is right on both sides of every two borders of blocks") {
  const Dim block = 2 * lanes;
  for (const Mask& mask : blocked_masks)
    for (const Dim queries : around(block))
      for (const Dim keys : around(lanes))
        for (const Dim D : {1, 3, 4, 5, 7, 8, 9})
          check_in_blocks(Head(queries, keys, D, mask), {block, lanes, 3});
}

TEST_CASE("attention is right for 63, 64 and 65 keys: rows of a table become longer after 64") {
  for (const Dim size : {63, 64, 65})
    for (const Dim D : {4, 9, 65})
      check_in_blocks(Head(tile_rows + 1, size, D, causal()), {tile_rows});
}

TEST_CASE("a softmax in parts is right on both sides of every border of keys") {
  for (const Dim block : {Dim{1}, Dim{5}, lanes, tile_columns + 1}) {
    Blocking sizes = blocks_of_queries(tile_rows + 1, lanes);
    sizes.block_keys = block;
    const Blocked blocked(sizes);
    for (const Mask& mask : blocked_masks)
      for (const Dim queries : {Dim{1}, tile_rows, 2 * tile_rows + 3})
        for (const Dim keys : around(block)) check_head(Head(queries, keys, 9, mask));
  }
}

TEST_CASE("a query alone gets the bits that it gets among others, in every number of parts") {
  for (const Dim block : {Dim{3}, lanes, Dim{100}}) {
    Blocking sizes = kernels::blocking;
    sizes.block_keys = block;
    const Blocked blocked(sizes);
    const Dim n = 40, D = 9;
    const Head all = Head(n, n, D, causal()).run();
    for (const Dim i : {0, 2, 3, 17, 39}) {
      Head one(1, i + 1, D, causal());
      std::copy_n(all.q.data() + i * (D + 2), D + 2, one.q.write());
      one.run();
      INFO("query " << i << ", " << block << " keys in a part");
      for (Dim d = 0; d < D; ++d)
        REQUIRE(same_bits(Array::full({}, one.y[d]), Array::full({}, all.y[i * (D + 2) + d])));
    }
  }
}

TEST_CASE("scores of minus infinity have the weight 0, in parts as well") {
  const double large = sizeof(Real) == sizeof(float) ? 1e25 : 1e200;
  for (const Dim block : {1, 2, 100}) {
    Blocking sizes = kernels::blocking;
    sizes.block_keys = block;
    const Blocked blocked(sizes);
    Head head(3, 6, 9, Mask());
    head.q = Array::full(head.q.shape(), Real(large));
    for (const Dim j : {0, 1, 4}) std::fill_n(head.k.write() + j * 11, 9, Real(-large));
    for (const Dim j : {2, 3, 5}) std::fill_n(head.k.write() + j * 11, 9, Real(0));
    head.run();
    for (Dim d = 0; d < 9; ++d) {  // the keys 2, 3 and 5 have the weight 1/3
      const double mean =
          (value_of(head.v[22 + d]) + value_of(head.v[33 + d]) + value_of(head.v[55 + d])) / 3;
      REQUIRE(std::abs(value_of(head.y[d]) - mean) < 1e-6);
    }
  }
}
