// The product of few rows against a loop over numbers, and against gemm's tiles, to the bit.
#include "engine/kernels/row_product.h"

#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/blocking.h"
#include "tests/support/catch.h"

using namespace tests;
using kernels::Initial;
using kernels::lanes;
using kernels::Matrix;
using kernels::most_product_rows;

namespace {

// A (n, k) inside larger memory, by rows or by columns.
Matrix part_of(const Array& x, bool by_columns) {
  const Dim row = x.dim(1);
  return by_columns ? Matrix{x.data() + row + 1, 1, row} : Matrix{x.data() + row + 1, row, 1};
}

// So many numbers, some of them 0, −0 and as small as a sum of them can round away.
Array numbers(Dim rows, Dim columns, std::uint64_t seed) {
  Array x = uniform({rows + 2, columns + 3}, seed, -1, 1);
  for (Dim i = 0; i < x.size(); i += 7) x.write()[i] = Real(i % 2 == 0 ? 0.0 : -0.0);
  for (Dim i = 3; i < x.size(); i += 11) x.write()[i] = x[i] * Real(1e-8);
  return x;
}

// Rows of tiles compute row i of C, each from one row of A, as in any larger product: with so many
// rows more below it, gemm() packs B and multiplies tiles.
Array tiles(const Matrix& a, const Matrix& b, Dim n, Dim k, Dim m, Initial initial) {
  const Dim rows = n + 2 * kernels::tile_rows;
  Array tall({rows, k}), c = Array::full({rows, m}, nan_number);
  Array start = Array::zeros({rows, m});
  for (Dim i = 0; i < rows; ++i) {
    const Dim from = i < n ? i : 0;
    for (Dim p = 0; p < k; ++p) tall.write()[i * k + p] = a.data[from * a.row + p * a.column];
    for (Dim j = 0; j < m && initial.data != nullptr; ++j)
      start.write()[i * m + j] = initial.data[from * initial.row + j];
  }
  Blocking sizes = kernels::blocking;
  sizes.serial_work = 0;
  const Blocked blocked(sizes, 1);
  kernels::gemm({tall.data(), k, 1}, b, c.write(), m, rows, k, m,
                {initial.data == nullptr ? nullptr : start.data(), m});
  Array first({n, m});
  std::copy_n(c.data(), n * m, first.write());
  return first;
}

// C in rows of m + 3 numbers, over NaN. What lies in the gaps must stay there.
Array multiplied(const Matrix& a, const Matrix& b, Dim n, Dim k, Dim m, Initial initial) {
  Array wide = Array::full({n, m + 3}, nan_number), c({n, m});
  fill_stack();
  kernels::row_product(a, b, wide.write(), m + 3, n, k, m, initial);
  Dim overwritten = 0;
  for (Dim i = 0; i < n; ++i) {
    std::copy_n(wide.data() + i * (m + 3), m, c.write() + i * m);
    for (Dim j = m; j < m + 3; ++j) overwritten += isnan(wide[i * (m + 3) + j]) ? 0 : 1;
  }
  REQUIRE(overwritten == 0);
  return c;
}

// Every layout and every initial C with this many threads and columns per task.
void check(Dim n, Dim k, Dim m, int threads, Dim columns) {
  const Array left = numbers(n, k, 1), right = numbers(k, m, 2), start = numbers(n, m, 3);
  const Array left_turned = numbers(k, n, 1), right_turned = numbers(m, k, 2);
  for (const bool a_turned : {false, true})
    for (const bool b_turned : {false, true})
      for (const Initial& initial :
           {Initial{}, Initial{start.data(), m + 3}, Initial{start.data(), 0}}) {
        const Matrix a = part_of(a_turned ? left_turned : left, a_turned);
        const Matrix b = part_of(b_turned ? right_turned : right, b_turned);
        const Array expected = tiles(a, b, n, k, m, initial);
        Blocking sizes = kernels::blocking;
        sizes.serial_work = 0;
        sizes.row_product_columns = columns;
        const Blocked blocked(sizes, threads);
        INFO(n << "x" << k << "x" << m << ", " << threads << " threads, tasks of " << columns
               << ", A by columns: " << a_turned << ", B: " << b_turned << ", initial row "
               << (initial.data == nullptr ? -1 : initial.row));
        REQUIRE(same_bits(multiplied(a, b, n, k, m, initial), expected));
      }
}

}  // namespace

TEST_CASE("row_product has the bits of tiles for one row, however B lies") {
  for (const Dim k : {1, 7, 8, 9, 16, 17, 33, 300})
    for (const Dim m : {Dim{1}, lanes - 1, lanes, lanes + 1, 3 * lanes, 5 * lanes + 3, Dim{130}})
      if (m > 0)
        for (const int threads : {1, 2, 3}) check(1, k, m, threads, 2 * lanes);
}

TEST_CASE("row_product has the bits of tiles for every number of rows") {
  for (Dim n = 1; n <= most_product_rows; ++n)
    for (const Dim k : {1, 8, 19})
      for (const Dim m : {lanes - 1, 2 * lanes + 1})
        if (m > 0) check(n, k, m, 2, lanes);
}

TEST_CASE("row_product adds to C itself") {
  const Dim n = std::min<Dim>(3, most_product_rows);  // two with SSE2 and dual numbers
  const Array a = uniform({n, 20}, 1), b = uniform({20, 37}, 2), start = uniform({n, 37}, 3);
  for (const bool turned : {false, true}) {
    const Matrix right = turned ? Matrix{b.data(), 1, 20} : Matrix{b.data(), 37, 1};
    Array c = start.clone();
    kernels::row_product({a.data(), 20, 1}, right, c.write(), 37, n, 20, 37, {c.data(), 37});
    CHECK(same_bits(c, multiplied({a.data(), 20, 1}, right, n, 20, 37, {start.data(), 37})));
  }
}

TEST_CASE("gemm of few rows is the same on both sides of the size that a cache holds") {
  for (const Dim n : around(4)) {
    const Dim k = 9, m = 2 * kernels::tile_columns;
    const Array a = uniform({n, k}, 1), b = uniform({k, m}, 2);
    const Array expected = tiles({a.data(), k, 1}, {b.data(), m, 1}, n, k, m, {});
    for (const Dim cached : {k * m - 1, k * m}) {
      Blocking sizes = kernels::blocking;
      sizes.serial_work = 0;
      sizes.cached_numbers = cached;
      const Blocked blocked(sizes, 2);
      Array c = Array::full({n, m}, nan_number);
      kernels::gemm({a.data(), k, 1}, {b.data(), m, 1}, c.write(), m, n, k, m);
      CHECK(same_bits(c, expected));
    }
  }
}
