// fledge bench: what it says, and what it refuses before anything is allocated. No test asks how
// fast.
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

using namespace testing;

namespace {

std::string refused_bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  CAPTURE(arguments);
  const Result result = fledge_says(arguments);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  const std::vector<std::string> lines = lines_of(result.err);
  REQUIRE(lines.size() == 2);
  return lines[0];
}

StrictJson rows(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  arguments.push_back("--json");
  const Result result = fledge_says(arguments);
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  return strict_json(result.out);
}

void check_row(const StrictJson& row, const char* name, const char* sizes) {
  CHECK(row["name"].string() == name);
  CHECK(row["sizes"].string() == sizes);
  CHECK(row["best_us"].number() > 0);
  CHECK(row["best_us"].number() <= row["median_us"].number());
  CHECK(row["limit_best_us"].number() > 0);
  CHECK(row["limit_best_us"].number() <= row["limit_median_us"].number());
  for (const char* share : {"best_share", "median_share"}) {
    CHECK(row[share].number() > 0);
    CHECK(row[share].number() <= 1);
  }
  CHECK(row["threads"].number() == 1);
  CHECK(row["peak_mb"].number() > 0);
}

}  // namespace

TEST_CASE("bench: a row has its times, those of its limit, and both shares") {
  const auto found = rows({"gemm", "31", "17", "65", "--threads", "1"});
  REQUIRE(found.array().size() == 1);
  const auto& row = found[0];
  check_row(row, "gemm", "31x17x65");
  CHECK(row["limit"].string() == "multiply-adds");
  CHECK_THAT(row["best_gflops"].number(),
             WithinRel(2e-3 * 31 * 17 * 65 / row["best_us"].number(), 1e-6));
  CHECK_THAT(row["limit_best_gflops"].number(),
             WithinRel(2e-3 * 31 * 17 * 65 / row["limit_best_us"].number(), 1e-6));
  const double share = row["limit_best_us"].number() / row["best_us"].number();
  CHECK_THAT(row["best_share"].number(), WithinRel(share > 1 ? 1 : share, 1e-9));
}

TEST_CASE("bench: steps, products, attention and ops of the sizes asked for") {
  const auto step =
      rows({"step", "--layers", "1", "--heads", "2", "--width", "8", "--context", "5", "--batch",
            "2", "--vocab", "7", "--steps", "3", "--no-bias", "--threads", "1"});
  check_row(step[0], "step", "1x2x8 context 5 batch 2 vocab 7 no bias");
  const auto attention = rows({"attention", "1", "2", "33", "4", "--threads", "1"});
  check_row(attention[0], "attention", "1x2x33x4");
  const auto cross = rows({"cross", "1", "2", "5", "33", "4", "--threads", "1"});
  check_row(cross[0], "cross", "1x2x5x33x4");
  CHECK(rows({"gemm", "3", "4", "5", "NN"})[0]["sizes"].string() == "3x4x5");
  check_row(rows({"gemm", "3", "4", "5", "TN", "--threads", "1"})[0], "gemm", "3x4x5 TN");
  check_row(rows({"gemm", "3", "4", "5", "NT", "--threads", "1"})[0], "gemm", "3x4x5 NT");
  for (const char* name : {"softmax", "layernorm", "gelu", "gelu_tanh"}) {
    const auto op = rows({"op", name, "5", "9", "--threads", "1"});
    check_row(op[0], name, "5x9");
    CHECK(op[0]["limit"].string() == "memory");
    CHECK(op[0]["best_gigabytes"].number() > 0);
  }
  CHECK(rows({"overhead", "--threads", "1"}).array().size() == 2);
}

TEST_CASE("bench: the table names what was measured and the limits, in 80 columns") {
  const Result result = fledge_says({"bench", "overhead", "--threads", "1"});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, ContainsSubstring("overhead forward 3x3 "));
  CHECK_THAT(result.out, ContainsSubstring("overhead backward 3x3 "));
  CHECK(result.out.find(" -") == std::string::npos);  // no time is negative
  CHECK_THAT(result.out, ContainsSubstring("1 thread; peak "));
  const std::string step =
      fledge_says({"bench", "step", "--layers", "1", "--heads", "1", "--width", "8", "--context",
                   "5", "--batch", "2", "--vocab", "100000", "--steps", "3", "--no-bias"})
          .out;
  CHECK_THAT(step, ContainsSubstring("\nstep 1x1x8 2x5 100000 no bias\n"));
  CHECK_THAT(step, ContainsSubstring("\nstep: layers x heads x width, batch x context"));
  for (const std::string& line : lines_of(result.out + step)) CHECK(line.size() <= 80);
}

TEST_CASE("bench: a row is printed when it is measured, also into a pipe") {
  const Result begin = in_shell("\"$0\" bench --layers 1 --steps 1 --threads 1 | head -n 3");
  const std::vector<std::string> lines = lines_of(begin.out);
  REQUIRE(lines.size() == 3);
  CHECK_THAT(lines[1], StartsWith("what "));
  CHECK_THAT(lines[2], StartsWith("step 1x4x128 12x64 65 "));
  // The other rows take a minute of the processor. The first of them finds that head has gone.
  if (FLEDGE_OPTIMISED != 0 && !sanitized) CHECK(begin.seconds < 10);
}

