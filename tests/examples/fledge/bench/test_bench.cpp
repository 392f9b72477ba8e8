// The rows of fledge bench: their sizes, their operations, and their limits. No test asks how fast.
// tests/command/bench.txt has the table and the refusals.
#include "examples/fledge/bench/limits.h"
#include "examples/fledge/bench/model.h"
#include "examples/fledge/step_cost.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

using namespace testing;
using namespace fledge::bench;

namespace {

// Seconds of the limit that `runs` of a row's runs would take.
double seconds_of(const Limit& limit) {
  Timer timer(limit.run);
  timer.warm_up();
  timer.run(0.05);
  return timer.times().best * limit.runs;
}

void check_times(const Row& row) {
  CHECK(row.time.best > 0);
  CHECK(row.time.best <= row.time.median);
  CHECK(row.least.best > 0);
  CHECK(row.least.best <= row.least.median);
}

}  // namespace

TEST_CASE("bench: every row of --json has its sizes, its times, and its shares of a limit") {
  const std::vector<std::array<std::string, 3>> rows{
      {"gemm 31 17 65", "31x17x65", "multiply-adds"},
      {"gemm 3 4 5 NN", "3x4x5", "multiply-adds"},
      {"gemm 3 4 5 TN", "3x4x5 TN", "multiply-adds"},
      {"gemm 3 4 5 NT", "3x4x5 NT", "multiply-adds"},
      {"attention 1 2 33 4", "1x2x33x4", "multiply-adds"},
      {"cross 1 2 5 33 4", "1x2x5x33x4", "multiply-adds"},
      {"op softmax 5 9", "5x9", "memory"},
      {"op layernorm 5 9", "5x9", "memory"},
      {"op gelu 5 9", "5x9", "memory"},
      {"op gelu_tanh 5 9", "5x9", "memory"},
      {"step --layers 1 --heads 2 --width 8 --context 5 --batch 2 --vocab 7 --steps 3 --no-bias",
       "1x2x8 context 5 batch 2 vocab 7 no bias", "multiply-adds"},
      {"generate --layers 2 --heads 2 --width 8 --context 12 --vocab 7 --steps 5 --no-bias",
       "2x2x8 context 12 tokens 6 vocab 7 no bias", "multiply-adds"}};
  for (const auto& [words, sizes, limit] : rows) {
    CAPTURE(words);
    const Result result = in_shell("\"$0\" bench " + words + " --threads 1 --json");
    REQUIRE(result.status == 0);
    const StrictJson all = strict_json(result.out);
    CHECK(all[0]["sizes"].string() == sizes);
    CHECK(all[0]["limit"].string() == limit);
    for (const StrictJson& row : all.array()) {
      const double best = row["best_us"].number(), least = row["limit_best_us"].number();
      CHECK((0 < best && best <= row["median_us"].number()));
      CHECK((0 < least && least <= row["limit_median_us"].number()));
      CHECK_THAT(row["best_share"].number(), WithinRel(std::min(least / best, 1.0), 1e-9));
      CHECK((0 < row["median_share"].number() && row["median_share"].number() <= 1));
      CHECK(row["threads"].number() == 1);
      CHECK(row["peak_mb"].number() > 0);
      if (row["limit"].string() != "multiply-adds") CHECK(row["best_gigabytes"].number() > 0);
    }
    if (words == "gemm 31 17 65")
      for (const std::string of : {"", "limit_"})
        CHECK_THAT(all[0][of + "best_gflops"].number(),
                   WithinRel(2e-3 * 31 * 17 * 65 / all[0][of + "best_us"].number(), 1e-6));
    if (!words.starts_with("generate")) continue;
    REQUIRE(all.array().size() == 2);
    CHECK(all[1]["limit"].string() == "reading");
    CHECK_THAT(all[0]["median_tokens_per_second"].number(),
               WithinRel(6e6 / all[0]["median_us"].number(), 1e-9));
    CHECK_THAT(all[1]["best_tokens_per_second"].number(),
               WithinRel(1e6 / all[1]["best_us"].number(), 1e-9));
  }
}

