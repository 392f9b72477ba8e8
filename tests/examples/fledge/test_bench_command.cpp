// fledge bench: what it says, and what it refuses before anything is allocated. No test asks how
// fast.
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

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
  CHECK(row["ms"].number() > 0);
  CHECK_THAT(row["us"].number(), WithinRel(1000 * row["ms"].number(), 1e-9));
  CHECK(row["share_of_peak"].number() >= 0);
  CHECK(row["threads"].number() == 1);
  CHECK(row["peak_mb"].number() > 0);
}

}  // namespace

TEST_CASE("bench: one array of rows, the machine's limits first") {
  const auto found = rows({"gemm", "31", "17", "65", "--threads", "1"});
  REQUIRE(found.array().size() == 2);
  const auto& machine = found.array()[0];
  CHECK(machine["name"].string() == "machine");
  CHECK(machine["gflops"].number() > 0);
  CHECK(machine["gigabytes"].number() > 0);
  const auto& row = found.array()[1];
  check_row(row, "gemm", "31x17x65");
  CHECK(row["peak_of"].string() == "multiply-adds");
  CHECK_THAT(row["gflops"].number(), WithinRel(2e-6 * 31 * 17 * 65 / row["ms"].number(), 1e-6));
}

TEST_CASE("bench: steps, attention and ops of the sizes asked for") {
  const auto step =
      rows({"step", "--layers", "1", "--heads", "2", "--width", "8", "--context", "5", "--batch",
            "2", "--vocab", "7", "--steps", "3", "--no-bias", "--threads", "1"});
  check_row(step.array().at(1), "step", "1x2x8 context 5 batch 2 vocab 7 no bias");
  const auto attention = rows({"attention", "1", "2", "33", "4", "--threads", "1"});
  check_row(attention.array().at(1), "attention", "1x2x33x4");
  for (const char* name : {"softmax", "layernorm", "gelu", "gelu_tanh"}) {
    if (sanitized && *name != 's') break;  // each measures the limits of the machine again
    const auto op = rows({"op", name, "5", "9", "--threads", "1"});
    check_row(op.array().at(1), name, "5x9");
    CHECK(op.array().at(1)["peak_of"].string() == "memory");
  }
  CHECK(rows({"overhead", "--threads", "1"}).array().at(1)["peak_of"].string().empty());
}

TEST_CASE("bench: no share is above 100 %, and what limits a row is named") {
  if (sanitized) {
    SUCCEED("a sanitizer has seen these rows");
    return;
  }
  for (const std::vector<std::string>& work : std::vector<std::vector<std::string>>{
           {"gemm", "256", "256", "256"}, {"op", "softmax", "64", "64"}, {"gemm", "2", "2", "2"}}) {
    std::vector<std::string> arguments = work;
    arguments.insert(arguments.end(), {"--threads", "1"});
    const StrictJson found = rows(arguments);
    CHECK(found[0]["call_ns"].number() > 0);
    CHECK(found[1]["share_of_peak"].number() > 0);
    CHECK(found[1]["share_of_peak"].number() <= 1);
    const std::string limit = found[1]["limited_by"].string();
    CAPTURE(work, limit);
    CHECK((limit == "multiply-adds" || limit == "memory" || limit == "call overhead" ||
           limit == "caches"));
  }
}

TEST_CASE("bench: the table names what was measured and the limits, in 80 columns") {
  const Result result = fledge_says({"bench", "overhead", "--threads", "1"});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, ContainsSubstring("overhead forward 3x3 "));
  CHECK_THAT(result.out, ContainsSubstring("overhead backward 3x3 "));
  CHECK(result.out.find(" -") == std::string::npos);  // no time is negative
  CHECK_THAT(result.out, ContainsSubstring("1 thread; at most "));
  const std::string step =
      fledge_says({"bench", "step", "--layers", "1", "--heads", "1", "--width", "8", "--context",
                   "5", "--batch", "2", "--vocab", "100000", "--steps", "3", "--no-bias"})
          .out;
  CHECK_THAT(step, ContainsSubstring("\nstep 1x1x8 2x5 vocab 100000 no bias "));
  CHECK_THAT(step, ContainsSubstring("\nstep: layers x heads x width, batch x context"));
  for (const std::string& line : lines_of(result.out + step)) CHECK(line.size() <= 80);
}

TEST_CASE("bench: a row is printed when it is measured, also into a pipe") {
  const Result begin = in_shell("\"$0\" bench --layers 1 --steps 1 --threads 1 | head -n 2");
  const std::vector<std::string> lines = lines_of(begin.out);
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], StartsWith("what "));
  CHECK_THAT(lines[1], StartsWith("step 1x4x128 12x64 vocab 65 "));
  // The other rows take a minute of the processor. The first of them finds that head has gone.
  if (FLEDGE_OPTIMISED != 0 && !sanitized) CHECK(begin.seconds < 10);
}

TEST_CASE("bench: what was measured is said where there is no memory left to measure the limits") {
  if (sanitized) {
    SUCCEED("a sanitizer reserves more than any limit");
    return;
  }
  const std::string op = "ulimit -v 200000; exec \"$0\" bench op softmax 5 9 --threads 1";
  const Result table = in_shell(op);
  CHECK(table.status == 0);
  CHECK(table.err.empty());
  CHECK_THAT(table.out, ContainsSubstring("\nsoftmax 5x9 "));
  CHECK_THAT(table.out, ContainsSubstring(" and - GB/s of memory, "));
  const auto found = strict_json(in_shell(op + " --json").out);
  CHECK(found[0]["gflops"].number() > 0);
  CHECK(found[0]["gigabytes"].is_null());
  CHECK(found[1]["name"].string() == "softmax");
  CHECK(found[1]["ms"].number() > 0);
  CHECK(found[1]["share_of_peak"].is_null());
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
  CHECK_THAT(refused_bench({"gemm", "8", "8"}), EndsWith("'gemm' needs 3 sizes"));
  CHECK_THAT(refused_bench({"step", "8"}), EndsWith("'step' takes no sizes"));
  CHECK_THAT(refused_bench({"gemm", "65536", "65536", "8"}), ContainsSubstring("more than 2 GB"));
  CHECK_THAT(refused_bench({"attention", "64", "64", "65536", "64"}),
             ContainsSubstring("more than 2 GB"));
  CHECK_THAT(refused_bench({"op", "gelu", "8192", "65536"}), ContainsSubstring("more than 2 GB"));
  CHECK_THAT(refused_bench({"step", "--batch", "4096"}), ContainsSubstring("more than 2 GB"));
  CHECK_THAT(refused_bench({"gemm", "-1", "8", "8"}), EndsWith(": got '-1'"));
  CHECK_THAT(refused_bench({""}), EndsWith("nothing to measure is named ''"));
  CHECK_THAT(refused_bench({"op", "softmax", "0", "8"}), EndsWith(": got '0'"));
  CHECK_THAT(refused_bench({"op", "dance", "8", "8"}), EndsWith("op needs a name: got 'dance'"));
  CHECK_THAT(refused_bench({"op"}), EndsWith("op needs a name: got ''"));
  CHECK_THAT(refused_bench({"gem"}), EndsWith("nothing to measure is named 'gem'"));
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
