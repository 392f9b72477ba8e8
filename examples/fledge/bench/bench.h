// The measurements: each function runs one piece of work many times and returns the median time.
//
// What limits a row is the largest of three times: that of its multiply-adds, that of its memory
// traffic, and that of its calls. The rates behind them are the best that this run has seen. The
// row of generation has a rate of its own: that of reading, measured in turn with the row.
// Next: limits.h, work.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/support/peak_memory.h"

namespace fledge::bench {

/// GB/s at which all threads read an array that no cache holds, measured in turn with a row. NaN:
/// not measured, for lack of memory.
struct ReadRates {
  double median = 0, best = 0;
};

struct Row {
  std::string name{}, sizes{};
  std::string short_sizes{};                   // for the table; "": the same as sizes
  double seconds = 0;                          // median of one run
  double flops = 0;                            // of one run; 0 when memory is what limits
  double bytes = 0;                            // that one run must move at least
  double calls = 0;                            // recorded ops of one run
  double array_bytes = 0;                      // of the arrays behind `bytes`
  double tokens = 0;                           // that one run reads; 0: no row of generation
  double best_seconds = 0;                     // of the fastest run; 0: not known
  ReadRates reading{};                         // `bytes` are read at most so fast; 0: not measured
  double peak_mb = support::peak_megabytes();  // of the process until here
};

struct StepSizes {
  std::int64_t layers = 4, heads = 4, width = 128, context = 64, batch = 12, vocab = 65;
  bool bias = true;
  std::int64_t steps = 0;   // to measure, after two that warm up; 0: as many as a second holds
  std::int64_t prompt = 0;  // tokens of a prompt; 0: 64, but at most half the context
};

/// One step of training a language model: forward, backward, clipping, AdamW.
Row step(const StepSizes& sizes);
/// A model reads a prompt (first row), then generates one token at a time (second): one run is one
/// token, drawn and read. `steps` is the number of tokens, 0: as many as three seconds hold.
std::vector<Row> generate(const StepSizes& sizes);
/// C = A·B, A (m, k), B (k, n)
Row gemm(std::int64_t m, std::int64_t n, std::int64_t k);
/// Causal attention of q, k and v, forward and backward.
Row attention(std::int64_t batch, std::int64_t heads, std::int64_t time, std::int64_t D);
/// softmax, layernorm, gelu or gelu_tanh of rows, forward and backward.
Row op(const std::string& name, std::int64_t rows, std::int64_t columns);
/// One recorded op on 3×3 numbers: forward (first), and backward with its graph freed (second).
std::vector<Row> overhead();

}  // namespace fledge::bench
