#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/kernels/parallel.h"
#include "engine/kernels/row_product.h"
#include "engine/kernels/tiles.h"

namespace fledge::kernels {

namespace {

Initial part(Initial initial, Dim i, Dim j) {
  return {initial.data == nullptr ? nullptr : initial.data + i * initial.row + j, initial.row};
}

constexpr Dim parts_of(Dim size, Dim part) { return (size + part - 1) / part; }

}  // namespace

void gemm_block(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                Initial initial) {
  Real packed[most_block_k * tile_columns];
  // Rows of A in short blocks where the next number of a row is in another line of the cache.
  const Dim blocks = parts_of(k, a.column == 1 ? blocking.block_k : blocking.block_k / 2);
  for (Dim block = 0; block < blocks; ++block) {
    const Dim p0 = k * block / blocks, depth = k * (block + 1) / blocks - p0;
    // The sums of the second block of k start from C, which holds those of the first.
    const Initial from = p0 == 0 ? initial : Initial{c, c_row};
    for (Dim j = 0; j < m; j += tile_columns) {
      const Dim columns = std::min(tile_columns, m - j);
      const bool packs = b.column != 1 || columns < tile_columns || n > blocking.unpacked_n;
      if (packs) pack_panel(b, p0, depth, j, columns, packed);
      const Real* const panel = packs ? packed : b.data + p0 * b.row + j;
      const Dim step = packs ? tile_columns : b.row;
      by_tiles(n, [&](Dim i, Dim rows) {
        multiply(rows, {a.data + i * a.row + p0 * a.column, a.row, a.column, panel, step, depth,
                        c + i * c_row + j, c_row, columns, part(from, i, j)});
      });
    }
  }
}

namespace {

// Whether row_product() is faster than tiles. It is for few rows. It is for all rows of a tile where
// B comes from memory: 14×3072×768 takes 1.0 ms instead of 2.6 ms on one thread. If B is in a
// cache, 14×768×512 takes 0.13 ms instead of 0.09 ms.
bool is_row_product(const Matrix& b, Dim n, Dim size_b) {
  const Dim most = size_b > blocking.cached_numbers ? most_product_rows : Dim{4};
  return n <= most && (b.row == 1 || b.column == 1);
}

}  // namespace

// Tasks are blocks of C. A task packs the panels of B that it needs, one at a time, into the first
// cache: there is no second loop over all threads, and no thread waits for a panel of another.
void gemm(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
          Initial initial) {
  if (k == 0)
    for (Dim i = 0; i < n; ++i)
      for (Dim j = 0; j < m; ++j)
        c[i * c_row + j] = initial.data == nullptr ? Real(0) : initial.data[i * initial.row + j];
  const Dim work = n * k * m;
  if (work < blocking.serial_work) return gemm_block(a, b, c, c_row, n, k, m, initial);
  if (is_row_product(b, n, k * m)) return row_product(a, b, c, c_row, n, k, m, initial);

  const Dim most_tasks = threads() == 1 ? 1 : blocking.tasks_per_thread * threads();
  const Dim tasks = std::min(most_tasks, 1 + work / (blocking.serial_work + 1));
  const Dim panels = parts_of(m, tile_columns), blocks = parts_of(n, blocking.block_n);
  const Dim across = std::min(panels, parts_of(tasks, blocks));
  const Dim down = std::max(blocks, std::min(parts_of(n, tile_rows), parts_of(tasks, across)));
  parallel_for(down * across, work, [&](Dim task) {
    const Dim row = task % down, column = task / down;
    const Dim i = n * row / down, i_end = n * (row + 1) / down;
    const Dim j = panels * column / across * tile_columns;
    const Dim j_end = std::min(m, panels * (column + 1) / across * tile_columns);
    gemm_block({a.data + i * a.row, a.row, a.column}, {b.data + j * b.column, b.row, b.column},
               c + i * c_row + j, c_row, i_end - i, k, j_end - j, part(initial, i, j));
  });
}

}  // namespace fledge::kernels
