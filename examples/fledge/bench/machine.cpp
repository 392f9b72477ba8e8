// The limits of this machine: the highest rate of multiply-adds, and of memory traffic.
#include <algorithm>
#include <cmath>
#include <new>

#include "engine/array.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd.h"
#include "examples/fledge/bench/limits.h"
#include "examples/fledge/bench/timing.h"

namespace fledge::bench {

namespace {

using kernels::lanes;
using kernels::Vec;

constexpr double budget = 0.15;         // seconds of one measurement
constexpr double in_caches = 1 << 25;   // bytes: larger arrays are in no cache as a whole
constexpr double least_read = 1 << 28;  // bytes of the array that is only read
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

// The sum of `size` numbers. Four streams side by side read 8 % faster than one: the processor
// fetches ahead in each.
float sum_of_numbers(const float* x, Dim size) {
  constexpr Dim streams = 4, vectors = 4;
  const Dim part = size / (streams * vectors * lanes) * vectors * lanes;  // of a stream
  Vec sums[streams][vectors] = {};
  for (Dim i = 0; i < part; i += vectors * lanes)
    for (Dim v = 0; v < vectors; ++v)
      for (Dim s = 0; s < streams; ++s) sums[s][v] += kernels::load(x + s * part + i + v * lanes);
  Vec total = kernels::splat(0);
  for (const auto& stream : sums)
    for (const Vec& sum : stream) total += sum;
  float sum = kernels::sum_of(total);
  for (Dim i = streams * part; i < size; ++i) sum += x[i];
  return sum;
}

double gflops() {
  const Dim tasks = threads();
  Array results({tasks});
  float* const to = results.write();
  const double seconds = best_seconds(
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
  const double seconds = best_seconds(
      [&] {
        kernels::parallel_ranges(size, size / 64, size, [&](Dim begin, Dim end) {
          for (Dim i = begin; i < end; ++i) z[i] = x[i] + 0.5f * y[i];
        });
      },
      budget);
  return 3.0 * static_cast<double>(size) * sizeof(float) / seconds * 1e-9;
}

// The better of two rates; NaN if there is no memory for the measurement: the arrays of gigabytes()
// take 192 MB.
double raised(double before, double (*measure)()) {
  try {
    return std::max(before, measure());
  } catch (const std::bad_alloc&) {
    return std::nan("");
  }
}

}  // namespace

void Limits::measure_gflops() { gflops = raised(gflops, bench::gflops); }
void Limits::measure_gigabytes() { gigabytes = raised(gigabytes, bench::gigabytes); }
void Limits::measure_call() {
  const std::vector<Row> rows = overhead();
  call = rows[0].seconds + rows[1].seconds;
}

ReadRate::ReadRate(double bytes) {
  try {
    numbers_ = Array::ones({static_cast<Dim>(std::max(bytes, least_read)) / Dim{sizeof(float)}});
  } catch (const std::bad_alloc&) {
    numbers_ = Array();
  }
}

void ReadRate::measure(double seconds) {
  if (!numbers_.exists()) return;
  constexpr Dim grain = Dim{1} << 19;  // 2 MB a task
  const Dim size = numbers_.size();
  Array results({size / grain + 1});
  const float* const x = numbers_.data();
  float* const to = results.write();
  for (const auto start = Clock::now();;) {
    const auto begin = Clock::now();
    kernels::parallel_ranges(size, grain, size, [&](Dim first, Dim end) {
      to[first / grain] = sum_of_numbers(x + first, end - first);
    });
    seconds_.push_back(seconds_since(begin));
    if (seconds_since(start) >= seconds) return;
  }
}

ReadRates ReadRate::rates() const {
  if (seconds_.empty()) return {std::nan(""), std::nan("")};
  const double gigabytes = static_cast<double>(numbers_.size()) * sizeof(float) * 1e-9;
  return {gigabytes / median(seconds_),
          gigabytes / *std::min_element(seconds_.begin(), seconds_.end())};
}

std::string peak_of(const Row& row) {
  return row.flops > 0             ? "multiply-adds"
         : row.reading.median != 0 ? "reading"
         : row.bytes > 0           ? "memory"
                                   : "";
}

double share_of_peak(const Row& row, const Limits& limits) {
  const double share = row.flops > 0             ? gflops_of(row) / limits.gflops
                       : row.reading.median != 0 ? gigabytes_of(row) / row.reading.median
                       : row.bytes > 0           ? gigabytes_of(row) / limits.gigabytes
                                                 : 0;
  return share > 1 ? 1 : share;
}

Bound bound_of(const Row& row, Limits& limits) {
  const std::string peak = peak_of(row);
  if (peak.empty()) return {};
  double reading = row.reading.median;
  double& limit = row.flops > 0 ? limits.gflops : reading != 0 ? reading : limits.gigabytes;
  const double rate = row.flops > 0 ? gflops_of(row) : gigabytes_of(row);
  const double overhead = row.calls * limits.call / row.seconds;
  if (overhead > rate / limit) return {"call overhead", std::min(overhead, 1.0)};
  if (rate <= limit || std::isnan(limit)) return {peak, rate / limit};
  const double least_uncached = reading != 0 ? least_read : in_caches;
  if (row.flops == 0 && row.array_bytes < least_uncached) return {"caches", std::nan("")};
  limit = rate;
  return {peak, 1, true};
}

}  // namespace fledge::bench
