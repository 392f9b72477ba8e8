// The measurements: each function runs one piece of work many times and returns the median time.
//
// Shares are shares of the limits that the same run measures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/support/peak_memory.h"

namespace fledge::bench {

/// The limits of this machine with the threads that are set. NaN: not measured, for lack of memory.
struct Limits {
  double gflops = 0;     // fused multiply-adds on registers, two operations each
  double gigabytes = 0;  // per second, reading and writing arrays that no cache holds
};
Limits measure_limits();

struct Row {
  std::string name, sizes;
  double seconds = 0;                          // median of one run
  double flops = 0;                            // of one run; 0 when memory is what limits
  double bytes = 0;                            // that one run must move at least
  double peak_mb = support::peak_megabytes();  // of the process until here
};

struct StepSizes {
  std::int64_t layers = 4, heads = 4, width = 128, context = 64, batch = 12, vocab = 65;
  bool bias = true;
  std::int64_t steps = 0;  // to measure, after two that warm up; 0: as many as a second holds
};

/// One step of training a language model: forward, backward, clipping, AdamW.
Row step(const StepSizes& sizes);
/// C = A·B, A (m, k), B (k, n)
Row gemm(std::int64_t m, std::int64_t n, std::int64_t k);
/// Causal attention of q, k and v, forward and backward.
Row attention(std::int64_t batch, std::int64_t heads, std::int64_t time, std::int64_t D);
/// softmax, layernorm, gelu or gelu_tanh of rows, forward and backward.
Row op(const std::string& name, std::int64_t rows, std::int64_t columns);
/// One recorded op on 3×3 numbers, forward (first) and backward (second).
std::vector<Row> overhead();

}  // namespace fledge::bench
