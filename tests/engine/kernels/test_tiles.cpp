#include "engine/kernels/tiles.h"

#include <cstring>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/tangents.h"

using namespace tests;
using kernels::tile_columns;
using kernels::tile_rows;

namespace {

// The tile of A (rows, k) and B (k, columns) added to or put over `start` (rows, columns).
struct Product {
  Dim rows, k, columns;
  Array a, b, start;

  Product(Dim n, Dim depth, Dim m, Array (*draw)(const Shape&, std::uint64_t))
      : rows(n),
        k(depth),
        columns(m),
        a(draw({n, depth}, 1)),
        b(draw({depth, m}, 2)),
        start(draw({n, m}, 3)) {}

  // A, or its transpose in memory: a tile reads both where they lie.
  Array stored_a(bool transposed) const {
    if (!transposed) return a;
    Array turned({k, rows});
    for (Dim i = 0; i < a.size(); ++i) turned.write()[i % k * rows + i / k] = a[i];
    return turned;
  }
  std::vector<Real> panel() const {
    std::vector<Real> packed(static_cast<std::size_t>(k * tile_columns));
    kernels::pack_panels({b.data(), columns, 1}, k, columns, packed.data());
    return packed;
  }

  // C in rows of columns + 3 numbers, of which the last three must stay as they are.
  Array run(bool transposed, bool add, Dim cut) const {
    const Dim row = columns + 3;
    Array wide = Array::full({rows, row}, Real(99)), c({rows, columns});
    for (Dim i = 0; i < rows; ++i)
      std::copy_n(start.data() + i * columns, columns, wide.write() + i * row);
    const Array left = stored_a(transposed);
    const std::vector<Real> right = panel();
    for (const auto& [begin, end] : {std::pair<Dim, Dim>{0, cut}, {cut, k}}) {
      if (begin == end && begin > 0) continue;
      const Dim a_step = transposed ? rows : 1;
      const kernels::Tile tile{left.data() + begin * a_step,
                               transposed ? 1 : k,
                               a_step,
                               right.data() + begin * tile_columns,
                               tile_columns,
                               end - begin,
                               wide.write(),
                               row,
                               columns,
                               {add || begin > 0 ? wide.data() : nullptr, row}};
      kernels::multiply(rows, tile);
    }
    for (Dim i = 0; i < rows; ++i) {
      std::copy_n(wide.data() + i * row, columns, c.write() + i * columns);
      for (Dim j = columns; j < row; ++j) REQUIRE(value_of(wide[i * row + j]) == 99);
    }
    return c;
  }

  Array naive(bool add) const {
    Array c({rows, columns});
    for (Dim i = 0; i < rows; ++i)
      for (Dim j = 0; j < columns; ++j) {
        Real sum = add ? start[i * columns + j] : Real(0);
        for (Dim p = 0; p < k; ++p) sum += a[i * k + p] * b[p * columns + j];
        c.write()[i * columns + j] = sum;
      }
    return c;
  }
};

Array any(const Shape& shape, std::uint64_t seed) {
  return with_tangents(uniform(shape, seed), uniform(shape, seed + 10));
}
Array whole(const Shape& shape, std::uint64_t seed) {
  return with_tangents(integers(shape, seed), integers(shape, seed + 10));
}

}  // namespace

TEST_CASE("a tile of every height and width is its sum of products, exactly") {
  for (Dim rows = 1; rows <= tile_rows; ++rows)
    for (Dim columns = 1; columns <= tile_columns; ++columns)
      for (const Dim k : {0, 1, 2, 19})
        for (const bool add : {false, true}) {
          const Product product(rows, k, columns, whole);
          const Array expected = product.naive(add);
          INFO(rows << " x " << k << " x " << columns << (add ? ", added" : ""));
          REQUIRE(same_bits(product.run(false, add, k), expected));
          REQUIRE(same_bits(product.run(true, add, k), expected));
        }
}

