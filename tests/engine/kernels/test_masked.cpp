// builds: f32 f64 dual
#include "engine/kernels/masked.h"

#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

using Table = std::vector<unsigned char>;

struct Case {
  Dim n, m, d;
  Table may_look;
};

// Every third place hidden, row 1 hidden altogether, the last key seen by nobody.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Dim n : {0, 1, 3, 9})
    for (const Dim m : {0, 1, 4, 17})
      for (const Dim d : {0, 1, 5, 33}) {
        Table may_look;
        for (Dim i = 0; i < n; ++i)
          for (Dim j = 0; j < m; ++j)
            may_look.push_back((i + j) % 3 == 0 || i == 1 || (m > 1 && j == m - 1) ? 0 : 1);
        all.push_back({n, m, d, may_look});
      }
  return all;
}

bool sees(const Case& at, Dim i, Dim j) {
  return at.may_look[static_cast<std::size_t>(i * at.m + j)] != 0;
}

Array dots(const Case& at, const Array& a, const Array& b, double hidden) {
  Array c = Array::full({at.n, at.m}, Real(99));
  kernels::masked_dots(a.data(), b.data(), at.may_look.data(), c.write(), Real(hidden), at.n, at.m,
                       at.d);
  return c;
}
Array mix(const Case& at, const Array& w, const Array& b) {
  Array c = Array::full({at.n, at.d}, Real(99));
  kernels::masked_mix(w.data(), b.data(), at.may_look.data(), c.write(), at.n, at.m, at.d);
  return c;
}
Array weighted_sum_transposed(const Case& at, const Array& w, const Array& a) {
  Array c = Array::full({at.m, at.d}, Real(99));
  kernels::masked_mix_back(w.data(), a.data(), at.may_look.data(), c.write(), at.n, at.m, at.d);
  return c;
}

// x with `poison` in the rows that `used` does not name.
template <class Used>
Array poisoned_rows(const Array& x, double poison, Used used) {
  Array y = x.clone();
  Real* to = y.write();
  for (Dim i = 0; i < y.size(); ++i)
    if (!used(i / x.dim(1))) to[i] = Real(poison);
  return y;
}

}  // namespace

TEST_CASE("masked products are sums over what is visible, exactly", "[OP14]") {
  for (const Case& at : cases()) {
    const Array a = integers({at.n, at.d}, 1), b = integers({at.m, at.d}, 2),
                w = integers({at.n, at.m}, 3);
    std::vector<double> c, mixed(static_cast<std::size_t>(at.n * at.d)),
        back(static_cast<std::size_t>(at.m * at.d));
    for (Dim i = 0; i < at.n; ++i)
      for (Dim j = 0; j < at.m; ++j) {
        c.push_back(sees(at, i, j) ? 0 : -7);
        if (!sees(at, i, j)) continue;
        for (Dim e = 0; e < at.d; ++e) {
          c.back() += value_of(a[i * at.d + e]) * value_of(b[j * at.d + e]);
          mixed[static_cast<std::size_t>(i * at.d + e)] +=
              value_of(w[i * at.m + j]) * value_of(b[j * at.d + e]);
          back[static_cast<std::size_t>(j * at.d + e)] +=
              value_of(w[i * at.m + j]) * value_of(a[i * at.d + e]);
        }
      }
    INFO(at.n << " x " << at.m << ", size " << at.d);
    CHECK(same_numbers(dots(at, a, b, -7), Array({at.n, at.m}, c)));
    CHECK(same_numbers(mix(at, w, b), Array({at.n, at.d}, mixed)));
    CHECK(same_numbers(weighted_sum_transposed(at, w, a), Array({at.m, at.d}, back)));
  }
}

TEST_CASE("masked products do not read what is hidden", "[OP18]") {
  for (const Case& at : cases())
    for (const double poison : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
      const Array a = uniform({at.n, at.d}, 1), b = uniform({at.m, at.d}, 2),
                  w = uniform({at.n, at.m}, 3);
      const auto seen_key = [&](Dim j) {
        for (Dim i = 0; i < at.n; ++i)
          if (sees(at, i, j)) return true;
        return false;
      };
      const auto seeing_query = [&](Dim i) {
        for (Dim j = 0; j < at.m; ++j)
          if (sees(at, i, j)) return true;
        return false;
      };
      const Array bad_a = poisoned_rows(a, poison, seeing_query),
                  bad_b = poisoned_rows(b, poison, seen_key);
      Array bad_w = w.clone();
      Real* to = bad_w.write();
      for (Dim i = 0; i < w.size(); ++i)
        if (!sees(at, i / at.m, i % at.m)) to[i] = Real(poison);

      INFO(at.n << " x " << at.m << ", size " << at.d);
      CHECK(same_bits(dots(at, bad_a, bad_b, -infinity), dots(at, a, b, -infinity)));
      CHECK(same_bits(mix(at, bad_w, bad_b), mix(at, w, b)));
      CHECK(
          same_bits(weighted_sum_transposed(at, bad_w, bad_a), weighted_sum_transposed(at, w, a)));
    }
}

TEST_CASE("keys that follow, hidden, change no bit of what a query gets") {
  const Dim n = 5, d = 17;
  for (const Dim m : {1, 4, 9, 16, 33}) {
    const Dim more = m + 8;
    const Array a = uniform({n, d}, 1), b = uniform({more, d}, 2), w = uniform({n, more}, 3);
    Case wide{n, more, d, Table(static_cast<std::size_t>(n * more), 0)};
    Array narrow_w({n, m});
    Real* to = narrow_w.write();
    for (Dim i = 0; i < n; ++i)
      for (Dim j = 0; j < m; ++j) {
        wide.may_look[static_cast<std::size_t>(i * more + j)] = 1;
        to[i * m + j] = w[i * more + j];
      }
    const Case narrow{n, m, d, Table(static_cast<std::size_t>(n * m), 1)};
    CHECK(same_bits(mix(wide, w, b), mix(narrow, narrow_w, b)));
    const Array scores = dots(wide, a, b, 0), cut = dots(narrow, a, b, 0);
    for (Dim i = 0; i < n; ++i)
      for (Dim j = 0; j < m; ++j) REQUIRE(scores[i * more + j] == cut[i * m + j]);
    const Array back = weighted_sum_transposed(wide, w, a),
                cut_back = weighted_sum_transposed(narrow, narrow_w, a);
    for (Dim i = 0; i < m * d; ++i) REQUIRE(back[i] == cut_back[i]);
    for (Dim i = m * d; i < more * d; ++i) REQUIRE(back[i] == Real(0));
  }
}
