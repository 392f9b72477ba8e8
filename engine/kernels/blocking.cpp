#include "engine/kernels/blocking.h"

#include "engine/kernels/tiles.h"

namespace fledge::kernels {

constinit Blocking blocking = {
    // To hand work to a thread that waits for it costs about as much as 2 µs of work.
    .serial_work = 1 << 16,
    .tasks = 16,
    .task_numbers = 1 << 14,
    .task_rows = 64,

    // The parts of a long sum are added to C one after the other: so a sum of k products errs by as
    // much as one of sum_k + k / sum_k. One more addition in 16,384 costs nothing.
    .sum_k = 1 << 14,
    // A panel of B (block_k by tile_columns) is long, because each block of k reads and writes C:
    // with blocks of 256 instead of 512, a product of 2048³ takes 15 % longer. The rows of A of a
    // tile, tile_rows by block_k, stay in the first cache, and B is read from the second.
    .block_k = most_block_k,
    // With 1 << 19 a product of 2048³ takes 6 % longer, with all of B at once 10 %.
    .packed_numbers = 1 << 21,
    .aliased_row = 4096 / sizeof(Real),  // the first cache has 64 sets of lines of 64 bytes
    .packed_panels = 8,  // with 4 or 16 a product of 64×768×3072 takes 2 to 6 % longer
    .band_tiles = 16,    // with 8 a product of 384×1536×2048, A by columns, takes 2 % longer
    // Without packing a product of 64 rows takes 2 to 6 % less time, of 224 rows 1 to 4 % (512 columns
    // and k = 512, or fewer).
    .unpacked_n = 32 * tile_rows,
    .cached_numbers = 1 << 19,  // 2 MB of floats: one or two second caches

    // Rows of B are read in runs of so many numbers: 768 (3 KB) reach 90 % of the speed of memory,
    // 384 reach 87 % (one thread, B (768, 3072)).
    .row_product_columns = 1536,

    .sum_rows = 16,  // as many as a lane adds in `pairwise_sum`
    // On one thread the sum over the rows of 4096×1024 takes 0.5 ms in eight parts of rows, and
    // 0.7 ms in tasks of 256 columns, which fetch every page of memory four times.
    .sum_parts = 8,

    // A task copies its queries and keys once. With half as many backward takes 3 % longer (1,024
    // tokens, one head of 64); with twice as many it takes as long, in half as many tasks.
    .block_queries = 32 * tile_rows,
    // The scores of a tile (tile_rows rows) stay in the first cache.
    .block_keys = 32 * tile_rows,
    .small_head_queries = 64,
};

}  // namespace fledge::kernels
