// fledge bench generate: what its rows say. No test asks how fast.
#include "examples/fledge/bench/model.h"
#include "examples/fledge/step_cost.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"

using namespace testing;
using fledge::bench::Row;
using fledge::bench::StepSizes;

namespace {

const std::vector<std::string> tiny{"bench",   "generate", "--layers",  "2",  "--heads", "2",
                                    "--width", "8",        "--context", "12", "--vocab", "7"};

Result tiny_says(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = tiny;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return fledge_says(arguments);
}

}  // namespace

TEST_CASE("bench generate: a token reads every weight, and one row of the positions") {
  const StepSizes sizes{.layers = 2, .heads = 2, .width = 8, .context = 12, .vocab = 7, .steps = 3};
  const std::vector<Row> rows = fledge::bench::generate(sizes);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "prompt");
  CHECK(rows[0].sizes == "2x2x8 context 12 tokens 6 vocab 7");
  CHECK(rows[0].tokens == 6);
  CHECK(rows[0].flops == fledge::operations_of_prompt({7, 12, 2, 2, 8}, 6));
  CHECK(rows[1].name == "generate");
  CHECK(rows[1].sizes == "2x2x8 context 12 vocab 7");
  CHECK(rows[1].tokens == 1);
  // In a layer c_attn, c_proj, c_fc and c_proj with biases, two gains and biases of layer norms.
  const double layer = 8 * 24 + 24 + 8 * 8 + 8 + 8 * 32 + 32 + 32 * 8 + 8 + 4 * 8;
  CHECK(rows[1].bytes == sizeof(float) * (2 * layer + 7 * 8 + 8 + 2 * 8));
  CHECK(rows[0].limit == "multiply-adds");
  CHECK(rows[1].limit == "reading");
  for (const Row& row : rows) {
    CHECK(row.time.best > 0);
    CHECK(row.time.best <= row.time.median);
    CHECK(row.least.best > 0);
    CHECK(row.least.best <= row.least.median);
  }
}

TEST_CASE("bench generate: a prompt of the length asked for, also a window's last token") {
  for (const std::int64_t prompt : {1, 11}) {
    StepSizes sizes{.layers = 1, .heads = 1, .width = 4, .context = 12, .vocab = 7};
    sizes.steps = 4;
    sizes.prompt = prompt;
    const std::vector<Row> rows = fledge::bench::generate(sizes);
    CHECK(rows.at(0).tokens == static_cast<double>(prompt));
    CHECK(rows.at(1).time.best > 0);
  }
}

TEST_CASE("bench generate: the table has both rows and says what a token reads, in 80 columns") {
  const Result result = tiny_says({"--steps", "5", "--threads", "1"});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, ContainsSubstring("\nprompt 2x2x8 6 7 "));
  CHECK_THAT(result.out, ContainsSubstring("\ngenerate 2x2x8 7 "));
  CHECK_THAT(result.out, ContainsSubstring("\ngenerate: "));
  CHECK_THAT(result.out, ContainsSubstring(" tokens/s, at best "));
  for (const std::string& line : lines_of(result.out)) CHECK(line.size() <= 80);
}

TEST_CASE("bench generate: the rows as JSON") {
  const Result result = tiny_says({"--steps", "5", "--threads", "1", "--no-bias", "--json"});
  REQUIRE(result.status == 0);
  const StrictJson found = strict_json(result.out);
  REQUIRE(found.array().size() == 2);
  const StrictJson& prompt = found[0];
  CHECK(prompt["sizes"].string() == "2x2x8 context 12 tokens 6 vocab 7 no bias");
  CHECK(prompt["limit"].string() == "multiply-adds");
  CHECK_THAT(prompt["median_tokens_per_second"].number(),
             WithinRel(6e6 / prompt["median_us"].number(), 1e-9));
  const StrictJson& token = found[1];
  CHECK(token["limit"].string() == "reading");
  CHECK_THAT(token["best_tokens_per_second"].number(),
             WithinRel(1e6 / token["best_us"].number(), 1e-9));
  CHECK(token["best_tokens_per_second"].number() >= token["median_tokens_per_second"].number());
  CHECK(token["best_gigabytes"].number() > 0);
  CHECK(token["limit_best_gigabytes"].number() > 0);
  for (const char* share : {"best_share", "median_share"}) {
    CHECK(token[share].number() > 0);
    CHECK(token[share].number() <= 1);
  }
}

TEST_CASE("bench generate: options that say nothing about it are refused") {
  const auto refused = [](const std::vector<std::string>& arguments) {
    const Result result = fledge_says(arguments);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    return lines_of(result.err).at(0);
  };
  CHECK_THAT(refused({"bench", "generate", "--batch", "2"}),
             EndsWith("--batch says nothing about 'generate'"));
  CHECK_THAT(refused({"bench", "step", "--prompt", "2"}),
             EndsWith("--prompt says nothing about 'step'"));
  CHECK_THAT(refused({"bench", "generate", "8"}), EndsWith("'generate' takes no sizes: got 1"));
  CHECK_THAT(refused({"bench", "generate", "--context", "1"}),
             EndsWith("a context of 1 has no room for it"));
  CHECK_THAT(refused({"bench", "generate", "--context", "9", "--prompt", "9"}),
             EndsWith("a context of 9 has no room for it"));
  CHECK_THAT(refused({"bench", "generate", "--heads", "3"}),
             EndsWith("3 heads do not divide a width of 128"));
  CHECK_THAT(refused({"bench", "generate", "--width", "16384"}),
             ContainsSubstring("more than 2 GB"));
}
