// n×m×k: C is n×m, and each element sums k products.
#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/kernels/buffer.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/tiles.h"

namespace fledge::kernels {

namespace {

// A range of k: the rows p0 … p0 + depth − 1 of B.
struct KBlock {
  Dim p0, depth;
};

// Calls f(KBlock) for blocks of k, as equal as possible. Blocks are half as long if the
// numbers of a row of A are not contiguous: each is then in another cache line.
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

// Whether k rows of B stay in L2. True for a B stored by columns: it is packed in long runs.
bool is_cached(const Matrix& b, Dim k) { return k * b.row <= blocking.cached_numbers; }

// The number of groups that `count` panels or tiles are cut into, of at most `most` each. It is a
// multiple of the number of threads, unless there are too few.
Dim groups_of(Dim count, Dim most) {
  return std::min(count, ceil_div(ceil_div(count, most), threads()) * threads());
}

// Whether the rows of A evict each other from L1. They do if their distance is a multiple of
// `aliased_row`: then their lines are in the same sets of the cache.
bool is_aliased(const Matrix& a) { return a.column == 1 && a.row % blocking.aliased_row == 0; }

constexpr Dim unaliased_row = most_block_k + lanes;

// Rows of A as tiles read them, one block of k after the other. If they are aliased or stored by
// columns (each in another page of memory), a block is copied once, and all tiles read the copy.
// For one panel or two the copy does not pay.
class RowsOfA {
 public:
  RowsOfA(const Matrix& a, Dim rows, Dim k, Dim m)
      : a_(a),
        rows_(rows),
        copies_(m > 2 * tile_columns && (a.column == 1 ? is_aliased(a) : a.row == 1)),
        copy_(!copies_ ? 0 : rows * (a.column == 1 ? unaliased_row : std::min(k, most_block_k))) {}

  // The numbers of a block of k. They stay valid until the next call.
  Matrix block(KBlock at) {
    const Matrix a = a_.from(0, at.p0);
    if (!copies_) return a;
    if (a.column == 1) {
      for (Dim r = 0; r < rows_; ++r)
        std::copy_n(a.data + r * a.row, at.depth, copy_.data() + r * unaliased_row);
      return {copy_.data(), unaliased_row, 1};
    }
    for (Dim p = 0; p < at.depth; ++p)
      std::copy_n(a.data + p * a.column, rows_, copy_.data() + p * rows_);
    return {copy_.data(), 1, rows_};
  }

