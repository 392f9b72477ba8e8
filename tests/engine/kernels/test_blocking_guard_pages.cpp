// No kernel touches a number beside those it is given: a page that must not be touched begins there.
// A read past the end changes no result, so no other test sees it without AddressSanitizer.
#include <memory>
#include <utility>
#include <vector>

#include "engine/kernels/attention.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/layer_norm.h"
#include "engine/kernels/row_product.h"
#include "engine/kernels/rows.h"
#include "engine/kernels/sums.h"
#include "engine/kernels/tiles.h"
#include "engine/masks.h"
#include "tests/support/blocking.h"
#include "tests/support/catch.h"
#include "tests/support/guarded.h"

using namespace tests;
using kernels::Initial;
using kernels::lanes;
using kernels::Matrix;
using kernels::RowStats;
using kernels::tile_columns;
using kernels::tile_rows;

namespace {

using Inputs = std::vector<const Real*>;
using Outputs = std::vector<Real*>;

// Calls kernel(inputs, outputs) in ordinary memory, then with a guard behind each input and each
// output, then before each. The outputs, of so many numbers, must have the same bits.
template <class Kernel>
void check_guarded(const std::vector<Array>& inputs, const std::vector<Dim>& sizes, Kernel kernel) {
  std::vector<Array> expected;
  Inputs from;
  Outputs to;
  for (const Array& x : inputs) from.push_back(x.data());
  for (const Dim size : sizes) expected.push_back(Array::full({size}, nan_number));
  for (Array& y : expected) to.push_back(y.write());
  kernel(from, to);
  for (const Guard guard : {Guard::behind, Guard::before}) {
    std::vector<std::unique_ptr<Guarded<Real>>> guarded;
    from.clear();
    to.clear();
    for (const Array& x : inputs) {
      guarded.push_back(std::make_unique<Guarded<Real>>(x, guard));
      from.push_back(guarded.back()->data());
    }
    for (const Dim size : sizes) {
      guarded.push_back(std::make_unique<Guarded<Real>>(size, guard));
      to.push_back(guarded.back()->data());
      std::fill_n(to.back(), size, nan_number);
    }
    kernel(from, to);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Array found({sizes[i]});
      std::copy_n(to[i], sizes[i], found.write());
      REQUIRE(same_bits(found, expected[i]));
    }
  }
}

// How a matrix (n, m) lies in memory: by rows, by columns, or spread.
struct Layout {
  Dim row, column;
  Array numbers(Dim n, Dim m, std::uint64_t seed) const {
    return uniform({n == 0 || m == 0 ? 0 : (n - 1) * row + (m - 1) * column + 1}, seed);
  }
  Matrix at(const Real* data) const { return {data, row, column}; }
};
std::vector<Layout> layouts(Dim n, Dim m) { return {{m, 1}, {1, n}, {2 * m + 1, 2}}; }

// Calls product(a, b, c, n, k, m, initial) with every layout and every initial C.
template <class Product>
void check_products(Dim n, Dim k, Dim m, const std::vector<Layout>& layouts_of_b, Product product) {
  for (const Layout& a : layouts(n, k))
    for (const Layout& b : layouts_of_b)
      for (const Dim initial_row : {Dim{-1}, Dim{0}, m}) {
        INFO(n << "x" << k << "x" << m << ", A " << a.row << ":" << a.column << ", B " << b.row
               << ":" << b.column << ", initial row " << initial_row);
        const Array start = uniform({initial_row == m ? n * m : m}, 3);
        check_guarded(
            {a.numbers(n, k, 1), b.numbers(k, m, 2), start}, {n * m},
            [&](const Inputs& in, const Outputs& out) {
              const Initial initial = initial_row < 0 ? Initial{} : Initial{in[2], initial_row};
              product(a.at(in[0]), b.at(in[1]), out[0], n, k, m, initial);
            });
      }
}

std::vector<Dim> widths() {
  return {1, lanes - 1, lanes, lanes + 1, tile_columns, tile_columns + 1, 3 * tile_columns + 2};
}

}  // namespace

TEST_CASE("guard pages: gemm reads A, B and the initial C, and nothing else") {
  constexpr Dim large = Dim{1} << 40;
  for (const auto& [cached, unpacked] : {std::pair<Dim, Dim>{0, 0}, {large, 0}, {large, large}})
    for (const Dim serial : {Dim{0}, large}) {
      Blocking sizes = kernels::blocking;
      sizes.cached_numbers = cached;
      sizes.serial_work = serial;
      sizes.unpacked_n = unpacked;
      sizes.block_k = lanes;
      sizes.sum_k = 2 * lanes;
      const Blocked blocked(sizes);
      for (const Dim n : {Dim{1}, tile_rows + 1})
        for (const Dim k : {Dim{1}, 2 * lanes + 1})
          for (const Dim m : widths())
            if (m > 0)
              check_products(n, k, m, layouts(k, m),
                             [](const Matrix& a, const Matrix& b, Real* c, Dim rows, Dim depth,
                                Dim columns, Initial initial) {
                               kernels::gemm(a, b, c, columns, rows, depth, columns, initial);
                             });
    }
}

