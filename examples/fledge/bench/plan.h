// How much faster a training step would be with more threads, computed from one run on one thread.
//
// Key idea: a recorder keeps the time of each task of a step, and the serial time between the jobs
// of tasks. A simulation then gives the tasks to N threads, as the pool does.
// Next: plan.cpp, engine/base/thread_pool.h.
#pragma once

#include <string>
#include <vector>

#include "engine/base/thread_pool.h"
#include "examples/fledge/bench/bench.h"

namespace fledge::bench {

/// One call of run_tasks().
struct Job {
  double before = 0;          // seconds of serial work since the job before it
  std::vector<double> tasks;  // seconds of each, in their order
};

struct Recording {
  std::vector<Job> jobs;
  double after = 0;  // seconds of serial work behind the last job

  double serial() const;  // seconds outside of jobs
  double total() const;   // seconds on one thread
};

/// Seconds of a job: each thread takes the next task when it is free, and waking and joining the
/// threads takes `cost` seconds. Which thread begins with which task (base/shares.h) is ignored.
double predicted(const Job& job, int threads, double cost);
/// Seconds of a run: its serial work, and its jobs one after the other.
double predicted(const Recording& run, int threads, double cost);

/// Runs f on this thread and records its jobs, cut into the tasks for `threads` threads.
Recording recorded(const std::function<void()>& f, int threads);

/// Keeps the shorter of the two runs. A run of 0 seconds is none.
void keep_best(Recording& best, Recording run);

/// All jobs that have the same number of tasks.
struct Loss {
  int jobs = 0, tasks = 0;
  double seconds = 0;  // that they take beyond the time of their tasks / the number of threads
};

struct Plan {
  int threads = 0;
  double one = 0;                              // seconds of a step on one thread
  double predicted = 0;                        // with `threads` threads
  double serial = 0;                           // of the recorded step, outside of its jobs
  double cost = 0;                             // seconds of an empty job
  std::vector<Loss> worst{};                   // at most three, the largest loss first
  double predicted_two = 0, measured_two = 0;  // 0: there is one processor
};

/// All times are the best of several steps, in turn.
Plan plan_step(const StepSizes& sizes, int threads);
std::string description_of(const Plan& plan, const StepSizes& sizes, bool json);

}  // namespace fledge::bench
