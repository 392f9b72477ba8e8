#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/kernels/buffer.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/row_product.h"
#include "engine/kernels/tiles.h"

namespace fledge::kernels {

namespace {

Initial part(Initial initial, Dim i, Dim j) {
  return {initial.data == nullptr ? nullptr : initial.data + i * initial.row + j, initial.row};
}

// A range of k: the rows p0 … p0 + depth − 1 of B.
struct KBlock {
  Dim p0, depth;
};

// Calls f(KBlock) for blocks of k, as equal as possible. Blocks are half as long if A is read by
// columns: the next number of a row is then in another line of the cache.
template <class F>
void by_k_blocks(const Matrix& a, Dim k, F f) {
  const Dim blocks = ceil_div(k, a.column == 1 ? blocking.block_k : ceil_div(blocking.block_k, 2));
  for (Dim block = 0; block < blocks; ++block) {
    const Dim p0 = k * block / blocks;
    f(KBlock{p0, k * (block + 1) / blocks - p0});
  }
}

// A panel of B, packed or not: some columns of the rows of a block of k, which are `row` apart.
struct Panel {
  const Real* data;
  Dim row, columns;
};

// A tile of C. `a` begins at its first row and at p0. The sums of the first block of k start from
// `initial`, the others from C, which holds the sums so far. nonnull: clang-tidy supposes a null C.
[[gnu::nonnull]] void multiply_tile(const Matrix& a, KBlock at, const Panel& b, Real* c, Dim c_row,
                                    Dim rows, Initial initial) {
  multiply(rows, {a.data, a.row, a.column, b.data, b.row, at.depth, c, c_row, b.columns,
                  at.p0 == 0 ? initial : Initial{c, c_row}});
}

Matrix part(const Matrix& a, Dim i, Dim p) {
  return {a.data + i * a.row + p * a.column, a.row, a.column};
}

// Whether k rows of B, as they lie in memory, stay in the second cache. True for a B that is stored by
// columns: it is packed in long runs from wherever it lies.
bool is_cached(const Matrix& b, Dim k) { return k * b.row <= blocking.cached_numbers; }

}  // namespace

void gemm_block(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                Initial initial) {
  if (k == 0)
    for (Dim i = 0; i < n; ++i)
      for (Dim j = 0; j < m; ++j)
        c[i * c_row + j] = initial.data == nullptr ? Real(0) : initial.data[i * initial.row + j];
  // B is packed if a tile could not read it in whole vectors, or if that takes less time.
  const bool packs = b.column != 1 || m % lanes != 0 || !is_cached(b, k) || n > blocking.unpacked_n;
  const Dim group_columns = std::min(m, blocking.packed_panels * tile_columns);
  Buffer packed(packs ? panels_size(std::min(k, most_block_k), group_columns) : 0);
  by_k_blocks(a, k, [&](KBlock at) {
    for (Dim first = 0; first < m; first += group_columns) {
      const Matrix rows_of_b = part(b, at.p0, first);
      const Dim width = std::min(group_columns, m - first);
      if (packs) pack_panels(rows_of_b, at.depth, width, packed.data());
      for (Dim j = 0; j < width; j += tile_columns) {
        const Dim columns = std::min(tile_columns, width - j);
        const Panel panel = packs ? Panel{packed.data() + j * at.depth, tile_columns, columns}
                                  : Panel{rows_of_b.data + j, b.row, columns};
        by_tiles(n, [&](Dim i, Dim rows) {
          multiply_tile(part(a, i, at.p0), at, panel, c + i * c_row + first + j, c_row, rows,
                        part(initial, i, first + j));
        });
      }
    }
  });
}

namespace {

// Whether row_product() is faster than tiles. It is for at most four rows and, if B comes from memory,
// for as many as a tile has: 14×3072×768 takes 1.0 ms, and 1.3 ms by tiles (one thread). If B is in a
// cache, 14×768×512 takes 0.13 ms, and 0.09 ms by tiles. row_product() keeps the rows of C in the
// first cache. If they are aliased (see below), 14×768×3072 takes 3.5 ms, and 1.3 ms by tiles.
bool is_row_product(const Matrix& b, Dim c_row, Dim n, Dim size_b) {
  const bool rows_of_tile = size_b > blocking.cached_numbers && c_row % blocking.aliased_row != 0;
  return n <= most_product_rows && (n <= 4 || rows_of_tile) && (b.row == 1 || b.column == 1);
}

// The number of groups of panels. A group has at most packed_panels panels. The number is a multiple of
// the number of threads, unless there are too few panels. A group is packed row by row, because long
// runs of B come from memory faster: 64×768×768 takes 0.80 ms, and 1.15 ms panel by panel.
Dim groups_of(Dim panels) {
  return std::min(panels,
                  ceil_div(ceil_div(panels, blocking.packed_panels), threads()) * threads());
}

// gemm_block() in tasks: each computes some rows of some panels of C. Usually the rows are cut into a
// part per thread or more: the tasks of a thread then read the rows of A that it wrote
// (engine/base/shares.h), and a training step takes 5 % less time where the threads share no cache.
// There are two exceptions. If A is stored by columns, each task needs what all threads wrote. If B
// comes from memory, each part of rows would read it again. In these two cases rows are cut only
// until there are two tasks per thread.
void gemm_panels(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                 Initial initial) {
  const Dim panels = ceil_div(m, tile_columns), work = n * k * m;
  const Dim across =
      is_cached(b, k) ? std::min(panels, 1 + work / (blocking.serial_work + 1)) : groups_of(panels);
  const Dim least = a.column == 1 && is_cached(b, k) ? threads() : 1;
  const Dim down =
      std::min(ceil_div(n, tile_rows), std::max(least, ceil_div(2 * threads(), across)));
  parallel_for(down * across, work, [&](Dim task) {
    const Dim row = task / across, column = task % across;
    const Dim i = n * row / down, i_end = n * (row + 1) / down;
    const Dim j = panels * column / across * tile_columns;
    const Dim j_end = std::min(m, panels * (column + 1) / across * tile_columns);
    gemm_block(part(a, i, 0), part(b, 0, j), c + i * c_row + j, c_row, i_end - i, k, j_end - j,
               part(initial, i, j));
  });
}

// Whether the rows of A evict each other from the first cache. They do if their distance is a
// multiple of `aliased_row`: then their lines are in the same sets of the cache.
bool is_aliased(const Matrix& a) { return a.column == 1 && a.row % blocking.aliased_row == 0; }

constexpr Dim unaliased_row = most_block_k + lanes;

// The rows of a tile; aliased rows as a copy. Without the copy a product of 1024³ takes a quarter longer.
Matrix unaliased(const Matrix& a, Dim rows, Dim depth, Real* copy) {
  if (!is_aliased(a)) return a;
  for (Dim r = 0; r < rows; ++r) std::copy_n(a.data + r * a.row, depth, copy + r * unaliased_row);
  return {copy, unaliased_row, 1};
}

// Used if A does not stay in a cache or is aliased, because it reads A only once. First all threads
// pack B. Then a task computes a row of tiles, or several if they are small, and reads all of B. It
// adds up all blocks of k: with a job for each block, C would move between the caches of the threads.
void gemm_rows(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
               Initial initial) {
  const Dim panels = ceil_div(m, tile_columns), tiles = ceil_div(n, tile_rows);
  Buffer packed(panels_size(k, m));
  const auto place = [&](KBlock at, Dim panel) {
    return packed.data() + (panels * at.p0 + panel * at.depth) * tile_columns;
  };
  const auto columns = [&](Dim panel) { return std::min(tile_columns, m - panel * tile_columns); };
  const Dim groups = groups_of(panels);
  parallel_for(groups, m * k, [&](Dim group) {
    const Dim panel = panels * group / groups;
    const Dim j = panel * tile_columns;
    const Dim j_end = std::min(m, panels * (group + 1) / groups * tile_columns);
    by_k_blocks(a, k, [&](KBlock at) {
      pack_panels(part(b, at.p0, j), at.depth, j_end - j, place(at, panel));
    });
  });
  const Dim work = tile_rows * m * k;  // of a row of tiles
  parallel_ranges(tiles, 1 + blocking.serial_work / work, tiles * work, [&](Dim begin, Dim end) {
    Real copy[tile_rows * unaliased_row];
    for (Dim tile = begin; tile < end; ++tile) {
      const Dim i = n * tile / tiles, rows = n * (tile + 1) / tiles - i;
      by_k_blocks(a, k, [&](KBlock at) {
        const Matrix strip = unaliased(part(a, i, at.p0), rows, at.depth, copy);
        for (Dim panel = 0; panel < panels; ++panel) {
          const Dim j = panel * tile_columns;
          multiply_tile(strip, at, {place(at, panel), tile_columns, columns(panel)},
                        c + i * c_row + j, c_row, rows, part(initial, i, j));
        }
      });
    }
  });
}

}  // namespace

void gemm(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
          Initial initial) {
  const Dim work = n * k * m;
  if (work == 0 || work < blocking.serial_work) return gemm_block(a, b, c, c_row, n, k, m, initial);
  if (is_row_product(b, c_row, n, k * m)) return row_product(a, b, c, c_row, n, k, m, initial);
  if (n <= tile_rows || (n * k <= blocking.cached_numbers && !is_aliased(a)))
    return gemm_panels(a, b, c, c_row, n, k, m, initial);
  const Dim panels = ceil_div(m, tile_columns), panel_size = k * tile_columns;
  const Dim strips = ceil_div(panels, std::max<Dim>(1, blocking.packed_numbers / panel_size));
  for (Dim strip = 0; strip < strips; ++strip) {
    const Dim j = panels * strip / strips * tile_columns;
    const Dim j_end = std::min(m, panels * (strip + 1) / strips * tile_columns);
    gemm_rows(a, part(b, 0, j), c + j, c_row, n, k, j_end - j, part(initial, 0, j));
  }
}

}  // namespace fledge::kernels
