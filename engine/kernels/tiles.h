// Tiles: the innermost loop of every product, and how its operands are laid out.
//
// Blocks and threads: gemm.cpp, attention.cpp. A number of C is the sum over p in
// increasing order, one fused multiply-add after the other, from 0 or from what was there: cutting
// a sum in two changes no bit, and the last rows and columns are computed as all others are.
#pragma once

#include <algorithm>
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
  Initial initial = {};
};

// c_rj = start_rj + Σ_p a_rp·b_pj for rows r = 0, 1, … and one or two vectors of columns. The rows
// are a pack, not a loop: in a loop GCC would keep `sum` in memory before and after the loop over
// p. A is read in place: packing it costs more than it gains unless C is wide.
template <int vectors, int... r>
void multiply(const Tile& t, std::integer_sequence<int, r...>) {
  Vec sum[sizeof...(r)][vectors] = {};
  const auto each_row = [&](auto f) { (f(Dim{r}, sum[r]), ...); };
  if (const Real* const initial = t.initial.data; initial != nullptr)
    each_row([initial, row = t.initial.row](Dim i, Vec(&s)[vectors]) {
      for (int v = 0; v < vectors; ++v) s[v] = load(initial + i * row + v * lanes);
    });
  // The address of a row is one of three pointers and at most four steps: with a pointer a row
  // there would be more addresses than registers.
  constexpr Dim group = 5;
  const Dim row = t.a_row;
  const Real* a[] = {t.a, t.a + group * row, t.a + 2 * group * row};
  const Real* b = t.b;
  for (Dim p = 0; p < t.k; ++p, b += t.b_step) {
    Vec b_p[vectors];
    for (int v = 0; v < vectors; ++v) b_p[v] = load(b + v * lanes);
    each_row([a, b_p, row](Dim i, Vec(&s)[vectors]) {
      const Vec x = splat(a[i / group][i % group * row]);
      for (int v = 0; v < vectors; ++v) add_product(s[v], x, b_p[v]);
    });
    for (const Real*& at : a) at += t.a_step;
  }
  each_row([c = t.c, row = t.c_row](Dim i, Vec(&s)[vectors]) {
    for (int v = 0; v < vectors; ++v) store(c + i * row + v * lanes, s[v]);
  });
}

template <int vectors, int rows>
void multiply_rows(const Tile& tile) {
  multiply<vectors>(tile, std::make_integer_sequence<int, rows>());
}

// A tile of each height is a function of its own.
template <int vectors, int... heights>
void multiply_vectors(Dim rows, const Tile& tile, std::integer_sequence<int, heights...>) {
  constexpr void (*by_height[])(const Tile&) = {multiply_rows<vectors, heights + 1>...};
  by_height[rows - 1](tile);
}

template <int vectors>
void multiply_vectors(Dim rows, const Tile& tile) {
  multiply_vectors<vectors>(rows, tile, std::make_integer_sequence<int, tile_rows>());
}

// Columns that do not fill their vectors are computed in a wide enough buffer, then copied to C.
inline void multiply(Dim rows, const Tile& tile) {
  if (tile.columns == tile_columns) return multiply_vectors<2>(rows, tile);
  if (tile.columns == lanes) return multiply_vectors<1>(rows, tile);
  Real buffer[tile_rows * tile_columns];
  Tile whole = tile;
  whole.c = buffer;
  whole.c_row = tile_columns;
  if (tile.initial.data != nullptr) {
    whole.initial = {buffer, tile_columns};
    for (Dim r = 0; r < rows; ++r)
      for (Dim j = 0; j < tile_columns; ++j)
        buffer[r * tile_columns + j] = j < tile.columns ? tile.initial.at(r, j) : Real(0);
  }
  if (tile.columns < lanes)
    multiply_vectors<1>(rows, whole);
  else
    multiply_vectors<2>(rows, whole);
  for (Dim r = 0; r < rows; ++r)
    for (Dim j = 0; j < tile.columns; ++j)
      tile.c[r * tile.c_row + j] = buffer[r * tile_columns + j];
}

/// Calls f(i, rows) for tiles of n rows: as few as possible, of heights that differ by one row at
/// most. A tile of few rows has too few sums to keep the multipliers busy.
template <class F>
void by_tiles(Dim n, F f) {
  Dim i = 0;
  for (Dim left = ceil_div(n, tile_rows); left > 0; --left) {
    const Dim rows = ceil_div(n - i, left);
    f(i, rows);
    i += rows;
  }
}

// Copies the first k rows and `columns` columns of B into k rows of tile_columns numbers. Missing
// columns are 0.
inline void pack_panel(const Matrix& b, Dim k, Dim columns, Real* to) {
  const Dim deep = b.row == 1 ? k / lanes * lanes : 0;  // in squares of lanes × lanes numbers
  for (Dim j = 0; j < tile_columns; j += lanes)
    for (Dim p = 0; p < deep; p += lanes) {
      Vec square[lanes];
      for (Dim i = 0; i < lanes; ++i)
        square[i] = j + i < columns ? load(b.data + p + (j + i) * b.column) : splat(Real(0));
      transpose(square);
      for (Dim i = 0; i < lanes; ++i) store(to + (p + i) * tile_columns + j, square[i]);
    }
  if (columns < tile_columns) std::fill(to + deep * tile_columns, to + k * tile_columns, Real(0));
  for (Dim p = deep; p < k; ++p)
    for (Dim j = 0; j < columns; ++j) to[p * tile_columns + j] = b.data[p * b.row + j * b.column];
}

/// B (k, m) as panels of tile_columns columns, one after the other; panel j begins at
/// to + j·k·tile_columns. Whole panels of a B that is stored by rows are packed row by row,
/// because long runs come from memory faster.
inline void pack_panels(const Matrix& b, Dim k, Dim m, Real* to) {
  const Dim whole = b.column == 1 ? m / tile_columns * tile_columns : 0;
  for (Dim p = 0; p < k; ++p)
    for (Dim j = 0; j < whole; j += tile_columns)
      for (Dim i = 0; i < tile_columns; i += lanes) {
        const Real* const from = b.data + p * b.row + j + i;
        prefetch_far(from + 8 * b.row);
        store(to + j * k + p * tile_columns + i, load(from));
      }
  for (Dim j = whole; j < m; j += tile_columns)
    pack_panel(b.from(0, j), k, std::min(tile_columns, m - j), to + j * k);
}

/// Numbers in the panels of a matrix (k, m).
constexpr Dim panels_size(Dim k, Dim m) { return ceil_div(m, tile_columns) * tile_columns * k; }

}  // namespace fledge::kernels
