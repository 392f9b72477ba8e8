#include <type_traits>

#include "engine/kernels/parallel.h"
#include "engine/kernels/tiles.h"

namespace fledge::kernels {

namespace {

// Both kernels below compute whole vectors of C: m is a multiple of `lanes`. A partial vector would
// take a branch between the multiplication and the addition, and GCC 12 then does not fuse them.

// C += A·B for the first `depth` rows of B.
template <int depth, class Count>
void add_rows(const Matrix& a, const Real* b, Dim b_row, Real* c, Dim c_row, Count n, Dim m) {
  Vec x[tile_rows][depth];
  for (Dim i = 0; i < n; ++i)
    for (Dim p = 0; p < depth; ++p) x[i][p] = splat(a.data[i * a.row + p * a.column]);
  // Prefetches the next rows into L2, and what follows in this row into L1.
  const auto add = [&](Dim j, auto ahead) {
    Vec row[depth];
    for (Dim p = 0; p < depth; ++p) {
      const Real* const at = b + p * b_row + j;
      prefetch_far(at + depth * b_row);
      if (ahead() > 0) prefetch_near(at + ahead());
      row[p] = load(at);
    }
    for (Dim i = 0; i < n; ++i) {
      Vec sum = load(c + i * c_row + j);
      for (Dim p = 0; p < depth; ++p) add_product(sum, x[i][p], row[p]);
      store(c + i * c_row + j, sum);
    }
  };
  constexpr Dim near = 512 / sizeof(Real);
  Dim j = 0;
  for (; j + near < m; j += lanes) add(j, std::integral_constant<Dim, near>());
  for (; j < m; j += lanes) add(j, std::integral_constant<Dim, 0>());
}

// B is stored by rows. The sums stay in C, which is in L1. Eight rows of B are read side by side:
// several streams come from memory faster than one, until there are too many to prefetch.
template <class Count>
void by_rows(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Count n, Dim k, Dim m,
             Initial initial) {
  for (Dim i = 0; i < n; ++i)
    for (Dim j = 0; j < m; ++j) c[i * c_row + j] = initial.at(i, j);
  const auto add = [&](auto depth, Dim p) {
    add_rows<depth()>(a.from(0, p), b.data + p * b.row, b.row, c, c_row, n, m);
  };
  constexpr int depth = 8;
  Dim p = 0;
  for (; p + depth <= k; p += depth) add(std::integral_constant<int, depth>(), p);
  for (; p < k; ++p) add(std::integral_constant<int, 1>(), p);
}

// B is stored by columns: they are the rows of a table. The lanes of a vector are rows of the
// table, so squares of it are transposed in registers. Loading two halves of a vector saves a stage
// of the transposition.
template <class Count>
void by_columns(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Count n, Dim k, Dim m,
                Initial initial) {
  constexpr Dim depth = lanes / 2, near = 256 / sizeof(Real);
  for (Dim j = 0; j < m; j += lanes) {
    const Real* rows[lanes];
    for (Dim r = 0; r < lanes; ++r) rows[r] = b.data + (j + r) * b.column;
    Vec sums[tile_rows];
    for (Dim i = 0; i < n; ++i)
      sums[i] = initial.data == nullptr ? splat(Real(0)) : load(initial.data + i * initial.row + j);
    Dim p = 0;
    for (; p + depth <= k; p += depth) {
      Vec square[depth];
      for (Dim r = 0; r < depth; ++r) {
        const Real* const at = rows[r + p % lanes] + p;
        prefetch_far(at + lanes * b.column);  // the same numbers of the next `lanes` rows
        prefetch_near(at + near);
        square[r] = load_halves(rows[r] + p, rows[r + depth] + p);
      }
      transpose(square);
      for (Dim i = 0; i < n; ++i)
        for (Dim r = 0; r < depth; ++r)
          add_product(sums[i], splat(a.data[i * a.row + (p + r) * a.column]), square[r]);
    }
    for (; p < k; ++p) {
      Real column[lanes];
      for (Dim r = 0; r < lanes; ++r) column[r] = rows[r][p];
      for (Dim i = 0; i < n; ++i)
        add_product(sums[i], splat(a.data[i * a.row + p * a.column]), load(column));
    }
    for (Dim i = 0; i < n; ++i) store(c + i * c_row + j, sums[i]);
  }
}

}  // namespace

void row_product(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                 Initial initial) {
  const Dim whole = m / lanes * lanes;
  // As many tasks for each thread, of whole tiles.
  const Dim tasks = threads() * (whole / (threads() * blocking.row_product_columns) + 1);
  const Dim tiles = whole / tasks / tile_columns;  // of a task, rounded down
  const Dim grain = (tiles * tasks * tile_columns < whole ? tiles + 1 : tiles) * tile_columns;
  if (whole > 0)
    parallel_ranges(whole, grain, n * k * m, [&](Dim begin, Dim end) {
      const auto multiply = [&](auto rows) {
        const auto kernel = b.column == 1 ? by_rows<decltype(rows)> : by_columns<decltype(rows)>;
        kernel(a, b.from(0, begin), c + begin, c_row, rows, k, end - begin, initial.from(0, begin));
      };
      if (n == 1)
        multiply(std::integral_constant<Dim, 1>());  // its sums and factors stay in registers
      else
        multiply(n);
    });
  if (whole < m)
    gemm_block(a, b.from(0, whole), c + whole, c_row, n, k, m - whole, initial.from(0, whole));
}

}  // namespace fledge::kernels