 private:
  Matrix a_;
  Dim rows_;
  bool copies_;
  Buffer copy_;
};

}  // namespace

void gemm_block(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                Initial initial) {
  if (k == 0) {
    for (Dim i = 0; i < n; ++i)
      for (Dim j = 0; j < m; ++j) c[i * c_row + j] = initial.at(i, j);
    return;
  }
  // B is packed if a tile could not read it in whole vectors, or if packing takes less time than
  // reading B in place.
  const bool packs = b.column != 1 || m % lanes != 0 || !is_cached(b, k) || n > blocking.unpacked_n;
  const Dim group_columns = std::min(m, blocking.packed_panels * tile_columns);
  Buffer packed(packs ? panels_size(std::min(k, most_block_k), group_columns) : 0);
  RowsOfA rows_of_a(a, n, k, m);
  by_k_blocks(a, k, [&](KBlock at) {
    const Matrix block_of_a = rows_of_a.block(at);
    for (Dim first = 0; first < m; first += group_columns) {
      const Matrix rows_of_b = b.from(at.p0, first);
      const Dim width = std::min(group_columns, m - first);
      if (packs) pack_panels(rows_of_b, at.depth, width, packed.data());
      for (Dim j = 0; j < width; j += tile_columns) {
        const Dim columns = std::min(tile_columns, width - j);
        const Panel panel = packs ? Panel{packed.data() + j * at.depth, tile_columns, columns}
                                  : Panel{rows_of_b.data + j, b.row, columns};
        by_tiles(n, [&](Dim i, Dim rows) {
          multiply_tile(block_of_a.from(i, 0), at, panel, c + i * c_row + first + j, c_row, rows,
                        initial.from(i, first + j));
        });
      }
    }
  });
}

namespace {

// Whether row_product() is faster than tiles. It is for at most four rows and, if B comes from
// memory, for as many as a tile has. It keeps the rows of C in L1, so not if they are aliased
// (is_aliased()).
bool is_row_product(const Matrix& b, Dim c_row, Dim n, Dim size_b) {
  const bool rows_of_tile = size_b > blocking.cached_numbers && c_row % blocking.aliased_row != 0;
  return n <= tile_rows && (n <= 4 || rows_of_tile) && (b.row == 1 || b.column == 1);
}

// Into how many parts of rows and of columns gemm_panels() cuts C.
struct Cut {
  Dim down, across;
};

Cut cut_of(const Matrix& a, const Matrix& b, Dim n, Dim k, Dim m) {
  const Dim tiles = ceil_div(n, tile_rows), panels = ceil_div(m, tile_columns);
  // If A is stored by columns, each task reads numbers of A that every thread wrote, and copies its
  // parts of A and B. Together these parts are smallest if the longer side of C is cut.
  if (a.column != 1) {
    const Dim parts_of_longer = groups_of(n < m ? panels : tiles, blocking.packed_panels);
    const Dim parts_of_shorter =
        std::min(n < m ? tiles : panels, ceil_div(threads(), parts_of_longer));
    return n < m ? Cut{parts_of_shorter, parts_of_longer} : Cut{parts_of_longer, parts_of_shorter};
  }
  // Otherwise the rows are cut into a part per thread or more: the tasks of a thread then read the
  // rows of A that it wrote (engine/base/thread_pool.h). But each part of rows reads all of B. If B
  // comes from memory, the rows are cut only until there are two tasks per thread.
  const Dim across = is_cached(b, k) ? std::min(panels, 1 + n * k * m / (blocking.serial_work + 1))
                                     : groups_of(panels, blocking.packed_panels);
  const Dim least = is_cached(b, k) ? threads() : 1;
  return {std::min(tiles, std::max(least, ceil_div(2 * threads(), across))), across};
}

// gemm_block() in tasks: each computes some rows of C, in the columns of some panels of B.
void gemm_panels(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                 Initial initial) {
  const auto [down, across] = cut_of(a, b, n, k, m);
  const Dim panels = ceil_div(m, tile_columns);
  parallel_for(down * across, n * k * m, [&, down = down, across = across](Dim task) {
    const Dim row = task / across, column = task % across;
    const Dim i = n * row / down, i_end = n * (row + 1) / down;
    const Dim j = panels * column / across * tile_columns;
    const Dim j_end = std::min(m, panels * (column + 1) / across * tile_columns);
    gemm_block(a.from(i, 0), b.from(0, j), c + i * c_row + j, c_row, i_end - i, k, j_end - j,
               initial.from(i, j));
  });
}

// Used for large products (see are_panels_faster()). First all threads pack B. Then a task computes
// a band of C: several rows of tiles. It reads B by groups of panels, and a group stays in L2 until
// all tiles of the band have read it. A task adds up all blocks of k, so that its part of C stays
// in its cache.
void gemm_rows(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
               Initial initial) {
  const Dim panels = ceil_div(m, tile_columns);
  Buffer packed(panels_size(k, m));
  const auto packed_panel = [&](KBlock at, Dim panel) {
    return packed.data() + (panels * at.p0 + panel * at.depth) * tile_columns;
  };
  const Dim groups = groups_of(panels, blocking.packed_panels);
  parallel_for(groups, m * k, [&](Dim group) {
    const Dim panel = panels * group / groups;
    const Dim j = panel * tile_columns;
    const Dim j_end = std::min(m, panels * (group + 1) / groups * tile_columns);
    by_k_blocks(a, k, [&](KBlock at) {
      pack_panels(b.from(at.p0, j), at.depth, j_end - j, packed_panel(at, panel));
    });
  });
  const Dim bands = groups_of(ceil_div(n, tile_rows), blocking.band_tiles);
  parallel_for(bands, n * m * k, [&](Dim band) {
    const Dim top = n * band / bands, height = n * (band + 1) / bands - top;
    RowsOfA rows_of_a(a.from(top, 0), height, k, m);
    by_k_blocks(a, k, [&](KBlock at) {
      const Matrix block_of_a = rows_of_a.block(at);
      for (Dim first = 0; first < m; first += blocking.packed_panels * tile_columns) {
        const Dim end = std::min(m, first + blocking.packed_panels * tile_columns);
        by_tiles(height, [&](Dim i, Dim rows) {
          for (Dim j = first; j < end; j += tile_columns)
            multiply_tile(
                block_of_a.from(i, 0), at,
                {packed_panel(at, j / tile_columns), tile_columns, std::min(tile_columns, m - j)},
                c + (top + i) * c_row + j, c_row, rows, initial.from(top + i, j));
        });
      }
    });
  });
}

// Whether gemm_panels() is faster than gemm_rows(), which packs all of B before the first tile.
bool are_panels_faster(const Matrix& a, Dim n, Dim k, Dim size_b) {
  if (n <= tile_rows) return true;
  if (is_aliased(a) || n * k > blocking.cached_numbers) return false;
  if (a.column != 1) return size_b <= blocking.cached_numbers;
  // Packing pays for many rows if a panel of B, block_k rows long, leaves no room in L1.
  return n <= blocking.unpacked_n || k < blocking.block_k;
}

// For k ≤ blocking.sum_k.
void gemm_part(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
               Initial initial) {
  const Dim work = n * k * m;
  if (work == 0 || work < blocking.serial_work) return gemm_block(a, b, c, c_row, n, k, m, initial);
  if (is_row_product(b, c_row, n, k * m)) return row_product(a, b, c, c_row, n, k, m, initial);
  if (are_panels_faster(a, n, k, k * m)) return gemm_panels(a, b, c, c_row, n, k, m, initial);
  const Dim panels = ceil_div(m, tile_columns), panel_size = k * tile_columns;
  const Dim strips = ceil_div(panels, std::max<Dim>(1, blocking.packed_numbers / panel_size));
  for (Dim strip = 0; strip < strips; ++strip) {
    const Dim j = panels * strip / strips * tile_columns;
    const Dim j_end = std::min(m, panels * (strip + 1) / strips * tile_columns);
    gemm_rows(a, b.from(0, j), c + j, c_row, n, k, j_end - j, initial.from(0, j));
  }
}

}  // namespace

void gemm(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
          Initial initial) {
  const Dim most = blocking.sum_k;
  gemm_part(a, b, c, c_row, n, std::min(k, most), m, initial);
  if (k <= most) return;
  Buffer sums(n * m);
  for (Dim p = most; p < k; p += most) {
    gemm_part(a.from(0, p), b.from(p, 0), sums.data(), m, n, std::min(most, k - p), m, {});
    for_rows(n, m, 1, [=, from = sums.data()](Dim i) {
      for (Dim j = 0; j < m; ++j) c[i * c_row + j] += from[i * m + j];
    });
  }
}

}  // namespace fledge::kernels
