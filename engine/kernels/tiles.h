// Tiles: the innermost loop of every product, and how its operands are laid out.
//
// Not here: blocks and threads (gemm.cpp, attention.cpp). A number of C is the sum over p in
// increasing order, one fused multiply-add after the other, from 0 or from what was there: cutting
// a sum in two changes no bit, and the last rows and columns are computed as all others are.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/kernels/gemm.h"
#include "engine/kernels/simd.h"

namespace fledge::kernels {

// Note [Tiles]: a tile of C, `tile_rows` rows by two vectors, stays in registers while p runs over
// a block of k; with one register for a number of A and two for a row of B it fills the register
// file. Per step it loads tile_rows + 2 times and multiplies tile_rows · 2 times, so the
// multipliers are the limit, not the loads. (Goto & van de Geijn 2008.)
constexpr Dim registers_per_vec = sizeof(Vec) / vector_bytes;  // of a Dual two
constexpr Dim tile_rows = (vector_registers / registers_per_vec - 3) / 2;
constexpr Dim tile_columns = 2 * lanes;

struct Tile {
  const Real* a;
  Dim a_row, a_step;  // from row to row, from p to p + 1
  const Real* b;
  Dim b_step;
  Dim k;
  Real* c;
  Dim c_row, columns;
  Initial initial;
};

// c_rj = start_rj + Σ_p a_rp·b_pj for rows r = 0, 1, … and two vectors of columns. With both
// operands packed the steps are constants, and the addresses cost nothing. The rows are a pack, not
// a loop: in a loop GCC would keep `sum` in memory before and after the loop over p, which takes a
// third of the time of a tile with k = 16.
template <bool packed, int... r>
void multiply(const Tile& t, std::integer_sequence<int, r...>) {
  Vec sum[sizeof...(r)][2] = {};
  const auto each_row = [&](auto f) { (f(Dim{r}, sum[r]), ...); };
  if (const Real* const initial = t.initial.data; initial != nullptr)
    each_row([initial, row = t.initial.row](Dim i, Vec(&s)[2]) {
      s[0] = load(initial + i * row);
      s[1] = load(initial + i * row + lanes);
    });
  const Real* a = t.a;
  const Real* b = t.b;
  const Dim a_row = packed ? 1 : t.a_row, a_step = packed ? tile_rows : t.a_step;
  const Dim b_step = packed ? tile_columns : t.b_step;
  for (Dim p = 0; p < t.k; ++p, a += a_step, b += b_step) {
    const Vec b0 = load(b), b1 = load(b + lanes);
    each_row([=](Dim i, Vec(&s)[2]) {
      const Vec x = splat(a[i * a_row]);
      add_product(s[0], x, b0);
      add_product(s[1], x, b1);
    });
  }
  each_row([c = t.c, row = t.c_row](Dim i, Vec(&s)[2]) {
    store(c + i * row, s[0]);
    store(c + i * row + lanes, s[1]);
  });
}

template <bool packed, int rows>
void multiply(const Tile& tile) {
  multiply<packed>(tile, std::make_integer_sequence<int, rows>());
}

// The last rows of a matrix need a tile of their own height.
template <bool packed, int... heights>
void multiply_whole(Dim rows, const Tile& tile, std::integer_sequence<int, heights...>) {
  constexpr void (*by_height[])(const Tile&) = {multiply<packed, heights + 1>...};
  by_height[rows - 1](tile);
}

template <bool packed>
void multiply_whole(Dim rows, const Tile& tile) {
  if (rows == tile_rows) return multiply<packed, tile_rows>(tile);
  multiply_whole<packed>(rows, tile, std::make_integer_sequence<int, tile_rows>());
}

// Columns that do not fill two vectors are computed in a wide enough buffer, then copied to C.
template <bool packed>
void multiply(Dim rows, const Tile& tile) {
  if (tile.columns == tile_columns) return multiply_whole<packed>(rows, tile);
  Real beside[tile_rows * tile_columns];
  Tile whole = tile;
  whole.c = beside;
  whole.c_row = whole.columns = tile_columns;
  if (tile.initial.data != nullptr) {
    whole.initial = {beside, tile_columns};
    for (Dim r = 0; r < rows; ++r)
      for (Dim j = 0; j < tile_columns; ++j)
        beside[r * tile_columns + j] =
            j < tile.columns ? tile.initial.data[r * tile.initial.row + j] : Real(0);
  }
  multiply_whole<packed>(rows, whole);
  for (Dim r = 0; r < rows; ++r)
    for (Dim j = 0; j < tile.columns; ++j)
      tile.c[r * tile.c_row + j] = beside[r * tile_columns + j];
}

// Copies n numbers. std::copy_n calls memmove even where n is a constant, which takes 8 % of a
// training step.
template <Dim n>
void copy(const Real* from, Real* to) {
  std::memcpy(to, from, n * sizeof(Real));
}

// A vector stored at the end of a panel's last row may reach so many numbers beyond the panel. If
// the width of the panel is a multiple of `lanes`, no vector does.
constexpr Dim overhang = lanes;

// Packs a panel of B: rows p0 … p0 + k − 1 and columns j0 … j0 + columns − 1, as k rows of `width`
// numbers. Missing columns are 0. A panel of A is a panel of Aᵀ, tile_rows wide.
template <Dim width = tile_columns>
void pack_panel(const Matrix& b, Dim p0, Dim k, Dim j0, Dim columns, Real* to) {
  const Real* from = b.data + p0 * b.row + j0 * b.column;
  if (b.column == 1 && columns == width) {
    for (Dim p = 0; p < k; ++p) copy<width>(from + p * b.row, to + p * width);
    return;
  }
  // Squares of lanes × lanes numbers, the last columns first: a vector that reaches beyond the end
  // of its row is then overwritten by the next row.
  const Dim deep = b.row == 1 ? k / lanes * lanes : 0;
  for (Dim j = (width - 1) / lanes * lanes; j >= 0; j -= lanes)
    for (Dim p = 0; p < deep; p += lanes) {
      Vec square[lanes];
      for (Dim i = 0; i < lanes; ++i)
        square[i] = j + i < columns ? load(from + p + (j + i) * b.column) : splat(Real(0));
      transpose(square);
      for (Dim i = 0; i < lanes; ++i) store(to + (p + i) * width + j, square[i]);
    }
  if (columns < width) std::fill(to + deep * width, to + k * width, Real(0));
  for (Dim p = deep; p < k; ++p)
    for (Dim j = 0; j < columns; ++j) to[p * width + j] = from[p * b.row + j * b.column];
}

/// B (k, m) as panels of tile_columns columns, one behind the other; panel j begins at
/// to + j·k·tile_columns.
inline void pack_panels(const Matrix& b, Dim k, Dim m, Real* to) {
  for (Dim j = 0; j < m; j += tile_columns)
    pack_panel(b, 0, k, j, std::min(tile_columns, m - j), to + j * k);
}

/// Numbers in the panels of a matrix (k, m).
constexpr Dim panels_size(Dim k, Dim m) {
  return (m + tile_columns - 1) / tile_columns * tile_columns * k;
}

}  // namespace fledge::kernels
