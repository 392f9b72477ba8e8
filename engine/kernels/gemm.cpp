#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/base/memory.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/row_product.h"
#include "engine/kernels/tiles.h"

namespace fledge::kernels {

namespace {

Initial part(Initial initial, Dim i, Dim j) {
  return {initial.data == nullptr ? nullptr : initial.data + i * initial.row + j, initial.row};
}

// What the sums over the block of k that begins at p0 start from: `initial` for the first block,
// then C, which holds the sums so far.
Initial initial_of_block(Dim p0, Initial initial, const Real* c, Dim c_row) {
  return p0 == 0 ? initial : Initial{c, c_row};
}

}  // namespace

void gemm_small(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                Initial initial) {
  Real packed[most_block_k * tile_columns];
  const Dim block_k = blocking.block_k;
  for (Dim p0 = 0; p0 < k; p0 += block_k) {
    const Dim depth = std::min(block_k, k - p0);
    const Initial from = initial_of_block(p0, initial, c, c_row);
    for (Dim j = 0; j < m; j += tile_columns) {
      const Dim columns = std::min(tile_columns, m - j);
      const Real* panel = b.data + p0 * b.row + j;
      Dim step = b.row;
      if (b.column != 1 || columns < tile_columns) {
        pack_panel(b, p0, depth, j, columns, packed);
        panel = packed;
        step = tile_columns;
      }
      for (Dim i = 0; i < n; i += tile_rows)
        multiply<false>(std::min(tile_rows, n - i),
                        {a.data + i * a.row + p0 * a.column, a.row, a.column, panel, step, depth,
                         c + i * c_row + j, c_row, columns, part(from, i, j)});
    }
  }
}

namespace {

// gemm_small() in several tasks: parts of whole tiles, along the longer side of C.
void gemm_small_parts(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                      Initial initial) {
  const Dim parts = blocking.small_tasks;
  const auto share = [parts](Dim size, Dim tile) { return (size / parts + tile) / tile * tile; };
  if (n / tile_rows >= m / tile_columns)
    parallel_ranges(n, share(n, tile_rows), n * k * m, [&](Dim begin, Dim end) {
      const Matrix rows{a.data + begin * a.row, a.row, a.column};
      gemm_small(rows, b, c + begin * c_row, c_row, end - begin, k, m, part(initial, begin, 0));
    });
  else
    parallel_ranges(m, share(m, tile_columns), n * k * m, [&](Dim begin, Dim end) {
      const Matrix columns{b.data + begin * b.column, b.row, b.column};
      gemm_small(a, columns, c + begin, c_row, n, k, end - begin, part(initial, 0, begin));
    });
}

// Whether row_product() is faster than tiles. It is for few rows. It is for all rows of a tile where
// B comes from memory: 14×3072×768 takes 1.0 ms instead of 2.6 ms on one thread. If B is in a
// cache, 14×768×512 takes 0.13 ms instead of 0.09 ms.
bool is_row_product(const Matrix& b, Dim n, Dim size_b) {
  const Dim most = size_b > blocking.cached_numbers ? most_product_rows : Dim{4};
  return n <= most && (b.row == 1 || b.column == 1);
}

}  // namespace

void gemm(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
          Initial initial) {
  if (k == 0)
    for (Dim i = 0; i < n; ++i)
      for (Dim j = 0; j < m; ++j)
        c[i * c_row + j] = initial.data == nullptr ? Real(0) : initial.data[i * initial.row + j];
  if (n * k * m < blocking.serial_work) return gemm_small(a, b, c, c_row, n, k, m, initial);
  if (is_row_product(b, n, k * m)) return row_product(a, b, c, c_row, n, k, m, initial);
  // A single row of tiles reads B once, so packing does not pay: 4×1536×384 takes 69 µs in
  // gemm_small_parts, and 231 µs below.
  if (n * k * m <= blocking.small_work || n <= tile_rows)
    return gemm_small_parts(a, b, c, c_row, n, k, m, initial);

  // Rows of A may be read where they lie. Columns of A are always packed.
  const bool packs = a.column != 1 || m > blocking.unpacked_m;
  const Dim block_k = blocking.block_k, block_m = blocking.block_m;
  for (Dim j0 = 0; j0 < m; j0 += block_m)
    for (Dim p0 = 0; p0 < k; p0 += block_k) {
      const Dim width = std::min(block_m, m - j0), depth = std::min(block_k, k - p0);
      const Initial from = initial_of_block(p0, initial, c, c_row);
      const Dim panels = (width + tile_columns - 1) / tile_columns;
      Buffer packed_b(panels * tile_columns * depth);
      parallel_for(panels, width * depth, [&](Dim panel) {
        const Dim j = panel * tile_columns;
        pack_panel(b, p0, depth, j0 + j, std::min(tile_columns, width - j),
                   packed_b.data() + j * depth);
      });
      // The last task may be small. With tasks of equal size 256³ takes 8 % longer, as a thread
      // that is late still has a whole task to do.
      const Dim tiles = (n + tile_rows - 1) / tile_rows;
      const Dim tasks = blocking.tasks_per_thread * threads();
      const Dim grain = std::min(blocking.block_n, tile_rows * ((tiles + tasks - 1) / tasks));
      parallel_ranges(n, grain, n * width * depth, [&](Dim begin, Dim end) {
        const Dim tall = (end - begin + tile_rows - 1) / tile_rows * tile_rows;
        Buffer packed_a(packs ? tall * depth + overhang : 0);
        for (Dim i = begin; packs && i < end; i += tile_rows)
          pack_panel<tile_rows>(a.transposed(), p0, depth, i, std::min(tile_rows, end - i),
                                packed_a.data() + (i - begin) * depth);
        for (Dim j = 0; j < width; j += tile_columns)
          for (Dim i = begin; i < end; i += tile_rows) {
            const Tile tile{packs ? packed_a.data() + (i - begin) * depth : a.data + i * a.row + p0,
                            packs ? 1 : a.row,
                            packs ? tile_rows : 1,
                            packed_b.data() + j * depth,
                            tile_columns,
                            depth,
                            c + i * c_row + j0 + j,
                            c_row,
                            std::min(tile_columns, width - j),
                            part(from, i, j0 + j)};
            const Dim rows = std::min(tile_rows, end - i);
            if (packs)
              multiply<true>(rows, tile);
            else
              multiply<false>(rows, tile);
          }
      });
    }
}

}  // namespace fledge::kernels
