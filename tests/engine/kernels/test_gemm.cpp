// A product has the bits of the plain loop: in every way that gemm() takes it, on every thread, for
// every layout of A, B and the initial C, on both sides of every border between blocks.
#include "engine/kernels/gemm.h"

#include <cmath>
#include <vector>

#include "engine/kernels/tiles.h"
#include "tests/engine/kernels/guarded.h"
#include "tests/support/sanitized.h"

using namespace tests;
using kernels::Initial;
using kernels::lanes;
using kernels::Matrix;
using kernels::Native;
using kernels::tile_columns;
using kernels::tile_rows;

namespace {

// sum + a·b as the library rounds it: once, where the processor has one instruction for both.
Native plain_step(Native sum, Native a, Native b) {
  static const bool is_fused = [] {
    const double eps = value_of(std::numeric_limits<Real>::epsilon());
    const Real x = Real(1 + eps), start = Real(-1 - 2 * eps);  // x² is 1 + 2·eps + eps²
    Real c;
    kernels::gemm({&x, 0, 0}, {&x, 0, 0}, &c, 1, 1, 1, 1, {&start, 0});
    return value_of(c) != 0;
  }();
  if (is_fused) return std::fma(a, b, sum);
  const volatile Native product = a * b;
  return sum + product;
}
#if defined(FLEDGE_DUAL)
Real plain_step(Real sum, Real a, Real b) {
  return {plain_step(sum.value, a.value, b.value),
          plain_step(plain_step(sum.tangent, a.tangent, b.value), a.value, b.tangent)};
}
#endif

// initial + A·B. The sums of every blocking.sum_k products are added up one after the other.
Array plain_product(const Array& a, const Array& b, const Initial& initial) {
  const Dim n = a.dim(0), k = a.dim(1), m = b.dim(1), most = kernels::blocking.sum_k;
  Array c({n, m});
  Real* const to = c.write();
  const Real *const left = a.data(), *const right = b.data();
  for (Dim i = 0; i < n; ++i)
    for (Dim j = 0; j < m; ++j) {
      Real total = initial.data == nullptr ? Real(0) : initial.data[i * initial.row + j];
      for (Dim first = 0; first < k; first += most) {
        Real sum = first == 0 ? total : Real(0);
        for (Dim p = first; p < std::min(k, first + most); ++p)
          sum = plain_step(sum, left[i * k + p], right[p * m + j]);
        total = first == 0 ? sum : total + sum;
      }
      to[i * m + j] = total;
    }
  return c;
}

// Numbers of every kind that is finite: 0, -0, subnormal ones and such as a sum rounds away.
Array numbers(const Shape& shape, std::uint64_t seed) {
  Array x = with_tangents(uniform(shape, seed), uniform(shape, seed + 10));
  Real* const to = x.write();
  for (Dim i = 0; i < x.size(); ++i) {
    if (i % 11 == 3) to[i] *= Real(1e-8);
    if (i % 13 == 5) to[i] = Real(3) * std::numeric_limits<Real>::denorm_min();
    if (i % 7 == 1) to[i] = Real(i % 2 == 0 ? 0.0 : -0.0);
  }
  return x;
}

// How a matrix (n, m) is stored: by rows, by columns, or with other numbers in between.
struct Layout {
  Dim row, column;

