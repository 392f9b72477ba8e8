// One pool of worker threads, started when it is first needed. Read next: thread_pool.cpp.
// After fork(), the child process must not use the pool: fork() does not copy the worker threads.
#pragma once

#include <algorithm>
#include <atomic>

#include "engine/base/dim.h"

namespace fledge {

/// How many threads share large work: the number that set_threads() set. Before the first call of
/// set_threads() it is the number in FLEDGE_THREADS, but at most one for each processor that this
/// process may use; without that variable, one for each processor. Throws ValueError when
/// FLEDGE_THREADS is no number from 1 to 256.
int threads();

/// Sets the number of threads, from the next run_tasks() on. More threads than processors change no
/// result and cost much time: see available_processors(). Throws ValueError outside 1 … 256.
void set_threads(int count);

/// The processors that the system lets this process run on, or the quota of its container if that
/// is less. At least 1. It is found out once, at the first call.
int available_processors();

/// The quota of a control group (cgroup v2) in processors, rounded up, from the text of its file
/// cpu.max, "QUOTA PERIOD" in microseconds; 0 when it has none.
int processors_of_quota(const char* cpu_max);

using PoolTask = void (*)(const void* context, Dim index);
/// Calls task(context, i) for i = 0 … count − 1 on this thread and, if possible, on the workers.
/// Returns when all are done. Rethrows the exception of the failed task with the lowest index.
/// Throws Interrupted if the interrupt test is true; then some tasks have not run. Call it through
/// engine/kernels/parallel.h.
void run_tasks(Dim count, PoolTask task, const void* context);

/// The tasks 0 … tasks − 1, cut into shares of neighbouring tasks: as many shares as threads, at
/// most 16. A thread begins with the share of its number, then takes tasks of the others. Jobs with
/// as many tasks and threads have the same shares: what a thread wrote in one job is often still in
/// its cache in the next. Affinity scheduling: Markatos & LeBlanc 1994.
class Shares {
 public:
  Shares(Dim tasks, int threads) { cut(tasks, threads); }

  /// Starts anew. No thread may be in take().
  void cut(Dim tasks, int threads) {
    count_ = std::min(threads, most);
    for (int s = 0; s < count_; ++s) {
      shares_[s].next.store(tasks * s / count_, std::memory_order_relaxed);
      shares_[s].end = tasks * (s + 1) / count_;
    }
  }

  /// Calls run(task) for tasks that no other thread has taken, first those of share `thread`, until
  /// none is left or run() returns false. Threads may call it at the same time.
  template <class F>
  void take(int thread, F run) {
    for (int s = 0; s < count_; ++s) {
      Share& share = shares_[(thread + s) % count_];
      for (Dim task = 0; (task = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;)
        if (!run(task)) return;
    }
  }

 private:
  static constexpr int most = 16;
  struct alignas(64) Share {  // a cache line each
    std::atomic<Dim> next{0};
    Dim end = 0;
  };

  int count_ = 0;
  Share shares_[most];
};

}  // namespace fledge
