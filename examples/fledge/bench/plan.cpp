#include "examples/fledge/bench/plan.h"

#include <atomic>
#include <cstdio>
#include <map>
#include <numeric>

#include "engine/base/processors.h"
#include "examples/fledge/bench/model.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge::bench {

namespace {

double sum(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

// Sets the number of threads while it lives.
class Threads {
 public:
  explicit Threads(int count) : before_(threads()) { set_threads(count); }
  ~Threads() { set_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

class Recorder : public TaskRecorder {
 public:
  Recorder() : before_(std::exchange(task_recorder, this)) { last_ = Clock::now(); }
  ~Recorder() override { task_recorder = before_; }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void job_begins(Dim count) override {
    run_.jobs.push_back({lap(), {}});
    run_.jobs.back().tasks.reserve(static_cast<std::size_t>(count));
    last_ = Clock::now();
  }
  void task_ends() override { run_.jobs.back().tasks.push_back(lap()); }
  Recording result() {
    run_.after = lap();
    return run_;
  }

 private:
  // Seconds since the last call.
  double lap() {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    return seconds;
  }

  TaskRecorder* before_;
  Recording run_;
  Clock::time_point last_;
};

// Seconds of a job without work: each thread takes one task, and waits until all have one. Without
// waiting the calling thread would take all tasks before another thread has seen the job. No task
// waits longer than longest_wait: a thread that the system has suspended is not waited for.
constexpr double longest_wait = 1e-3;
double empty_job(int count) {
  const Threads these(count);
  struct Meeting {
    int count;
    std::atomic<int> here{0};
  };
  Timer timer([&] {
    Meeting meeting{.count = count};
    run_tasks(
        count,
        [](const void* context, Dim) {
          auto& all = *static_cast<Meeting*>(const_cast<void*>(context));
          const auto begin = Clock::now();
          for (++all.here; all.here < all.count && seconds_since(begin) < longest_wait;) {
          }
        },
        &meeting);
  });
  timer.warm_up(0);
  timer.run(5e-3);
  return timer.times().best;
}

double run_with(const std::function<void()>& f, int count) {
  const Threads these(count);
  const auto begin = Clock::now();
  f();
  return seconds_since(begin);
}

std::vector<Loss> worst_of(const Recording& run, int threads, double cost) {
  std::map<std::size_t, Loss> losses;
  for (const Job& job : run.jobs) {
    Loss& loss = losses[job.tasks.size()];
    ++loss.jobs;
    loss.tasks = static_cast<int>(job.tasks.size());
    loss.seconds += predicted(job, threads, cost) - sum(job.tasks) / threads;
  }
  std::vector<Loss> worst;
  for (const auto& [tasks, loss] : losses) worst.push_back(loss);
  std::sort(worst.begin(), worst.end(),
            [](const Loss& a, const Loss& b) { return a.seconds > b.seconds; });
  if (worst.size() > 3) worst.resize(3);
  return worst;
}

Json plan_json(const Plan& plan, const std::string& sizes) {
  std::vector<Json> worst;
  for (const Loss& loss : plan.worst)
    worst.push_back(Json::object(
        {{"jobs", loss.jobs}, {"tasks", loss.tasks}, {"lost_us", loss.seconds * 1e6}}));
  Json::Members members{{"name", "plan"},
                        {"sizes", sizes},
                        {"threads", plan.threads},
                        {"one_thread_us", plan.one * 1e6},
                        {"predicted_us", plan.predicted * 1e6},
                        {"speedup", plan.one / plan.predicted},
                        {"serial_us", plan.serial * 1e6},
                        {"serial_share", plan.serial / plan.one},
                        {"job_cost_us", plan.cost * 1e6},
                        {"worst", worst}};
  if (plan.measured_two > 0) {
    members.emplace_back("predicted_two_us", plan.predicted_two * 1e6);
    members.emplace_back("measured_two_us", plan.measured_two * 1e6);
    members.emplace_back("measured_by_predicted", plan.measured_two / plan.predicted_two);
  }
  return Json::object(members);
}

}  // namespace

double Recording::serial() const {
  return std::accumulate(jobs.begin(), jobs.end(), after,
                         [](double seconds, const Job& job) { return seconds + job.before; });
}

double Recording::total() const { return predicted(*this, 1, 0); }

double predicted(const Job& job, int threads, double cost) {
  std::vector<double> busy_until(static_cast<std::size_t>(threads), 0.0);
  for (const double seconds : job.tasks)
    *std::min_element(busy_until.begin(), busy_until.end()) += seconds;
  return *std::max_element(busy_until.begin(), busy_until.end()) + cost;
}

double predicted(const Recording& run, int threads, double cost) {
  double seconds = run.serial();
  for (const Job& job : run.jobs) seconds += predicted(job, threads, cost);
  return seconds;
}

void keep_best(Recording& best, Recording run) {
  if (best.total() == 0 || run.total() < best.total()) best = std::move(run);
}

Recording recorded(const std::function<void()>& f, int threads) {
  const Threads these(threads);
  Recorder recorder;
  f();
  return recorder.result();
}

Plan plan_step(const StepSizes& sizes, int threads) {
  constexpr double budget = 4;  // seconds
  const std::function<void()> train = training_of(sizes);
  const int processors = available_processors();
  const bool has_two = processors >= 2;
  run_with(train, 1);
  Plan plan{.threads = threads};
  Recording many, two;
  plan.one = plan.measured_two = plan.cost = std::numeric_limits<double>::infinity();
  double cost_of_two = plan.cost;
  std::int64_t done = 0;
  const auto begin = Clock::now();
  const auto enough = [&] {
    return sizes.steps > 0 ? done >= sizes.steps : done >= 5 && seconds_since(begin) >= budget;
  };
  const auto repeat = [](auto f) {
    const auto start = Clock::now();
    do f();
    while (seconds_since(start) < work_turn);
  };
  for (; !enough(); ++done) {
    repeat([&] { plan.one = std::min(plan.one, run_with(train, 1)); });
    repeat([&] { keep_best(many, recorded(train, threads)); });
    plan.cost = std::min(plan.cost, empty_job(std::min(threads, processors)));
    if (!has_two) continue;
    cost_of_two = std::min(cost_of_two, empty_job(2));
    repeat([&] { keep_best(two, recorded(train, 2)); });
    run_with(train, 2);  // the second worker wakes up
    repeat([&] { plan.measured_two = std::min(plan.measured_two, run_with(train, 2)); });
  }
  plan.predicted = predicted(many, threads, plan.cost);
  plan.serial = many.serial();
  plan.worst = worst_of(many, threads, plan.cost);
  if (has_two)
    plan.predicted_two = predicted(two, 2, cost_of_two);
  else
    plan.measured_two = 0;
  return plan;
}

std::string description_of(const Plan& plan, const StepSizes& sizes, bool json) {
  using support::formatted;
  const std::string text = by({sizes.layers, sizes.heads, sizes.width}) + " context " +
                           std::to_string(sizes.context) + " batch " + std::to_string(sizes.batch) +
                           vocabulary_of(sizes);
  if (json) return Json(std::vector<Json>{plan_json(plan, text)}).indented() + "\n";
  constexpr double ms = 1e3;
  std::string out = "step " + text + "\n";
  out += formatted("  one thread    %9.3f ms, measured\n", plan.one * ms);
  out += formatted("  %3d threads   %9.3f ms, predicted: %.2f times as fast\n", plan.threads,
                   plan.predicted * ms, plan.one / plan.predicted);
  out += formatted("  serial work   %9.3f ms, %.1f %% of a step on one thread\n", plan.serial * ms,
                   100 * plan.serial / plan.one);
  out += formatted("  starting a job%9.3f us\n", plan.cost * 1e6);
  if (plan.cost >= longest_wait)
    out += "  The threads never ran at the same time: try again when the machine is idle.\n";
  for (const Loss& loss : plan.worst)
    out += formatted("  %s of %s: %.3f ms more than with equal shares\n",
                     support::counted(loss.jobs, "job").c_str(),
                     support::counted(loss.tasks, "task").c_str(), loss.seconds * ms);
  if (plan.measured_two > 0) {
    const double ratio = plan.measured_two / plan.predicted_two;
    out += formatted("  2 threads     %9.3f ms measured, %.3f ms predicted: ratio %.2f\n",
                     plan.measured_two * ms, plan.predicted_two * ms, ratio);
    if (ratio < 0.8 || ratio > 1.25)
      out += "  Wrong by a fifth or more: try again when the machine is idle.\n";
  }
  return out;
}

}  // namespace fledge::bench
