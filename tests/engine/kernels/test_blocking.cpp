// Products with small blocks: every pair of block borders, over memory full of NaN.
#include "engine/kernels/blocking.h"

#include <vector>

#include "engine/array_math.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/tiles.h"
#include "tests/support/blocking.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace tests;
using kernels::Initial;
using kernels::Matrix;
using kernels::tile_columns;
using kernels::tile_rows;

namespace {

struct ProductSizes {
  Dim n, k, m;
};

// A matrix of whole numbers, stored in three ways.
struct Stored {
  Array rows, columns, spread;
  Dim n, m;

  explicit Stored(const Array& x)
      : rows(x),
        columns({x.dim(1), x.dim(0)}),
        spread(Array::full({3 * x.dim(0), 2 * x.dim(1)}, nan_number)),
        n(x.dim(0)),
        m(x.dim(1)) {
    Real *const by_columns = columns.write(), *const apart = spread.write();
    for (Dim i = 0; i < n; ++i)
      for (Dim j = 0; j < m; ++j) {
        by_columns[j * n + i] = rows[i * m + j];
        apart[i * 6 * m + 2 * j] = rows[i * m + j];
      }
  }
  std::array<Matrix, 3> all() const {
    return {Matrix{rows.data(), m, 1}, Matrix{columns.data(), 1, n},
            Matrix{spread.data(), 6 * m, 2}};
  }
};

// The product of whole numbers, exact in every number type.
Array naive(const Stored& a, const Stored& b) {
  std::vector<double> sums(static_cast<std::size_t>(a.n * b.m));
  for (Dim i = 0; i < a.n; ++i)
    for (Dim p = 0; p < a.m; ++p)
      for (Dim j = 0; j < b.m; ++j)
        sums[static_cast<std::size_t>(i * b.m + j)] +=
            value_of(a.rows[i * a.m + p]) * value_of(b.rows[p * b.m + j]);
  Array c({a.n, b.m});
  for (std::size_t i = 0; i < sums.size(); ++i) c.write()[i] = Real(sums[i]);
  return c;
}

// The numbers of `found` that are not initial + expected, or whose gap of 3 behind a row was
// written.
Dim count_wrong(const Array& found, const Array& expected, Initial initial) {
  const Dim n = expected.dim(0), m = expected.dim(1), row = m + 3;
  const Real* const c = found.data();
  const Real* const product = expected.data();
  Dim wrong = 0;
  for (Dim i = 0; i < n; ++i) {
    for (Dim j = 0; j < m; ++j) {
      const Real from = initial.data == nullptr ? Real(0) : initial.data[i * initial.row + j];
      wrong += c[i * row + j] == from + product[i * m + j] ? 0 : 1;
    }
    for (Dim j = m; j < row; ++j) wrong += isnan(c[i * row + j]) ? 0 : 1;
  }
  return wrong;
}

// Every layout of A and B with every initial C, over C and memory full of NaN. Counts the numbers
// that were compared.
struct Products {
  Dim compared = 0;

  void check(const ProductSizes& s, const Blocking& sizes, int threads) {
    const Stored a(integers({s.n, s.k}, 1)), b(integers({s.k, s.m}, 2));
    const Array product = naive(a, b), initials = integers({s.n + 1, s.m + 3}, 3);
    const Blocked blocked(sizes, threads);
    const Dim row = s.m + 3;
    Array c({s.n, row});
    for (const Matrix& left : a.all())
      for (const Matrix& right : b.all())
        for (const Initial& initial :
             {Initial{}, Initial{initials.data(), s.m}, Initial{initials.data(), 0},
              Initial{initials.data(), row}}) {
          std::fill_n(c.write(), c.size(), nan_number);
          fill_stack();
          const bool in_place = initial.row == row;
          if (in_place)
            for (Dim i = 0; i < s.n; ++i)
              std::copy_n(initial.data + i * row, s.m, c.write() + i * row);
          const Initial from = in_place ? Initial{c.data(), row} : initial;
          kernels::gemm(left, right, c.write(), row, s.n, s.k, s.m, from);
          compared += s.n * s.m;
          if (count_wrong(c, product, initial) == 0) continue;
          FAIL(count_wrong(c, product, initial)
               << " numbers are wrong: " << s.n << "x" << s.k << "x" << s.m << ", blocks "
               << sizes.block_k << " of k, " << sizes.packed_numbers << " packed"
               << ", A " << left.row << ":" << left.column << ", B " << right.row << ":"
               << right.column << ", initial row " << initial.row << ", " << threads << " threads");
        }
  }
};

std::vector<double> numbers_of(const Array& x, Dim first, Dim count) {
  std::vector<double> numbers;
  for (Dim i = first; i < first + count; ++i) numbers.push_back(value_of(x[i]));
  return numbers;
}

// How gemm() takes a product: by panels of B, by groups of panels, which are packed together, or by
// rows of A, which are read where they lie or copied.
enum class Way { panels, groups, rows, copied_rows };

// `size_a`: numbers of A. It is taken by groups if A stays in a cache and B, which has more, does not.
Blocking blocks_of_product(Dim block_k, Dim packed_columns, Way way, Dim size_a) {
  Blocking sizes = kernels::blocking;
  sizes.serial_work = 0;
  sizes.unpacked_n = way == Way::groups ? Dim{1} << 40 : 0;
  sizes.block_k = block_k;
  sizes.packed_panels = sizes.band_tiles = 2;
  sizes.packed_numbers = packed_columns * block_k;
  if (way != Way::panels) sizes.cached_numbers = way == Way::groups ? size_a : 0;
  sizes.aliased_row = way == Way::copied_rows ? 1 : 4096;
  return sizes;
}

constexpr Way all_ways[] = {Way::panels, Way::groups, Way::rows, Way::copied_rows};

}  // namespace

