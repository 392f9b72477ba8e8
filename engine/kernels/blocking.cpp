#include "engine/kernels/blocking.h"

#include "engine/kernels/tiles.h"

namespace fledge::kernels {

constinit Blocking blocking = {
    // Handing work to a waiting thread costs about as much as this work.
    .serial_work = 1 << 16,
    .tasks = 16,
    .task_numbers = 1 << 14,
    .task_rows = 64,

    // The parts of a long sum are added to C one after the other: so a sum of k products errs by as
    // much as one of sum_k + k / sum_k.
    .sum_k = 1 << 14,
    // A panel of B (block_k by tile_columns) is long, because each block of k reads and writes C.
    // The rows of A of a tile, tile_rows by block_k, stay in L1, and B is read from L2.
    .block_k = most_block_k,
    .packed_numbers = 1 << 21,
    .aliased_row = 4096 / sizeof(Real),  // L1 has 64 sets of lines of 64 bytes
    .packed_panels = 8,
    .band_tiles = 16,
    .unpacked_n = 32 * tile_rows,
    .cached_numbers = 1 << 19,

    .row_product_columns = 1536,  // memory is fastest in long runs

    .sum_rows = 16,  // as many as a lane adds in `pairwise_sum`
    .sum_parts = 8,

    .block_queries = 32 * tile_rows,  // a task copies its queries and keys once
    .block_keys = 32 * tile_rows,     // the scores of a tile (tile_rows rows) stay in L1
    .small_head_queries = 64,
};

}  // namespace fledge::kernels