TEST_CASE("bench: a small row and its limit need little memory") {
  if (sanitized) {
    testing::report_skipped("a sanitizer reserves more than any limit");
    return;
  }
  for (const char* work : {"op softmax 5 9", "generate --width 8 --steps 5"}) {
    const Result table =
        in_shell("ulimit -v 100000; exec \"$0\" bench " + std::string(work) + " --threads 1");
    CAPTURE(work, table.err);
    CHECK(table.status == 0);
    CHECK(table.err.empty());
    CHECK_THAT(table.out, ContainsSubstring(" % "));
  }
}

TEST_CASE("a FLEDGE_THREADS that is no number of threads is refused before work begins") {
  for (const char* text : {"0", "-1", "1000000", "two", " 2", "+2", "2x"}) {
    if (sanitized && *text != '1') continue;
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"bench"}, {"gradcheck"}, {"train", "text"}, {"generate", "run"}, {"eval", "run"}}) {
      const Result result = fledge_says(words, {{"FLEDGE_THREADS", text}});
      INFO(words[0] << " with FLEDGE_THREADS='" << text << "'");
      CHECK(fledge_says({words[0], "--help"}, {{"FLEDGE_THREADS", text}}).status == 0);
      CHECK(result.status == 2);
      CHECK(result.out.empty());
      CHECK(lines_of(result.err).size() == 2);
      CHECK_THAT(result.err, ContainsSubstring("FLEDGE_THREADS: must be a number from 1 to 256"));
    }
  }
}

TEST_CASE("bench: sizes that make no sense are refused before anything is allocated") {
  CHECK_THAT(refused_bench({"gemm", "0", "8", "8"}),
             EndsWith("a size must be a whole number from 1 to 65536: got '0'"));
  CHECK_THAT(refused_bench({"gemm", "8", "1000000000", "8"}), EndsWith(": got '1000000000'"));
  CHECK_THAT(refused_bench({"gemm", "8", "99999999999999999999", "8"}),
             EndsWith(": got '99999999999999999999'"));
  CHECK_THAT(refused_bench({"gemm", "8", "many", "8"}), EndsWith(": got 'many'"));
  CHECK_THAT(refused_bench({"gemm", "8", "8x", "8"}), EndsWith(": got '8x'"));
  CHECK_THAT(refused_bench({"gemm", "8", "8"}), EndsWith("'gemm' needs 3 sizes: got 2"));
  CHECK_THAT(refused_bench({"gemm", "8", "8", "NT"}), EndsWith("'gemm' needs 3 sizes: got 2"));
  CHECK_THAT(refused_bench({"gemm", "8", "8", "8", "TT"}),
             EndsWith("the layout of a product is NN, NT or TN: got 'TT'"));
  CHECK_THAT(refused_bench({"cross", "8", "8", "8", "8"}),
             EndsWith("'cross' needs 5 sizes: got 4"));
  CHECK_THAT(refused_bench({"cross", "64", "64", "65536", "8", "64"}),
             ContainsSubstring("more than 2 GB"));
  CHECK_THAT(refused_bench({"step", "8"}), EndsWith("'step' takes no sizes: got 1"));
  CHECK_THAT(refused_bench({"gemm", "65536", "65536", "8"}), ContainsSubstring("more than 2 GB"));
  CHECK_THAT(refused_bench({"attention", "64", "64", "65536", "64"}),
             ContainsSubstring("more than 2 GB"));
  CHECK_THAT(refused_bench({"op", "gelu", "8192", "65536"}), ContainsSubstring("more than 2 GB"));
  CHECK_THAT(refused_bench({"step", "--batch", "4096"}), ContainsSubstring("more than 2 GB"));
  CHECK_THAT(refused_bench({"gemm", "-1", "8", "8"}), EndsWith(": got '-1'"));
  CHECK_THAT(refused_bench({""}), EndsWith("there is no measurement ''"));
  CHECK_THAT(refused_bench({"op", "softmax", "0", "8"}), EndsWith(": got '0'"));
  CHECK_THAT(refused_bench({"op", "dance", "8", "8"}),
             EndsWith("op that is measured: got 'dance'"));
  CHECK_THAT(refused_bench({"op"}), EndsWith("op that is measured: got ''"));
  CHECK_THAT(refused_bench({"gem"}), EndsWith("there is no measurement 'gem'"));
  CHECK_THAT(refused_bench({"step", "--heads", "3"}),
             EndsWith("3 heads do not divide a width of 128"));
  CHECK_THAT(refused_bench({"gemm", "8", "8", "8", "--width", "64"}),
             EndsWith("--width says nothing about 'gemm'"));
  CHECK_THAT(refused_bench({"gemm", "8", "8", "8", "--heads", "3"}),
             EndsWith("--heads says nothing about 'gemm'"));
  CHECK_THAT(refused_bench({"overhead", "--no-bias"}),
             EndsWith("--no-bias says nothing about 'overhead'"));
  for (const char* size : {"0", "-1", "1000000000", "two"})
    for (const char* option : {"--layers", "--width", "--context", "--batch", "--threads"})
      CHECK_THAT(refused_bench({"step", option, size}),
                 StartsWith("fledge bench: " + std::string(option)));
  CHECK_THAT(refused_bench({"step", "--batch", "65536", "--context", "65536"}),
             ContainsSubstring("more than 2 GB"));
}