TEST_CASE("a product is right on both sides of every two borders of blocks") {
  Products products;
  using testing::sanitized;
  for (const Way way : all_ways)
    for (const Dim block_k : sanitized ? std::vector<Dim>{2} : std::vector<Dim>{2, 5})
      for (const Dim n : around(2 * tile_rows))
        for (const Dim k : around(block_k))
          for (const Dim m : around(4 * tile_columns))
            for (const int threads : sanitized ? std::vector<int>{2} : std::vector<int>{1, 2})
              products.check({n, k, m}, blocks_of_product(block_k, 4 * tile_columns, way, n * k),
                             threads);
  INFO(products.compared << " numbers compared");
  CHECK(products.compared > 100'000);
}

TEST_CASE("a product is right on both sides of the number of terms that are added in one chain") {
  Products products;
  for (const Way way : all_ways)
    for (const Dim sum_k : {1, 3})
      for (const Dim n : around(tile_rows))
        for (const Dim k : around(sum_k))
          for (const Dim m : {Dim{1}, tile_columns + 1}) {
            Blocking sizes = blocks_of_product(2, 4 * tile_columns, way, n * k);
            sizes.sum_k = sum_k;
            if (k > 0) products.check({n, k, m}, sizes, 2);
          }
  CHECK(products.compared > 10'000);
}

TEST_CASE("a product is right on both sides of the work that is parallel") {
  Products products;
  for (const Way way : all_ways)
    for (const Dim n : around(tile_rows))
      for (const Dim k : around(3))
        for (const Dim m : around(tile_columns))
          for (const Dim serial : {Dim{0}, n * k * m, n * k * m + 1}) {
            Blocking sizes = blocks_of_product(3, tile_columns, way, n * k);
            sizes.serial_work = serial;
            products.check({n, k, m}, sizes, 2);
          }
  CHECK(products.compared > 100'000);
}

TEST_CASE("a product is right on both sides of the height that is packed, for 1 and 50 threads") {
  Products products;
  const Dim k = 5;
  for (const Dim width : around(2 * tile_columns))
    for (const Dim n : around(2 * tile_rows))
      for (const Dim cached : {k * width - 1, k * width})
        for (const Dim serial_work : {Dim{0}, Dim{1} << 40})
          for (const int threads : {1, 50}) {
            Blocking sizes = blocks_of_product(2, 4 * tile_columns, Way::panels, n * k);
            sizes.unpacked_n = 2 * tile_rows;
            sizes.packed_panels = 1;
            sizes.cached_numbers = cached;
            sizes.serial_work = serial_work;
            products.check({n, k, width}, sizes, threads);
          }
  CHECK(products.compared >= 71'442);  // as many with the smallest tile: SSE2, dual numbers
}

TEST_CASE("every way and every number of threads computes the bits of one block") {
  const Dim n = 3 * tile_rows + 1, k = 21, m = 5 * tile_columns + 5;
  const Array a = uniform({n, k}, 1), b = uniform({k, m}, 2), start = uniform({n, m}, 3);
  const auto computed = [&](const Blocking& sizes, int threads) {
    const Blocked blocked(sizes, threads);
    Array c = start.clone();
    kernels::gemm({a.data(), k, 1}, {b.data(), m, 1}, c.write(), m, n, k, m, {c.data(), m});
    return c;
  };
  Blocking one_block = kernels::blocking;
  one_block.serial_work = n * k * m + 1;
  const Array expected = computed(one_block, 1);
  for (const Way way : all_ways)
    for (const Dim block_k : {4, 512})
      for (const int threads : {1, 2, 7, 20}) {
        CAPTURE(static_cast<int>(way), block_k, threads);
        CHECK(
            same_bits(computed(blocks_of_product(block_k, 30 * tile_columns, way, n * k), threads),
                      expected));
      }
}

TEST_CASE("a product of many matrices is that of each, in small blocks") {
  for (const Dim n : around(tile_rows))
    for (const Dim k : around(3))
      for (const Dim m : around(tile_columns)) {
        const Array a = integers({2, 1, n, k}, 1), b = integers({3, k, m}, 2);
        const Blocked blocked(blocks_of_product(3, tile_columns, Way::rows, 0), 2);
        const Array c = product(a, b);
        REQUIRE((c.shape() == Shape{2, 3, n, m}));
        for (Dim i = 0; i < 6; ++i) {
          const Array left({n, k}, numbers_of(a, i / 3 * n * k, n * k)),
              right({k, m}, numbers_of(b, i % 3 * k * m, k * m));
          REQUIRE(same_numbers(Array({n, m}, numbers_of(c, i * n * m, n * m)),
                               naive(Stored(left), Stored(right))));
        }
      }
}

TEST_CASE("a product is right with blocks of the real size, two in each direction") {
  const Blocking& sizes = kernels::blocking;
  const Dim n = tile_rows + 1, k = std::max(2 * sizes.block_k, sizes.aliased_row);
  const Dim m = sizes.packed_numbers / k + 1;
  const Stored a(integers({n, k}, 1)), b(integers({k, m}, 2));
  Array c = Array::full({n, m + 3}, nan_number);
  kernels::gemm(a.all()[0], b.all()[0], c.write(), m + 3, n, k, m);
  CHECK(count_wrong(c, naive(a, b), {}) == 0);
}
