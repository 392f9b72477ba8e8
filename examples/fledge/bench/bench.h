// The measurements: each function runs one piece of work many times, in turn with what limits it: work
// on the same threads that takes as little time as this machine allows.
//
// Machines change their speed within seconds, so a row is compared with its limit in the same
// seconds: the best times with each other, and the medians.
// Next: timing.h, work.cpp, machine.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/array.h"
#include "examples/fledge/bench/timing.h"
#include "nn/gpt/language_model.h"

namespace fledge::bench {

struct Row {
  std::string name{}, sizes{};
  std::string short_sizes{};  // for the table; "": the same as sizes
  double flops = 0;           // of one run; 0: memory is the limit
  double bytes = 0;           // that one run must move at least
  double tokens = 0;          // that one run reads; 0: no row of generation
  Times time{};               // of one run
  std::string limit{};        // "multiply-adds", "memory", "reading"; "": none
  Times least{};              // what the limit alone would take
  double peak_mb = 0;         // of the process until here
};

/// The least time as a share of the time. It cannot be more than 1; the noise of two measurements
/// can make it look so by a hair.
inline double best_share(const Row& row) { return std::min(1.0, row.least.best / row.time.best); }
inline double median_share(const Row& row) {
  return std::min(1.0, row.least.median / row.time.median);
}

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
/// C (m, n) = A·B. `kind` says how A and B lie in memory: "NN" as they are, "NT" as A and Bᵀ, as in
/// dx = dy·Wᵀ, "TN" as Aᵀ and B, as in dW = xᵀ·dy.
Row gemm(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& kind = "NN");
/// Causal attention of q, k and v, forward and backward.
Row attention(std::int64_t batch, std::int64_t heads, std::int64_t time, std::int64_t D);
/// Attention of the queries of one sequence and all keys of another, forward and backward.
Row cross_attention(std::int64_t batch, std::int64_t heads, std::int64_t queries, std::int64_t keys,
                    std::int64_t D);
/// softmax, layernorm, gelu or gelu_tanh of rows, forward and backward.
Row op(const std::string& name, std::int64_t rows, std::int64_t columns);
/// One recorded op on 3×3 numbers: forward (first), and backward with its graph freed (second).
std::vector<Row> overhead();

struct Limit {
  std::string name;           // for the table
  std::function<void()> run;  // all threads
  double runs = 1;            // as many take the least time that one run of the row can take
};

/// Multiply-adds on registers, two operations each, as many as the row has operations.
Limit multiply_adds(double flops);
/// An op that computes almost nothing, forward and backward, on new arrays as the row's: y = x + 1,
/// then dx = dy + y. Caches help it as they help the row.
Limit memory(const Array& x, const Array& dy);
/// Reads every weight that a token needs, where it lies.
Limit reading(const LanguageModel& model);
/// Bytes that reading() reads.
double bytes_of_token(const LanguageModel& model);

/// The row with the times of both.
Row with_times(Row row, const Limit& limit, const Turns& times);
/// The same; `work` is measured here, in turn with the limit.
Row measured(Row row, std::function<void()> work, const Limit& limit, double budget = 0.6,
             std::int64_t count = 0);

}  // namespace fledge::bench