  Array stored(const Array& x) const {
    const Dim n = x.dim(0), m = x.dim(1);
    Array memory =
        Array::full({x.size() == 0 ? 0 : (n - 1) * row + (m - 1) * column + 1}, nan_number);
    Real* const to = memory.write();
    const Real* from = x.data();
    for (Dim i = 0; i < n; ++i)
      for (Dim j = 0; j < m; ++j) to[i * row + j * column] = *from++;
    return memory;
  }
};
std::array<Layout, 3> layouts(Dim n, Dim m) { return {{{m, 1}, {1, n}, {2 * m + 1, 2}}}; }

struct Way {
  std::string name;
  Blocking sizes;
};

// The ways of gemm(): on one thread, of B as it lies or packed; by panels of B; by groups of panels
// that are packed together; by rows of A that are read where they lie or copied. In the last four
// few rows of A are a row_product(). With the default sizes large products alone have many blocks.
std::vector<Way> ways_in_blocks(Dim block_k, Dim size_a) {
  constexpr Dim large = Dim{1} << 40;
  std::vector<Way> all;
  const auto add = [&](const char* name, Dim serial, Dim unpacked, Dim cached, Dim aliased) {
    Way way{name + (" in blocks of " + std::to_string(block_k)), kernels::blocking};
    way.sizes.serial_work = serial;
    way.sizes.unpacked_n = unpacked;
    way.sizes.cached_numbers = cached;
    way.sizes.aliased_row = aliased;
    way.sizes.block_k = block_k;
    way.sizes.packed_panels = way.sizes.band_tiles = 2;
    way.sizes.packed_numbers = 4 * tile_columns * block_k;
    way.sizes.row_product_columns = 2 * lanes;
    all.push_back(way);
  };
  add("B as it lies", large, large, large, 4096);
  add("B packed", large, 0, large, 4096);
  add("panels", 0, 0, large, 4096);
  add("groups of panels", 0, large, size_a, 4096);
  add("rows", 0, 0, 0, 4096);
  add("rows, copied", 0, 0, 0, 1);
  return all;
}

// Each way with every layout of A and B; in turn with 1, 2 and 5 threads, and with no initial C,
// one of rows side by side, one row for all, and C itself.
void check_product(const Array& a, const Array& b, const std::vector<Way>& ways) {
  const Dim n = a.dim(0), k = a.dim(1), m = b.dim(1), row = m + 3;
  const Array start = numbers({n + 1, row}, 3);
  const std::array<Initial, 4> initials{
      Initial{}, {start.data(), m}, {start.data(), 0}, {start.data(), row}};
  std::array<Array, 4> expected;
  for (std::size_t i = 0; i < 4; ++i) expected[i] = plain_product(a, b, initials[i]);
  std::size_t turn = static_cast<std::size_t>(n + k + m);
  for (const Layout& left : layouts(n, k))
    for (const Layout& right : layouts(k, m)) {
      const std::vector<Array> inputs{left.stored(a), right.stored(b), start};
      for (const Way& way : ways) {
        const std::size_t kind = turn % 4;
        const int threads = std::array{1, 1, 2, 5}[turn++ / 4 % 4];
        const Blocked blocked(way.sizes, threads);
        INFO(n << "x" << k << "x" << m << ", " << way.name << ", " << threads << " threads, A "
               << left.row << ":" << left.column << ", B " << right.row << ":" << right.column
               << ", initial C " << kind);
        const Array found = run_guarded(
            inputs, {n * m == 0 ? 0 : n * row - 3}, [&](const Inputs& in, const Outputs& out) {
              Initial initial{kind == 0 ? nullptr : in[2], initials[kind].row};
              if (kind == 3) {
                for (Dim i = 0; i < n; ++i) std::copy_n(in[2] + i * row, m, out[0] + i * row);
                initial.data = out[0];
              }
              kernels::gemm({in[0], left.row, left.column}, {in[1], right.row, right.column},
                            out[0], row, n, k, m, initial);
            })[0];
        Array product({n, m});
        const Real* from = found.data();
        Real* to = product.write();
        Dim overwritten = 0;
        for (Dim i = 0, end = found.size(); i < end; ++i, ++from)
          if (i % row < m)
            *to++ = *from;
          else
            overwritten += isnan(*from) ? 0 : 1;
        REQUIRE(overwritten == 0);  // between the rows of C
        REQUIRE(same_bits_or_nan(product, expected[kind]));
      }
    }
}

}  // namespace

