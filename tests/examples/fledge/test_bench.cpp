// The rows of fledge bench: their sizes, their operations, and their limits. No test asks how fast.
// tests/command/bench.txt has the table and the refusals.
#include "tests/examples/fledge/command.h"
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

using namespace testing;

TEST_CASE("bench: every row of --json has its sizes, its times, and its shares of a limit") {
  // Two a weight and token, the scores and what they weigh, and the logits of the last token.
  const double prompt = 2 * 8 * (6 * 2 * (12 * 8 + 6) + 7);
  // Biases and gains of two layers, the table of words, a row of positions, and the last layer
  // norm.
  const double weights =
      4 * (2 * (8 * 24 + 24 + 8 * 8 + 8 + 8 * 32 + 32 + 32 * 8 + 8 + 4 * 8) + 7 * 8 + 8 + 2 * 8);
  struct Case {
    std::string words, sizes, limit;
    double flops = 0, bytes = 0;  // of a run; 0: not asked
  };
  for (const auto& [words, sizes, limit, flops, bytes] : std::vector<Case>{
           {"gemm 31 17 65", "31x17x65", "multiply-adds", 2 * 31 * 17 * 65},
           {"gemm 3 4 5 NN", "3x4x5", "multiply-adds", 2 * 3 * 4 * 5},
           {"gemm 3 4 5 TN", "3x4x5 TN", "multiply-adds"},
           {"gemm 3 4 5 NT", "3x4x5 NT", "multiply-adds"},
           // Six products, forward and backward.
           {"attention 1 2 33 4", "1x2x33x4", "multiply-adds", 6 * 2 * 33 * 33 * 4},
           {"cross 1 2 5 33 4", "1x2x5x33x4", "multiply-adds", 6 * 2 * 2 * 5 * 33 * 4},
           {"op softmax 5 9", "5x9", "memory"},
           {"op layernorm 5 9", "5x9", "memory"},
           {"op gelu 5 9", "5x9", "memory", 0, 5 * 5 * 9 * 4},
           {"op gelu_tanh 5 9", "5x9", "memory"},
           {"step 1 2 8 5 2 7 --steps 3", "1x2x8 context 5 batch 2 vocab 7", "multiply-adds"},
           {"generate 2 2 8 12 7 --steps 5", "2x2x8 context 12 tokens 6 vocab 7", "multiply-adds",
            prompt},
           {"overhead", "", ""}}) {
    CAPTURE(words);
    const Result result = in_shell("\"$0\" bench " + words + " --threads 1 --json");
    REQUIRE(result.status == 0);
    const StrictJson all = strict_json(result.out);
    if (!sizes.empty()) CHECK(all[0]["sizes"].string() == sizes);
    if (!limit.empty()) CHECK(all[0]["limit"].string() == limit);
    for (const StrictJson& row : all.array()) {
      const double best = row["best_us"].number();
      CHECK((0 < best && best <= row["median_us"].number()));
      CHECK(row["threads"].number() == 1);
      CHECK(row["peak_mb"].number() > 0);
      if (limit.empty()) CHECK(row["median_us"].number() < 1000);  // of one of many runs
      if (limit.empty()) continue;
      const double least = row["limit_best_us"].number();
      CHECK((0 < least && least <= row["limit_median_us"].number()));
      CHECK_THAT(row["best_share"].number(), WithinRel(std::min(least / best, 1.0), 1e-9));
      CHECK((0 < row["median_share"].number() && row["median_share"].number() <= 1));
      if (row["limit"].string() != "multiply-adds") CHECK(row["best_gigabytes"].number() > 0);
    }
    const auto rate = [&](std::size_t row, const std::string& name, double amount) {
      CHECK_THAT(all[row]["best_" + name].number(),
                 WithinRel(amount / all[row]["best_us"].number(), 1e-6));
    };
    if (flops > 0) rate(0, "gflops", 1e-3 * flops);
    if (bytes > 0) rate(0, "gigabytes", 1e-3 * bytes);
    if (!words.starts_with("generate")) continue;
    REQUIRE(all.array().size() == 2);
    CHECK(all[1]["limit"].string() == "reading");
    rate(0, "tokens_per_second", 6e6);
    rate(1, "tokens_per_second", 1e6);
    rate(1, "gigabytes", 1e-3 * weights);
  }
}

TEST_CASE("bench: a row is printed when it is measured, and needs little memory") {
  // The other rows take a minute of the processor. The first of them finds that head has gone.
  const Result begin = in_shell("\"$0\" bench --steps 1 --threads 1 | head -n 3");
  CHECK(lines_of(begin.out).size() == 3);
  if (FLEDGE_OPTIMISED != 0 && !sanitized) CHECK(begin.seconds < 40);
  if (sanitized) return report_skipped("a sanitizer reserves more than any limit");
  for (const char* work : {"op softmax 5 9", "generate 4 4 8 64 65 --steps 5"}) {
    const Result table =
        in_shell("ulimit -v 100000; exec \"$0\" bench " + std::string(work) + " --threads 1");
    CAPTURE(work, table.err);
    CHECK(table.status == 0);
    CHECK(table.err.empty());
    CHECK_THAT(table.out, ContainsSubstring(" % "));
  }
}
