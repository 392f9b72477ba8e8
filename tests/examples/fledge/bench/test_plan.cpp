// The simulation on jobs made by hand, and the recorder of tasks. No test asks how fast.
#include "examples/fledge/bench/plan.h"

#include "engine/array_math.h"
#include "engine/kernels/parallel.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"

using namespace testing;
using fledge::Array;
using fledge::Dim;
using fledge::bench::Job;
using fledge::bench::predicted;
using fledge::bench::Recording;

namespace {

template <class F>
void parallel(Dim tasks, const F& f) {
  fledge::kernels::parallel_for(tasks, fledge::kernels::blocking.serial_work, f);
}

std::vector<std::size_t> tasks_of(const Recording& run) {
  std::vector<std::size_t> counts;
  for (const Job& job : run.jobs) counts.push_back(job.tasks.size());
  return counts;
}

}  // namespace

TEST_CASE("plan: a thread takes the next task when it is free") {
  // Two threads: 3, 1, 1, 1 end at 3 and 3. Three: 3, 2, 1. Four: 3.
  const Job job{0, {3, 1, 1, 1}};
  CHECK(predicted(job, 1, 0) == 6);
  CHECK(predicted(job, 2, 0) == 3);
  CHECK(predicted(job, 4, 0) == 3);
  CHECK(predicted(job, 256, 0) == 3);
  CHECK(predicted(job, 2, 0.5) == 3.5);
  // The order counts: the long task begins last, at 2.
  CHECK(predicted({0, {2, 2, 5}}, 2, 0) == 7);
  CHECK(predicted({0, {5, 2, 2}}, 2, 0) == 5);
}

TEST_CASE("plan: serial time counts as it is, and each job costs") {
  const Recording run{{{1, {2, 2}}, {4, {6, 3, 3}}}, 8};
  CHECK(run.serial() == 13);
  CHECK(run.total() == 29);
  CHECK(predicted(run, 2, 0) == 13 + 2 + 6);
  CHECK(predicted(run, 2, 0.25) == 13 + 2 + 6 + 0.5);
  CHECK(predicted(run, 3, 0) == 13 + 2 + 6);
  CHECK(predicted({{}, 3}, 8, 1) == 3);
}

TEST_CASE("plan: the shorter recording is kept, with jobs and without") {
  Recording best;
  for (const double seconds : {3, 5, 2, 4}) keep_best(best, {{}, seconds});
  CHECK(best.total() == 2);
  keep_best(best, {{{1, {2}}}, 0});
  CHECK(best.jobs.empty());
  keep_best(best, {{{0, {1}}}, 0});
  CHECK(best.jobs.size() == 1);
}

TEST_CASE("plan: the text says when starting a job could not be measured") {
  using fledge::bench::Plan;
  const auto text = [](double cost) {
    return description_of(Plan{.threads = 2, .one = 1, .cost = cost}, {}, false);
  };
  const std::string says = "never ran at the same time";
  CHECK_THAT(text(5e-6), !ContainsSubstring(says));
  CHECK_THAT(text(1e-3), ContainsSubstring(says));
  for (const std::string& line : lines_of(text(1e-3))) CHECK(line.size() <= 80);
}

TEST_CASE("plan: the text says when the prediction for two threads is wrong") {
  using fledge::bench::Plan;
  const auto text = [](double measured) {
    const Plan plan{.threads = 2, .one = 2, .predicted_two = 1, .measured_two = measured};
    return description_of(plan, {}, false);
  };
  const std::string says = "Wrong by a fifth or more: try again";
  for (const double measured : {0.81, 1.0, 1.24})
    CHECK_THAT(text(measured), !ContainsSubstring(says));
  for (const double measured : {0.79, 1.26}) {
    CHECK_THAT(text(measured), ContainsSubstring(says));
    for (const std::string& line : lines_of(text(measured))) CHECK(line.size() <= 80);
  }
}

TEST_CASE("plan: the recorder sees each job and its tasks, in order, on this thread") {
  std::vector<Dim> order;
  const int before = fledge::threads();
  const Recording run = fledge::bench::recorded(
      [&] {
        CHECK(fledge::threads() == 7);
        parallel(5, [&](Dim i) { order.push_back(i); });
        parallel(2, [&](Dim) { parallel(3, [&](Dim i) { order.push_back(10 + i); }); });
      },
      7);
  CHECK(fledge::threads() == before);
  CHECK(fledge::task_recorder == nullptr);
  CHECK(order == std::vector<Dim>{0, 1, 2, 3, 4, 10, 11, 12, 10, 11, 12});
  CHECK(tasks_of(run) == std::vector<std::size_t>{5, 2});  // a job in a task is part of the task
  for (const Job& job : run.jobs)
    for (const double seconds : job.tasks) CHECK(seconds >= 0);
}

TEST_CASE("plan: an exception of a task ends the recording and reaches the caller") {
  const int before = fledge::threads();
  CHECK_THROWS_WITH(fledge::bench::recorded(
                        [] { parallel(3, [](Dim) { throw std::runtime_error("a task"); }); }, 2),
                    "a task");
  CHECK(fledge::threads() == before);
  CHECK(fledge::task_recorder == nullptr);
}

TEST_CASE("plan: recording changes no bit of a result") {
  fledge::Rng rng(1);
  const Array a = random_normal({150, 170}, 0, 1, rng), b = random_normal({170, 130}, 0, 1, rng);
  const Array right = product(a, b);
  for (const int threads : {2, 5, 64}) {
    Array found;
    const Recording run = fledge::bench::recorded([&] { found = product(a, b); }, threads);
    CHECK(!run.jobs.empty());
    CHECK(to_vector(found) == to_vector(right));
  }
}

TEST_CASE("bench step --plan: what it says, and what it refuses") {
  const std::vector<std::string> step{"bench",   "step", "--layers", "1", "--width", "32",
                                      "--batch", "4",    "--steps",  "2", "--plan",  "8"};
  const Result text = fledge_says(step);
  CHECK(text.status == 0);
  CHECK_THAT(text.out, StartsWith("step 1x4x32 context 64 batch 4 vocab 65\n"));
  CHECK_THAT(text.out, ContainsSubstring("\n    8 threads "));
  for (const std::string& line : lines_of(text.out)) CHECK(line.size() <= 80);
  std::vector<std::string> with_json = step;
  with_json.emplace_back("--json");
  const Result json = fledge_says(with_json);
  REQUIRE(json.status == 0);
  const StrictJson found = strict_json(json.out);
  const StrictJson& plan = found[0];
  CHECK(plan["threads"].number() == 8);
  CHECK_THAT(plan["speedup"].number(),
             WithinRel(plan["one_thread_us"].number() / plan["predicted_us"].number(), 1e-9));
  CHECK(plan["serial_us"].number() > 0);
  CHECK(plan["serial_us"].number() <= plan["predicted_us"].number());
  CHECK(plan["serial_share"].number() > 0);
  CHECK(plan["serial_share"].number() <= 1);
  CHECK(plan["job_cost_us"].number() > 0);
  CHECK(plan["worst"].array().size() <= 3);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"bench", "--plan", "8"},
           {"bench", "gemm", "8", "8", "8", "--plan", "8"},
           {"bench", "step", "--plan", "8", "--against", "echo 1 s"},
           {"bench", "step", "--plan", "1"},
           {"bench", "step", "--plan", "257"}}) {
    const Result refused = fledge_says(words);
    CHECK(refused.status == 2);
    CHECK(refused.out.empty());
    CHECK(lines_of(refused.err).size() == 2);
  }
}
