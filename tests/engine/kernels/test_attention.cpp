#include "engine/kernels/attention.h"

#include <cstring>

#include "engine/kernels/simd.h"
#include "tests/support/attention_head.h"
#include "tests/support/sanitized.h"

using namespace tests;

namespace {

const std::vector<Mask> kernel_masks = {Mask(),
                                        causal(),
                                        window(1),
                                        window(5),
                                        causal() & window(4),
                                        padding({3}),
                                        window(70),
                                        padding({0}),
                                        causal() & padding({2}),
                                        window(3) & padding({4})};

// Numbers of row i, of all D, replaced.
void spoil(Array& x, Dim i, Dim D, double poison) {
  x = x.clone();
  std::fill_n(x.write() + i * x.dim(1), D, Real(poison));
}

bool same_row(const Array& a, const Array& b, Dim i) {
  return std::memcmp(a.data() + i * a.dim(1), b.data() + i * b.dim(1),
                     static_cast<std::size_t>(a.dim(1)) * sizeof(Real)) == 0;
}

}  // namespace

TEST_CASE("a head of attention, and its gradients, by the formulas") {
  for (const Mask& mask : kernel_masks) {
    for (const Dim T : {4, 5, 6, 7, 12, 13, 33, 49, 97, 200})
      for (const Dim D : {1, 3, 4, 8, 9, 17, 64})
        if (!testing::sanitized || T * D < 1000) check_head(Head(T, T, D, mask));
    for (const auto& [n, m] : {std::pair<Dim, Dim>{1, 9}, {9, 4}, {60, 7}, {7, 60}, {49, 130}})
      for (const Dim D : {1, 4, 5, 8, 16}) check_head(Head(n, m, D, mask));
  }
  for (const Mask& mask : {Mask(), causal(), window(1)})
    for (const Dim T : {1, 2, 3})
      for (const Dim D : {4, 8, 12}) check_head(Head(T, T, D, mask));
}

TEST_CASE("a head of attention over nothing") {
  for (const auto& [n, m] : {std::pair<Dim, Dim>{0, 0}, {0, 3}, {3, 0}})
    for (const Dim D : {4, 12}) check_head(Head(n, m, D, causal()));
}

TEST_CASE("a query that sees nothing gets zeros, to the bit") {
  for (const Dim D : {3, 4, 11}) {
    const Head head = Head(60, 7, D, causal()).run();
    for (Dim i = 0; i < 60; ++i)
      for (Dim d = 0; d < D && head.span(i).end <= 0; ++d) {
        REQUIRE(same_bits(Array::full({}, head.y[i * (D + 2) + d]), Array::zeros({})));
        REQUIRE(same_bits(Array::full({}, head.dq[i * (D + 2) + d]), Array::zeros({})));
      }
  }
}

TEST_CASE("keys and values change no bit of a query that does not see them") {
  const Dim D = GENERATE(4, 5, 17);
  for (const Mask& mask : {causal(), window(1), window(4), causal() & window(9), padding({40})}) {
    const Head clean = Head(60, 60, D, mask).run();
    for (const double poison : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity})
      for (const Dim j : {0, 1, 5, 6, 30, 47, 48, 59}) {
        Head found(60, 60, D, mask);
        spoil(found.k, j, D, poison);
        spoil(found.v, j, D, poison);
        found.run();
        INFO("key " << j << " is " << poison << ", size " << D);
        for (Dim i = 0; i < 60; ++i) {
          if (clean.sees(i, j)) continue;
          REQUIRE(same_row(found.y, clean.y, i));
          REQUIRE(same_row(found.dq, clean.dq, i));
          if (clean.span(i).begin < clean.span(i).end)
            REQUIRE(found.log_sum(i) == clean.log_sum(i));
        }
      }
  }
}

TEST_CASE("queries and cotangents change no bit of the keys and values they do not see") {
  const Dim D = GENERATE(4, 5, 17);
  for (const Mask& mask : {causal(), window(1), window(4), causal() & window(9), padding({40})}) {
    const Head clean = Head(60, 60, D, mask).run();
    for (const double poison : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity})
      for (const Dim i : {0, 1, 5, 6, 30, 47, 48, 59}) {
        Head found(60, 60, D, mask);
        spoil(found.q, i, D, poison);
        spoil(found.dy, i, D, poison);
        found.run();
        INFO("query " << i << " is " << poison << ", size " << D);
        for (Dim j = 0; j < 60; ++j) {
          if (clean.sees(i, j)) continue;
          REQUIRE(same_row(found.dk, clean.dk, j));
          REQUIRE(same_row(found.dv, clean.dv, j));
        }
      }
  }
}

TEST_CASE("what follows changes no bit of the first queries of a causal head") {
  const Dim D = GENERATE(4, 7, 17);
  const Head whole = Head(130, 130, D, causal()).run();
  for (const Dim t : {1, 2, 5, 6, 7, 14, 47, 48, 49, 96, 97, 129}) {
    const Head first = Head(t, t, D, causal()).run();  // the same numbers: drawn row by row
    INFO("the first " << t);
    for (Dim i = 0; i < t; ++i) {
      REQUIRE(same_row(first.y, whole.y, i));
      REQUIRE(same_row(first.dq, whole.dq, i));
      REQUIRE(first.log_sum(i) == whole.log_sum(i));
    }
  }
}

// In the lanes past the last key a score of 0 stands beside scores of 10³⁶: its weight is infinite.
TEST_CASE("lanes past the last key enter no sum, however large the scores") {
  for (const Dim D : {3, 4, 8, 12})
    for (Dim T = 1; T <= 2 * kernels::lanes + 1; ++T)
      for (const Real sign : {Real(1), Real(-1)}) {
        Head head(T, T, D, Mask());
        const Real large = sizeof(Real) == sizeof(float) ? Real(1e18) : Real(1e153);
        head.q = Array::full(head.q.shape(), large);
        head.k = Array::full(head.k.shape(), sign * large);
        head.run();
        INFO(T << " queries and keys of size " << D);
        for (Dim d = 0; d < D; ++d) {
          double mean = 0;  // every key has the weight 1/T
          for (Dim j = 0; j < T; ++j) mean += value_of(head.v[j * (D + 2) + d]) / value_of(real(T));
          for (Dim i = 0; i < T; ++i) {
            REQUIRE(std::abs(value_of(head.y[i * (D + 2) + d]) - mean) <= rounding);
            for (const Array* gradient : {&head.dq, &head.dk, &head.dv})
              REQUIRE(isfinite((*gradient)[i * (D + 2) + d]));
          }
        }
      }
}