TEST_CASE("a sum cut in two has the same bits, and so has a sum with A transposed") {
  for (Dim rows = 1; rows <= tile_rows; ++rows)
    for (const Dim columns : {Dim{1}, kernels::lanes, tile_columns - 1, tile_columns})
      for (const bool add : {false, true}) {
        const Product product(rows, 23, columns == 0 ? 1 : columns, any);
        const Array whole = product.run(true, add, 23);
        INFO(rows << " rows, " << columns << " columns");
        for (const Dim cut : {1, 2, 11, 22})
          for (const bool transposed : {false, true})
            REQUIRE(same_bits(product.run(transposed, add, cut), whole));
        REQUIRE(same_bits(product.run(false, add, 23), whole));
      }
}

TEST_CASE("a number of a tile does not depend on the tile around it, to the bit") {
  const Product full(tile_rows, 23, tile_columns, any);
  const Array all = full.run(true, false, 23);
  for (Dim rows = 1; rows <= tile_rows; ++rows)
    for (Dim columns = 1; columns <= tile_columns; ++columns) {
      Product part(rows, 23, columns, any);
      Array b({23, columns}), expected({rows, columns});
      for (Dim p = 0; p < 23; ++p)
        std::copy_n(full.b.data() + p * tile_columns, columns, b.write() + p * columns);
      for (Dim i = 0; i < rows; ++i)
        std::copy_n(all.data() + i * tile_columns, columns, expected.write() + i * columns);
      std::copy_n(full.a.data(), rows * 23, part.a.write());
      part.b = b;
      REQUIRE(same_bits(part.run(true, false, 23), expected));
      REQUIRE(same_bits(part.run(false, false, 23), expected));
    }
}

TEST_CASE("panels hold the columns of a matrix, one behind the other, and zeros at the end") {
  for (const Dim k : {Dim{0}, Dim{1}, Dim{5}, kernels::lanes, 2 * kernels::lanes + 1})
    for (const Dim m :
         {Dim{1}, tile_columns - 1, tile_columns, tile_columns + 1, 3 * tile_columns + 2})
      for (const bool transposed : {false, true}) {
        if (m == 0) continue;
        const Array b = uniform({k, m}, 1);
        Array turned({m, k});
        for (Dim i = 0; i < k * m; ++i) turned.write()[i % m * k + i / m] = b[i];
        const kernels::Matrix matrix = transposed
                                           ? kernels::Matrix{turned.data(), k, 1}.transposed()
                                           : kernels::Matrix{b.data(), m, 1};
        const Dim size = kernels::panels_size(k, m), panels = (m + tile_columns - 1) / tile_columns;
        REQUIRE(size == panels * tile_columns * k);
        std::vector<Real> packed(static_cast<std::size_t>(size), Real(99));
        kernels::pack_panels(matrix, k, m, packed.data());
        for (Dim at = 0; at < size; ++at) {
          const Dim panel = at / (k * tile_columns), p = at / tile_columns % k;
          const Dim j = panel * tile_columns + at % tile_columns;
          const Real expected = j < m ? b[p * m + j] : Real(0);
          REQUIRE(std::memcmp(&packed[static_cast<std::size_t>(at)], &expected, sizeof(Real)) == 0);
        }
      }
}

TEST_CASE("tiles of equal height cover every row once") {
  for (Dim n = 0; n <= 5 * tile_rows; ++n) {
    Dim next = 0, least = tile_rows, most = 0;
    kernels::by_tiles(n, [&](Dim i, Dim rows) {
      REQUIRE(i == next);
      next += rows;
      least = std::min(least, rows);
      most = std::max(most, rows);
    });
    CHECK(next == n);
    CHECK(most <= tile_rows);
    CHECK((n == 0 || most - least <= 1));
  }
}

TEST_CASE("a panel may be a part of a matrix, rows and columns") {
  const Array b = counting({9, 40});
  std::vector<Real> packed(static_cast<std::size_t>(3 * tile_columns), Real(99));
  const Dim columns = tile_columns - 1;
  kernels::pack_panels({b.data() + 4 * 40 + 2, 40, 1}, 3, columns, packed.data());
  for (Dim p = 0; p < 3; ++p)
    for (Dim j = 0; j < tile_columns; ++j)
      CHECK(value_of(packed[static_cast<std::size_t>(p * tile_columns + j)]) ==
            (j < columns ? value_of(b[(4 + p) * 40 + 2 + j]) : 0));
}