TEST_CASE("a product has the bits of the plain loop on both sides of every border of blocks") {
  std::vector<Dim> heights{0, 1, 3}, widths{1, lanes, lanes + 1, tile_columns - 1};
  for (const Dim n : around(tile_rows)) heights.push_back(n);
  for (const Dim m : around(4 * tile_columns)) widths.push_back(m);
  if (testing::sanitized) heights = {3, tile_rows + 1};
  for (const Dim block_k : testing::sanitized ? std::vector<Dim>{2} : std::vector<Dim>{2, 5})
    for (const Dim n : heights)
      for (const Dim k : {Dim{0}, Dim{1}, block_k, block_k + 1, 2 * block_k + 1, 2 * lanes + 3})
        for (const Dim m : widths)
          check_product(numbers({n, k}, 1), numbers({k, m}, 2), ways_in_blocks(block_k, n * k));
}

TEST_CASE("a product has the bits of the plain loop for every height and width of a tile") {
  for (Dim n = 1; n <= tile_rows; ++n)
    for (Dim m = 0; m <= tile_columns; m += testing::sanitized ? 5 : 1)
      check_product(numbers({n, 7}, 1), numbers({7, m}, 2), ways_in_blocks(5, n * 7));
}

TEST_CASE("a long product is cut into sums of sum_k products, which are added up") {
  const Dim default_k = kernels::blocking.sum_k;
  for (const Dim sum_k : {Dim{1}, Dim{3}, default_k})
    for (const Dim k : around(sum_k))
      for (const Dim n : {Dim{1}, tile_rows + 1}) {
        Blocking sizes = kernels::blocking;
        sizes.sum_k = sum_k;
        const Blocked blocked(sizes);
        const bool is_short = sum_k < default_k;
        check_product(numbers({n, k}, 1), numbers({k, is_short ? tile_columns + 1 : 5}, 2),
                      is_short ? ways_in_blocks(2, n * k) : std::vector<Way>{{"default", sizes}});
      }
}

TEST_CASE("infinities, NaN and zeros are multiplied as in the plain loop") {
  const Dim n = tile_rows + 1, k = 9, m = 2 * tile_columns + 3;
  for (const double special : {infinity, -infinity, quiet_nan})
    for (const bool in_a : {false, true}) {
      Array a = numbers({n, k}, 1), b = numbers({k, m}, 2);
      for (const Dim at : {Dim{4}, Dim{20}}) (in_a ? a : b).write()[at] = Real(special);
      for (Dim i = 0; i < n; i += 2) a.write()[i * k] = Real(0);
      check_product(a, b, ways_in_blocks(5, n * k));
    }
}

TEST_CASE("a product in blocks of the real sizes has the bits of the plain loop") {
  // Around the blocks of k, the rows and columns of a task, and what is packed at once.
  std::vector<std::array<Dim, 3>> all = {
      {257, 3, 130}, {7, 257, 40},   {97, 30, 97},   {225, 5, 33},  {16, 3, 2049},
      {16, 3, 8200}, {2, 300, 1030}, {1, 513, 1100}, {100, 600, 1}, {200, 3, 1100}};
  const Blocking& sizes = kernels::blocking;
  if (!testing::sanitized) {
    const std::vector<std::array<Dim, 3>> more = {{129, 129, 129}, {130, 1, 257},  {16, 20, 4096},
                                                  {16, 20, 4097},  {30, 17, 8200}, {200, 33, 1100},
                                                  {13, 513, 530},  {13, 70, 1030}, {3, 2000, 5}};
    all.insert(all.end(), more.begin(), more.end());
    const Dim k = std::max(2 * sizes.block_k, sizes.aliased_row);
    all.push_back({tile_rows + 1, k, sizes.packed_numbers / k + 1});
  }
  for (const auto& [n, k, m] : all)
    check_product(numbers({n, k}, 1), numbers({k, m}, 2), {{"default", sizes}});
}

TEST_CASE("gemm adds more ones than the largest whole number that float can increase by one") {
  const Dim k = (Dim{1} << 24) + (Dim{1} << 16);
  const Real ones[] = {Real(1), Real(1), Real(1)};
  Real c[6];  // every number of A and B is the same one, which is 0 numbers further on
  kernels::gemm({ones, 0, 0}, {ones, 0, 1}, c, 3, 2, k, 3);
  for (const Real x : c) CHECK(value_of(x) == static_cast<double>(k));
}
