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

constexpr Dim parts_of(Dim size, Dim part) { return (size + part - 1) / part; }

// The rows p0 … p0 + depth − 1 of B.
struct Depth {
  Dim p0, depth;
};

// Calls f(Depth) for blocks of k, as equal as possible. Blocks are half as long if A is read by
// columns: the next number of a row is then in another line of the cache.
template <class F>
void by_depths(const Matrix& a, Dim k, F f) {
  const Dim blocks = parts_of(k, a.column == 1 ? blocking.block_k : (blocking.block_k + 1) / 2);
  for (Dim block = 0; block < blocks; ++block) {
    const Dim p0 = k * block / blocks;
    f(Depth{p0, k * (block + 1) / blocks - p0});
  }
}

// n rows of C, the columns of one panel of B. The sums of the first block of k start from
// `initial`, the others from C, which holds the sums so far.
void multiply_panel(const Matrix& a, Depth at, const Real* panel, Dim step, Real* c, Dim c_row,
                    Dim n, Dim columns, Initial initial) {
  const Initial from = at.p0 == 0 ? initial : Initial{c, c_row};
  by_tiles(n, [&](Dim i, Dim rows) {
    multiply(rows, {a.data + i * a.row + at.p0 * a.column, a.row, a.column, panel, step, at.depth,
                    c + i * c_row, c_row, columns, part(from, i, 0)});
  });
}

}  // namespace

void gemm_block(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                Initial initial) {
  Real packed[most_block_k * tile_columns];
  by_depths(a, k, [&](Depth at) {
    for (Dim j = 0; j < m; j += tile_columns) {
      const Dim columns = std::min(tile_columns, m - j);
      const bool packs = b.column != 1 || columns % lanes != 0 || n > blocking.unpacked_n;
      if (packs) pack_panel(b, at.p0, at.depth, j, columns, packed);
      const Real* const panel = packs ? packed : b.data + at.p0 * b.row + j;
      multiply_panel(a, at, panel, packs ? tile_columns : b.row, c + j, c_row, n, columns,
                     part(initial, 0, j));
    }
  });
}

namespace {

// Whether row_product() is faster than tiles. It is for few rows. It is for all rows of a tile where
// B comes from memory: 14×3072×768 takes 1.0 ms instead of 2.6 ms on one thread. If B is in a
// cache, 14×768×512 takes 0.13 ms instead of 0.09 ms.
bool is_row_product(const Matrix& b, Dim n, Dim size_b) {
  const Dim most = size_b > blocking.cached_numbers ? most_product_rows : Dim{4};
  return n <= most && (b.row == 1 || b.column == 1);
}

// gemm_block() in tasks: blocks of C, which pack what they need of B.
void gemm_blocks(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                 Initial initial) {
  const Dim panels = parts_of(m, tile_columns), down = parts_of(n, blocking.block_n);
  const Dim across = std::min(panels, parts_of(blocking.small_tasks, down));
  parallel_for(down * across, n * k * m, [&](Dim task) {
    const Dim row = task % down, column = task / down;
    const Dim i = n * row / down, i_end = n * (row + 1) / down;
    const Dim j = panels * column / across * tile_columns;
    const Dim j_end = std::min(m, panels * (column + 1) / across * tile_columns);
    gemm_block({a.data + i * a.row, a.row, a.column}, {b.data + j * b.column, b.row, b.column},
               c + i * c_row + j, c_row, i_end - i, k, j_end - j, part(initial, i, j));
  });
}

}  // namespace

void gemm(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
          Initial initial) {
  if (k == 0)
    for (Dim i = 0; i < n; ++i)
      for (Dim j = 0; j < m; ++j)
        c[i * c_row + j] = initial.data == nullptr ? Real(0) : initial.data[i * initial.row + j];
  const Dim work = n * k * m;
  if (work < blocking.serial_work) return gemm_block(a, b, c, c_row, n, k, m, initial);
  if (is_row_product(b, n, k * m)) return row_product(a, b, c, c_row, n, k, m, initial);
  if (threads() == 1 || work <= blocking.small_work || n <= tile_rows)
    return gemm_blocks(a, b, c, c_row, n, k, m, initial);

  // All threads pack B once. Then a task is a range of rows of C: a thread that packed for itself
  // would read all of B and A, much of it from the caches of others.
  const Dim most = std::max<Dim>(1, n / (2 * tile_rows));
  const Dim tasks = std::min(most, blocking.tasks_per_thread * threads());
  for (Dim j0 = 0; j0 < m; j0 += blocking.block_m)
    by_depths(a, k, [&, width = std::min(blocking.block_m, m - j0)](Depth at) {
      const Dim panels = parts_of(width, tile_columns);
      Buffer packed(panels * tile_columns * at.depth);
      const auto columns = [&](Dim panel) {
        return std::min(tile_columns, width - panel * tile_columns);
      };
      parallel_for(panels, width * at.depth, [&](Dim panel) {
        pack_panel(b, at.p0, at.depth, j0 + panel * tile_columns, columns(panel),
                   packed.data() + panel * tile_columns * at.depth);
      });
      parallel_for(tasks, n * width * at.depth, [&](Dim task) {
        const Dim i = n * task / tasks, i_end = n * (task + 1) / tasks;
        for (Dim panel = 0; panel < panels; ++panel) {
          const Dim j = j0 + panel * tile_columns;
          multiply_panel({a.data + i * a.row, a.row, a.column}, at,
                         packed.data() + panel * tile_columns * at.depth, tile_columns,
                         c + i * c_row + j, c_row, i_end - i, columns(panel), part(initial, i, j));
        }
      });
    });
}

}  // namespace fledge::kernels
