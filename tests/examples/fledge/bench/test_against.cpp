// fledge bench --against: the times that other programs print, and their failures.
#include "examples/fledge/bench/against.h"

#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"

using namespace testing;
using fledge::bench::Row;
using fledge::bench::Times;

namespace {

void check_times(const char* output, double best, double median) {
  CAPTURE(output);
  const Times times = fledge::bench::times_in(output);
  CHECK_THAT(times.best, WithinRel(best, 1e-12));
  CHECK_THAT(times.median, WithinRel(median, 1e-12));
}

Result compared(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"bench", "gemm", "8", "8", "8", "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return fledge_says(arguments);
}

void check_refused(const Result& result, int status, const char* problem) {
  CHECK(result.status == status);
  if (status == 2) CHECK(result.out.empty());  // else the head of the table is there
  REQUIRE(lines_of(result.err).size() == 2);
  CHECK_THAT(lines_of(result.err)[0], EndsWith(problem));
}

}  // namespace

TEST_CASE("against: the times behind 'best' and 'median', in every unit") {
  check_times("64 x 64 x 64: best 4.5 us 117.4 GFLOP/s, median 6.4 us 82.2 GFLOP/s\n", 4.5e-6,
              6.4e-6);
  check_times("Median: 2ms\nBest: 1500 ns", 1.5e-6, 2e-3);
  check_times("best 3 \xc2\xb5s median 4 \xce\xbcs", 3e-6, 4e-6);
  check_times("best=1e-2 s; median=2.5e-2 s/step", 0.01, 0.025);
  check_times("best 12 GFLOP/s in 0.5 ms, median 0.75 ms", 5e-4, 7.5e-4);
}

TEST_CASE("against: one time counts as both") {
  check_times("threads 2  params 803  median 49.125 ms/step  15634 tokens/s", 0.049125, 0.049125);
  check_times("best 5 ms", 5e-3, 5e-3);
  check_times("gemm [512, 512, 512] 1.7500 ms 153.4 GFLOP/s", 1.75e-3, 1.75e-3);
  check_times("50 steps in 2 seconds, 40 ms each, then 50 ms", 0.04, 0.04);
  check_times("1,000 steps, best 1.5 ms", 1.5e-3, 1.5e-3);
  check_times("the bestest 3 ms, medians 4 ms", 3e-3, 3e-3);
  for (const char* none : {"", "done", "best", "12", "3 mss", "best 0 ms", "5 ts", "1 GFLOP/s",
                           "1,234 us", "1,5 ms", "1,234.5 us", "1e999 s", "-5 us"}) {
    CAPTURE(none);
    CHECK(fledge::bench::times_in(none).best == 0);
    CHECK(fledge::bench::times_in(none).median == 0);
  }
}

TEST_CASE("against: the smallest best time of all rounds, and the median of the medians") {
  std::vector<Times> of_rounds{{3, 30}, {1, 10}, {2, 50}};
  std::size_t round = 0;
  const Row row = fledge::bench::against(
      [&] {
        return Row{.name = "row", .time = of_rounds[round++], .limit = "half", .least = {1, 2}};
      },
      "echo 'best 4 s, median 6 s'", 3);
  CHECK(round == 3);
  CHECK(row.time.best == 1);
  CHECK(row.time.median == 30);
  CHECK(row.least.best == 1);
  CHECK(row.least.median == 2);
  CHECK(row.other.best == 4);
  CHECK(row.other.median == 6);
}

TEST_CASE("against: the table and the JSON have both ratios") {
  const Result table = compared({"--against", "echo best 4 ms median 6 ms", "--rounds", "1"});
  CHECK(table.status == 0);
  CHECK_THAT(table.out, ContainsSubstring("\nagainst: best 4.00 ms, "));
  CHECK_THAT(table.out, ContainsSubstring(" times as long; median 6.00 ms, "));
  for (const std::string& line : lines_of(table.out)) CHECK(line.size() <= 80);
  const Result json = compared({"--against", "echo 4 ms", "--rounds", "2", "--json"});
  REQUIRE(json.status == 0);
  const StrictJson found = strict_json(json.out);
  CHECK_THAT(found[0]["against_best_us"].number(), WithinRel(4000, 1e-9));
  CHECK_THAT(found[0]["against_median_us"].number(), WithinRel(4000, 1e-9));
  CHECK_THAT(found[0]["best_ratio"].number(), WithinRel(4000 / found[0]["best_us"].number(), 1e-9));
  CHECK_THAT(found[0]["median_ratio"].number(),
             WithinRel(4000 / found[0]["median_us"].number(), 1e-9));
}

TEST_CASE("against: a command that fails or prints no time, and a table of several rows") {
  check_refused(compared({"--against", "echo 4 ms; exit 3"}), 1, "failed with exit status 3");
  check_refused(compared({"--against", "kill -9 $$"}), 1, "was ended by signal 9");
  check_refused(compared({"--against", "echo done"}), 1, "'echo done' printed no time");
  check_refused(compared({"--against", ""}), 2, "--against has an empty value");
  check_refused(compared({"--rounds", "3"}), 2, "--rounds needs --against");
  for (const std::vector<std::string>& rows : std::vector<std::vector<std::string>>{
           {"bench"}, {"bench", "generate"}, {"bench", "overhead"}}) {
    std::vector<std::string> arguments = rows;
    arguments.insert(arguments.end(), {"--against", "echo 4 ms"});
    check_refused(fledge_says(arguments), 2, "--against needs exactly one measurement");
  }
}
