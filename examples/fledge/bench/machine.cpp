// The limits of this machine: the highest rate of multiply-adds, and of memory traffic.
#include <cmath>
#include <new>

#include "engine/array.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd.h"
#include "examples/fledge/bench/bench.h"
#include "examples/fledge/bench/timing.h"

namespace fledge::bench {

namespace {

using kernels::lanes;
using kernels::Vec;

constexpr double budget = 0.2;  // seconds for each limit
constexpr Dim rounds = 200'000;
// Independent sums: a multiply-add takes four or five cycles, two start each.
constexpr int chains = 10;

// Multiply-adds on registers alone. The result is returned so that the compiler does not remove
// them.
float multiply_add(float seed) {
  Vec sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = kernels::splat(seed + static_cast<float>(i));
  const Vec a = kernels::splat(0.999f), b = kernels::splat(0.001f);
  for (Dim round = 0; round < rounds; ++round)
    for (Vec& sum : sums) sum = sum * a + b;
  Vec total = sums[0];
  for (int i = 1; i < chains; ++i) total += sums[i];
  return kernels::sum_of(total);
}

double gflops() {
  const Dim tasks = threads();
  Array results({tasks});
  float* const to = results.write();
  const double seconds = median_seconds(
      [&] {
        kernels::parallel_for(tasks, kernels::blocking.serial_work,
                              [&](Dim i) { to[i] = multiply_add(static_cast<float>(i)); });
      },
      budget);
  return 2.0 * static_cast<double>(tasks * rounds * chains * lanes) / seconds * 1e-9;
}

double gigabytes() {
  const Dim size = Dim{1} << 24;  // 64 MB each: twice the largest caches
  const Array a = Array::ones({size}), b = Array::ones({size});
  Array c = Array::zeros({size});
  const float* const x = a.data();
  const float* const y = b.data();
  float* const z = c.write();
  const double seconds = median_seconds(
      [&] {
        kernels::parallel_ranges(size, size / 64, size, [&](Dim begin, Dim end) {
          for (Dim i = begin; i < end; ++i) z[i] = x[i] + 0.5f * y[i];
        });
      },
      budget);
  return 3.0 * static_cast<double>(size) * sizeof(float) / seconds * 1e-9;
}

// NaN if there is no memory for it: the arrays of gigabytes() take 192 MB.
double measured(double (*limit)()) {
  try {
    return limit();
  } catch (const std::bad_alloc&) {
    return std::nan("");
  }
}

}  // namespace

Limits measure_limits() { return {measured(gflops), measured(gigabytes)}; }

}  // namespace fledge::bench
