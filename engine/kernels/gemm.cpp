#include "engine/kernels/gemm.h"

#include <algorithm>
#include <vector>

#include "engine/kernels/parallel.h"
#include "engine/kernels/tiles.h"

namespace fledge::inline FLEDGE_BUILD::kernels {

namespace {

// A block of p, long enough that adding to C costs little, short enough that a panel of B (block_k by
// tile_columns) stays in the first cache and a block of A (block_n by block_k) in the second.
constexpr Dim block_k = 256;
constexpr Dim block_n = tile_rows * 16;
constexpr Dim block_m = tile_columns * 32;

// Work below which packing costs more than it saves, as A and B are in the first cache anyway.
constexpr Dim small_work = 64 * 64 * 64;

// Rows i0 … i0 + rows − 1 of A as columns of tile_rows, so that a tile reads it from end to end.
void pack_rows(const Matrix& a, Dim i0, Dim rows, Dim p0, Dim k, Real* to) {
  const Real* from = a.data + i0 * a.row + p0 * a.column;
  for (Dim first = 0; first < rows; first += tile_rows, to += tile_rows * k) {
    const Dim height = std::min(tile_rows, rows - first);
    const Real* part = from + first * a.row;
    if (a.row == 1) {
      for (Dim p = 0; p < k; ++p)
        for (Dim r = 0; r < height; ++r) to[p * tile_rows + r] = part[r + p * a.column];
    } else {
      for (Dim r = 0; r < height; ++r)
        for (Dim p = 0; p < k; ++p) to[p * tile_rows + r] = part[r * a.row + p * a.column];
    }
  }
}

// Memory for packing, kept by each thread.
Real* scratch(std::vector<Real>& memory, Dim size) {
  if (static_cast<Dim>(memory.size()) < size) memory.resize(static_cast<std::size_t>(size));
  return memory.data();
}
Real* scratch_a(Dim size) {
  thread_local std::vector<Real> memory;
  return scratch(memory, size);
}
Real* scratch_b(Dim size) {
  thread_local std::vector<Real> memory;
  return scratch(memory, size);
}

// Small products read A and B where they lie; a panel is packed only where B cannot be read by vectors.
void gemm_small(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                bool add) {
  for (Dim p0 = 0; p0 < k; p0 += block_k) {
    const Dim depth = std::min(block_k, k - p0);
    for (Dim j = 0; j < m; j += tile_columns) {
      const Dim columns = std::min(tile_columns, m - j);
      const Real* panel = b.data + p0 * b.row + j;
      Dim step = b.row;
      if (b.column != 1 || columns < tile_columns) {
        Real* packed = scratch_b(depth * tile_columns);
        pack_panel(b, p0, depth, j, columns, packed);
        panel = packed;
        step = tile_columns;
      }
      for (Dim i = 0; i < n; i += tile_rows)
        multiply<false>(std::min(tile_rows, n - i),
                        {a.data + i * a.row + p0 * a.column, a.row, a.column, panel, step, depth,
                         c + i * c_row + j, c_row, columns, add || p0 > 0});
    }
  }
}

}  // namespace

void gemm(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m, Into into) {
  const bool add = into == Into::add;
  if (k == 0 && !add)
    for (Dim i = 0; i < n; ++i) std::fill_n(c + i * c_row, m, Real(0));
  if (n * k * m <= small_work || n < tile_rows / 2) return gemm_small(a, b, c, c_row, n, k, m, add);

  for (Dim j0 = 0; j0 < m; j0 += block_m)
    for (Dim p0 = 0; p0 < k; p0 += block_k) {
      const Dim width = std::min(block_m, m - j0), depth = std::min(block_k, k - p0);
      const Dim panels = (width + tile_columns - 1) / tile_columns;
      Real* const packed_b = scratch_b(panels * tile_columns * depth);
      parallel_for(panels, width * depth, [&](Dim panel) {
        const Dim j = panel * tile_columns;
        pack_panel(b, p0, depth, j0 + j, std::min(tile_columns, width - j), packed_b + j * depth);
      });
      // Four tasks a thread even out who is late; more of them would read B more often.
      const Dim tiles = (n + tile_rows - 1) / tile_rows, shares = 4 * threads();
      const Dim grain = std::min(block_n, tile_rows * ((tiles + shares - 1) / shares));
      parallel_ranges(n, grain, n * width * depth, [&](Dim begin, Dim end) {
        // Rows of A are read where they lie: for 128 columns of C packing takes 10 % of the product,
        // beyond a thousand it saves 4 %. Columns of A are always packed.
        const bool packs = a.column != 1 || m > 1024;
        Real* const packed_a = packs ? scratch_a(block_n * depth) : nullptr;
        if (packs) pack_rows(a, begin, end - begin, p0, depth, packed_a);
        for (Dim j = 0; j < width; j += tile_columns)
          for (Dim i = begin; i < end; i += tile_rows) {
            const Tile tile{packs ? packed_a + (i - begin) * depth : a.data + i * a.row + p0,
                            packs ? 1 : a.row,
                            packs ? tile_rows : 1,
                            packed_b + j * depth,
                            tile_columns,
                            depth,
                            c + i * c_row + j0 + j,
                            c_row,
                            std::min(tile_columns, width - j),
                            add || p0 > 0};
            const Dim rows = std::min(tile_rows, end - i);
            packs ? multiply<true>(rows, tile) : multiply<false>(rows, tile);
          }
      });
    }
}

}  // namespace fledge::inline FLEDGE_BUILD::kernels
