// What is new where queries are lanes. By the formulas, under every mask, with poison in what is
// hidden: test_attention.cpp, whose heads of at most 8 numbers come through here.
#include "engine/kernels/small_head_attention.h"

#include <cmath>
#include <cstring>

#include "engine/masks.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

// All that a head computes, with every row of n numbers tightly packed.
struct Narrow {
  Dim n, D;
  std::vector<kernels::KeyRange> spans;
  Array y, log_sums, dq, dk, dv;

  // Queries, keys, values and cotangents are the rows `first` … of four long tables.
  Narrow(Dim first, Dim count, Dim size, std::vector<kernels::KeyRange> seen)
      : n(count),
        D(size),
        spans(std::move(seen)),
        y({n, D}),
        log_sums({n, 2}),
        dq({n, D}),
        dk({n, D}),
        dv({n, D}) {
    const Shape all{200, D};
    const Array q = uniform(all, 1), k = uniform(all, 2), v = uniform(all, 3), dy = uniform(all, 4);
    const auto from = [&](const Array& x) -> kernels::StridedRows {
      return {x.data() + first * D, D};
    };
    const kernels::HeadSizes sizes{n, n, D, Real(1 / std::sqrt(static_cast<double>(D))),
                                   spans.data()};
    const kernels::StridedRows out{y.data(), D};
    kernels::small_head_attention(sizes, from(q), from(k), from(v), {y.write(), D},
                                  log_sums.write());
    kernels::small_head_attention_vjp(sizes, from(q), from(k), from(v), out, from(dy),
                                      log_sums.data(), {dq.write(), D}, {dk.write(), D},
                                      {dv.write(), D});
  }
};

bool same_rows(const Array& a, Dim i, const Array& b, Dim j) {
  const Dim D = a.dim(1);
  return std::memcmp(a.data() + i * D, b.data() + j * D,
                     static_cast<std::size_t>(D) * sizeof(Real)) == 0;
}

// Each query sees itself and `back` keys before it, from key 0 on.
std::vector<kernels::KeyRange> banded(Dim n, Dim back) {
  std::vector<kernels::KeyRange> spans;
  for (Dim i = 0; i < n; ++i) spans.push_back({std::max<Dim>(0, i - back), i + 1});
  return spans;
}

}  // namespace

TEST_CASE("narrow heads: no number depends on the lane it is computed in") {
  const Dim D = GENERATE(1, 4, 5, 8);
  const Dim n = 61, back = 6;
  const Narrow whole(0, n, D, banded(n, back));
  for (const Dim shift : {1, 2, 3, 5, 7, 8, 15}) {
    // The same rows, `shift` places earlier: the first `back` queries see fewer keys than before.
    const Narrow moved(shift, n - shift, D, banded(n - shift, back));
    INFO("D " << D << ", moved by " << shift);
    for (Dim i = back; i < n - shift; ++i) {
      REQUIRE(same_rows(moved.y, i, whole.y, i + shift));
      REQUIRE(same_rows(moved.log_sums, i, whole.log_sums, i + shift));
      REQUIRE(same_rows(moved.dq, i, whole.dq, i + shift));
      REQUIRE(same_rows(moved.dk, i, whole.dk, i + shift));
      REQUIRE(same_rows(moved.dv, i, whole.dv, i + shift));
    }
  }
}

TEST_CASE(
    "narrow heads: a key is seen by the lanes whose spans hold it, also beyond 2^24 and 2^53") {
  const auto masks = {Mask(), causal(), window(3), causal() & window(2), padding({2})};
  for (const Mask& mask : masks)
    for (const Dim count : {Dim{1}, Dim{2}, kernels::lanes})
      for (const Dim offset : {Dim{0}, (Dim{1} << 24) - 2, (Dim{1} << 25) + 1, Dim{1} << 60}) {
        const Dim keys = count + 3;
        PoolVector<kernels::KeyRange> spans = mask.spans({1, count, keys}, "test");
        for (kernels::KeyRange& span : spans) {
          if (span.begin > 0) span.begin += offset;  // the others see all keys before them
          span.end += offset;
        }
        kernels::SeeingLanes seeing(spans.data(), count);
        for (Dim j = offset; j < offset + keys; ++j) {
          const kernels::Mask found = seeing.of(j);
          for (int i = 0; i < kernels::lanes; ++i) {
            const bool sees = i < count && spans[static_cast<std::size_t>(i)].begin <= j &&
                              j < spans[static_cast<std::size_t>(i)].end;
            INFO("key " << j << " of " << keys << " from " << offset << " on, lane " << i);
            REQUIRE((found[i] != 0) == sees);
          }
        }
      }
}

TEST_CASE("narrow heads: a key that no query sees has no gradient, to the bit") {
  const Dim D = GENERATE(3, 4, 8);
  const Dim n = 21;
  std::vector<kernels::KeyRange> spans;
  for (Dim i = 0; i < n; ++i)
    spans.push_back(i < 10 ? kernels::KeyRange{2, 4} : kernels::KeyRange{9, 11});
  const Narrow head(0, n, D, spans);
  for (Dim j = 0; j < n; ++j)
    for (Dim d = 0; d < D; ++d) {
      const bool seen = (j >= 2 && j < 4) || (j >= 9 && j < 11);
      INFO("D " << D << ", key " << j << ", number " << d);
      REQUIRE((value_of(head.dk[j * D + d]) != 0) == seen);
      REQUIRE((value_of(head.dv[j * D + d]) != 0) == seen);
    }
}