TEST_CASE("guard pages: row_product reads A, B and the initial C, and nothing else") {
  for (const Dim n : {Dim{1}, kernels::most_product_rows})
    for (const Dim k : {Dim{1}, lanes, 2 * lanes + 1})
      for (const Dim m : widths())
        if (m > 0)
          check_products(n, k, m, {{m, 1}, {1, k}},
                         [](const Matrix& a, const Matrix& b, Real* c, Dim rows, Dim depth,
                            Dim columns, Initial initial) {
                           kernels::row_product(a, b, c, columns, rows, depth, columns, initial);
                         });
}

TEST_CASE("guard pages: softmax and layer norm read their rows, and nothing else") {
  std::vector<Dim> lengths{100, 300};
  for (Dim n = 1; n <= 4 * lanes + 1; ++n) lengths.push_back(n);
  for (const Dim n : lengths)
    for (const Dim rows : {1, 5}) {
      INFO(rows << " rows of " << n);
      const Array x = uniform({rows * n}, 1), dy = uniform({rows * n}, 2), gain = uniform({n}, 3),
                  bias = uniform({n}, 4), stats = uniform({rows * RowStats::size}, 5, 1, 2);
      std::vector<unsigned char> table(static_cast<std::size_t>(rows * n));
      for (std::size_t i = 0; i < table.size(); ++i) table[i] = i % 3 != 1;
      const Guarded<unsigned char> behind(table), before(table, Guard::before);
      for (const unsigned char* visible :
           {static_cast<unsigned char*>(nullptr), behind.data(), before.data()}) {
        check_guarded({x}, {rows * n}, [&](const Inputs& in, const Outputs& out) {
          kernels::softmax_rows(in[0], visible, out[0], rows, n);
        });
        check_guarded({x, dy}, {rows * n}, [&](const Inputs& in, const Outputs& out) {
          kernels::softmax_rows_vjp(in[0], in[1], visible, out[0], rows, n);
        });
      }
      check_guarded({x, gain, bias}, {rows * n, rows * RowStats::size},
                    [&](const Inputs& in, const Outputs& out) {
                      kernels::layer_norm_rows(in[0], in[1], in[2], out[1], out[0], 1e-5, rows, n);
                    });
      check_guarded({x, stats, gain, dy}, {rows * n, n, n},
                    [&](const Inputs& in, const Outputs& out) {
                      kernels::layer_norm_rows_vjp(in[0], in[1], in[2], in[3], out[0], out[1],
                                                   out[2], rows, n);
                    });
    }
}

TEST_CASE("guard pages: sums read their numbers, and nothing else") {
  for (Dim n = 1; n <= 20 * lanes + 1; n += 1 + n / lanes) {
    INFO(n << " numbers");
    const Array a = uniform({n}, 1), b = uniform({n}, 2);
    check_guarded({a, b}, {3}, [n](const Inputs& in, const Outputs& out) {
      out[0][0] = kernels::sum(in[0], n);
      out[0][1] = kernels::dot(in[0], in[1], n);
      out[0][2] = Real(kernels::sum_of_squares(in[0], n));
    });
    for (const Dim rows : {1, 3, 40})
      check_guarded({uniform({2 * rows * n}, 3)}, {2 * n},
                    [&](const Inputs& in, const Outputs& out) {
                      kernels::sum_columns(in[0], out[0], 2, rows, n);
                    });
  }
}

TEST_CASE("guard pages: attention reads q, k, v, y and dy where a head lies, and nothing else") {
  for (const Dim block : {tile_rows + 1, kernels::blocking.block_queries})
    for (const Mask& mask : {Mask(), causal(), window(3), padding({0})})
      for (const Dim D : {Dim{1}, Dim{3}, Dim{4}, Dim{8}, Dim{9}, lanes + 1, 2 * tile_columns})
        for (const Dim n : {Dim{1}, lanes, tile_rows + 3})
          for (const Dim m : {Dim{1}, lanes + 1, 2 * tile_columns + 3})
            for (const Dim step : {D, D + 2}) {
              INFO(n << " queries, " << m << " keys of size " << D << ", " << step << " apart, "
                     << block << " in a block");
              Blocking small = kernels::blocking;
              small.block_queries = small.block_keys = small.small_head_queries = block;
              const Blocked blocked(small);
              const PoolVector<KeyRange> spans = mask.spans({1, n, m}, "test");
              const Guarded<KeyRange> behind(spans), before(spans, Guard::before);
              const Dim queries = (n - 1) * step + D, keys = (m - 1) * step + D;
              for (const KeyRange* seen : {behind.data(), before.data()})
                check_guarded(
                    {uniform({queries}, 1), uniform({keys}, 2), uniform({keys}, 3),
                     uniform({queries}, 4)},
                    {queries, 2 * n, n, queries, keys, keys},
                    [&](const Inputs& in, const Outputs& out) {
                      const kernels::HeadSizes sizes{n, m, D, Real(0.5), seen};
                      const kernels::StridedRows q{in[0], step}, k{in[1], step}, v{in[2], step},
                          dy{in[3], step}, y{out[0], step};
                      const Dim query_blocks = kernels::attention_blocks(D, n);
                      for (Dim b = 0; b < query_blocks; ++b)
                        kernels::attention_head(sizes, b, q, k, v, {out[0], step}, out[1]);
                      for (Dim b = 0; b < query_blocks; ++b)
                        for (Dim c = 0; c < kernels::attention_blocks(D, m); ++c)
                          kernels::attention_head_vjp(sizes, b, c, q, k, v, y, dy, out[1], out[2],
                                                      {out[3], step}, {out[4], step},
                                                      {out[5], step});
                    });
            }
}
