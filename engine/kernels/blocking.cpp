#include "engine/kernels/blocking.h"

#include "engine/kernels/tiles.h"

namespace fledge::kernels {

constinit Blocking blocking = {
    // Waking another thread costs about as much as 2 µs of work.
    .serial_work = 1 << 16,
    .tasks = 16,
    .task_numbers = 1 << 14,
    .task_rows = 64,

    // A block of p is long enough that adding to C costs little. It is short enough that a panel of
    // B (block_k by tile_columns) stays in the first cache and a block of A (block_n by block_k) in
    // the second. The panels of B together, block_k by block_m, may fill the third: each is read
    // once for block_n rows of A. With an eighth of block_m A would be packed eight times, which
    // took a tenth of the time of 2048³.
    .block_n = tile_rows * 16,
    .block_k = most_block_k,
    .block_m = tile_columns * 256,
    // Below this work A and B are in the first cache anyway, and packing costs more than it saves.
    .small_work = 64 * 64 * 64,
    // Packing rows of A takes 10 % of a product with 128 columns. Beyond a thousand columns it
    // saves 4 %.
    .unpacked_m = 1024,
    // With four tasks per thread, the other threads take over the tasks of one that is late. More
    // tasks would read B more often.
    .tasks_per_thread = 4,
    .small_tasks = 4,
    .cached_numbers = 1 << 19,  // 2 MB of floats

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
    // The scores of a tile, 14 rows, stay in the first cache.
    .block_keys = 32 * tile_rows,
    .small_head_queries = 64,
};

}  // namespace fledge::kernels