TEST_CASE("bench: a row is printed when it is measured, and needs little memory") {
  // The other rows take a minute of the processor. The first of them finds that head has gone.
  const Result begin = in_shell("\"$0\" bench --layers 1 --steps 1 --threads 1 | head -n 3");
  CHECK(lines_of(begin.out).size() == 3);
  if (FLEDGE_OPTIMISED != 0 && !sanitized) CHECK(begin.seconds < 10);
  if (sanitized) return report_skipped("a sanitizer reserves more than any limit");
  for (const char* work : {"op softmax 5 9", "generate --width 8 --steps 5"}) {
    const Result table =
        in_shell("ulimit -v 100000; exec \"$0\" bench " + std::string(work) + " --threads 1");
    CAPTURE(work, table.err);
    CHECK(table.status == 0);
    CHECK(table.err.empty());
    CHECK_THAT(table.out, ContainsSubstring(" % "));
  }
}

TEST_CASE("bench generate: a token reads every weight, and one row of the positions") {
  const StepSizes sizes{.layers = 2, .heads = 2, .width = 8, .context = 12, .vocab = 7, .steps = 3};
  const std::vector<Row> rows = generate(sizes);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "prompt");
  CHECK(rows[0].tokens == 6);
  CHECK(rows[0].flops == fledge::operations_of_prompt({7, 12, 2, 2, 8}, 6));
  CHECK(rows[1].name == "generate");
  CHECK(rows[1].tokens == 1);
  // In a layer c_attn, c_proj, c_fc and c_proj with biases, two gains and biases of layer norms.
  const double layer = 8 * 24 + 24 + 8 * 8 + 8 + 8 * 32 + 32 + 32 * 8 + 8 + 4 * 8;
  CHECK(rows[1].bytes == sizeof(float) * (2 * layer + 7 * 8 + 8 + 2 * 8));
  for (const Row& row : rows) check_times(row);
  fledge::Rng rng(1);
  const fledge::LanguageModel model = model_of(sizes, rng);
  CHECK(bytes_of_token(model) == rows[1].bytes);
  CHECK(seconds_of(reading(model)) > 0);
  // A prompt of the length asked for, also a window's last token.
  for (const std::int64_t prompt : {1, 11}) {
    StepSizes asked{.layers = 1, .heads = 1, .width = 4, .context = 12, .vocab = 7};
    asked.steps = 4;
    asked.prompt = prompt;
    CHECK(generate(asked).at(0).tokens == static_cast<double>(prompt));
  }
}

TEST_CASE("limits: the share compares best with best and median with median, at most 100 %") {
  const Limit half{"half", [] {}, 0.5};
  const Row row = with_times({.name = "row"}, half, {{2, 8}, {1, 2}});
  CHECK(row.limit == "half");
  CHECK(row.least.best == 0.5);
  CHECK(row.least.median == 1);
  CHECK(best_share(row) == 0.25);
  CHECK(median_share(row) == 0.125);
  const Row fast = with_times({.name = "row"}, half, {{0.49, 0.99}, {1, 2}});
  CHECK(best_share(fast) == 1);
  CHECK(median_share(fast) == 1);
}

TEST_CASE("limits: each measures as many runs as a row needs") {
  const Limit once = multiply_adds(1e9), twice = multiply_adds(2e9);
  CHECK_THAT(twice.runs, WithinRel(2 * once.runs, 1e-12));
  CHECK(seconds_of(once) > 0);
  const auto x = fledge::Array::ones({64, 64});
  CHECK(memory(x, x).runs == 1);
  CHECK(seconds_of(memory(x, x)) > 0);
  // Six products, forward and backward, of 2·3·5·8 operations.
  CHECK(cross_attention(1, 2, 3, 5, 4).flops == 6 * 2 * 3 * 5 * 8);
  CHECK(attention(1, 2, 6, 4).flops == 6 * 6 * 6 * 8);
  CHECK(op("gelu", 3, 5).bytes == 5 * 3 * 5 * sizeof(float));
  for (const Row& row : overhead()) {
    CHECK(row.limit.empty());
    CHECK((0 < row.time.best && row.time.best <= row.time.median && row.time.median < 1e-3));
  }
}
