#include "engine/base/thread_pool.h"

#include <pthread.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <charconv>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "engine/base/errors.h"
#include "engine/base/interrupt.h"

namespace fledge {

namespace {

constexpr int max_threads = 256;

std::atomic<int> wanted_threads{0};  // 0: not set

// `text` for an error message: at most 40 characters, then "..."; characters that are not printable
// ASCII become '?'.
std::string printable_excerpt(const char* text) {
  std::string result;
  for (int i = 0; text[i] != '\0'; ++i) {
    if (i == 40) return result + "...";
    result += text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
  }
  return result;
}

// The value of FLEDGE_THREADS, or max_threads if it is not set.
int from_environment() {
  const char* text = std::getenv("FLEDGE_THREADS");
  if (text == nullptr || *text == '\0') return max_threads;
  int count = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), count);
  const bool is_number = error == std::errc() && *end == '\0';
  require<ValueError>(is_number && count >= 1 && count <= max_threads, "FLEDGE_THREADS",
                      "must be a number from 1 to ", max_threads, ": got '",
                      printable_excerpt(text), "'");
  return count;
}

// One call of run_tasks().
struct Job {
  const Dim count;
  const PoolTask task;
  const void* const context;
  InterruptTest interrupt_test = process::interrupt_test;  // of the thread that starts the job
  std::atomic<bool> interrupted{false};
  Shares shares{count, 1};
  std::mutex failure_mutex;
  Dim failed_at = 0;
  std::exception_ptr failure;

  Job(Dim tasks, PoolTask f, const void* of) : count(tasks), task(f), context(of) {}

  void run_tasks(int thread) noexcept {
    shares.take(thread, [&](Dim i) {
      if (interrupted || (interrupt_test != nullptr && interrupt_test())) {
        interrupted = true;
        return false;
      }
      try {
        task(context, i);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure || i < failed_at) {
          failure = std::current_exception();
          failed_at = i;
        }
      }
      return true;
    });
  }
};

// Number of polls before a worker sleeps or the waiting caller yields. Waking a thread takes longer
// than a training step waits before it starts the next job.
constexpr int spin_limit = 4000;

// Spin-wait hint: saves power and helps the other hardware thread of the core. On ARM, `isb` takes
// about as long as `pause` on x86; the ARM instruction `yield` does nothing on most cores.
void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#else
  std::this_thread::yield();
#endif
}

// The worker threads that help the thread that calls run(). They are started when they are first
// needed and never stopped: the end of the program ends them.
//
// `round_` packs two things: the number of the round (one job is one round) and the number of free
// slots. A worker takes a slot before it takes tasks. When no task is left, the caller removes
// the free slots and waits only for the workers that took one, not for a worker that was suspended
// before it took one: another program may have its processor.
class Pool {
 public:
  // The pool is never destroyed, because its workers may outlive all static objects. It uses no
  // operator new, so it does not throw.
  static Pool& instance() {
    alignas(Pool) static std::byte memory[sizeof(Pool)];
    static Pool* const pool = new (memory) Pool;
    return *pool;
  }

  // True on workers, and on the calling thread while it uses the pool. Then run_tasks() runs all
  // its tasks on this thread.
  static bool& in_parallel_region() {
    thread_local bool inside = false;
    return inside;
  }

  // Runs the job on this thread and at most `workers` others. Returns false, and runs nothing, if
  // the pool is busy with the job of another thread.
  bool run(Job& job, int workers) {
    const std::unique_lock<std::mutex> only_job(in_use_, std::try_to_lock);
    if (!only_job.owns_lock()) return false;
    const auto slots = static_cast<std::uint64_t>(start_workers(workers));
    job.shares.cut(job.count, 1 + static_cast<int>(slots));
    job_ = &job;
    finished_.store(0, std::memory_order_relaxed);  // made visible by the release below
    {
      // The mutex: a worker that is about to sleep sees the new round, or is woken.
      const std::lock_guard lock(mutex_);
      const std::uint64_t number = round_.load(std::memory_order_relaxed) / one_round + 1;
      // Release: a worker that takes a slot of this round sees job_ and finished_ = 0.
      round_.store(number * one_round + slots, std::memory_order_release);
    }
    // Relaxed: a worker that counted itself before the mutex was locked here is seen because of the
    // mutex; a worker that locks it later sees the new round and does not sleep.
    if (asleep_.load(std::memory_order_relaxed) > 0) wake_.notify_all();
    in_parallel_region() = true;
    job.run_tasks(0);
    in_parallel_region() = false;
    // Relaxed: only the count matters. The loop below makes visible what the workers wrote.
    const std::uint64_t free =
        round_.fetch_and(~(one_round - 1), std::memory_order_relaxed) % one_round;
    const std::uint64_t taken = slots - free;
    // Acquire: it pairs with the release of each worker that finished, as every addition to
    // finished_ continues the release sequence of those before it.
    for (int i = 0; finished_.load(std::memory_order_acquire) < taken;) {
      if (i < spin_limit) {
        cpu_relax();
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
    return true;
  }

 private:
  static constexpr std::uint64_t one_round = 1 << 16;  // round_: number · 2¹⁶ + free slots

  // Stack size of a worker, far more than the kernels use. The default stack size of the process
  // may be too large or too small.
  static constexpr std::size_t worker_stack = std::size_t{1} << 20;

  // Starts workers until there are `wanted`. Returns how many there are, at most `wanted`: after a
  // failure no other start is tried.
  int start_workers(int wanted) {
    while (started_ < std::min(wanted, most_workers_)) {
      if (start_worker())
        ++started_;
      else
        most_workers_ = started_;
    }
    return std::min(wanted, started_);
  }

  bool start_worker() {
    const auto start = [](void* pool) -> void* {
      static_cast<Pool*>(pool)->serve();
      return nullptr;
    };
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, worker_stack);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    const bool started = pthread_create(&thread, &attributes, start, this) == 0;
    pthread_attr_destroy(&attributes);
    return started;
  }

  void serve() noexcept {
    in_parallel_region() = true;
    const int share = next_share_.fetch_add(1, std::memory_order_relaxed);
    for (std::uint64_t seen = 0;;) {  // the number of the last round that this worker has seen
      // Relaxed: nothing else is read before the compare-exchange below.
      std::uint64_t round = round_.load(std::memory_order_relaxed);
      for (int i = 0; i < spin_limit && round / one_round == seen; ++i) {
        cpu_relax();
        round = round_.load(std::memory_order_relaxed);
      }
      if (round / one_round == seen) {
        std::unique_lock lock(mutex_);
        asleep_.fetch_add(1, std::memory_order_relaxed);  // under the mutex, as round_ is stored
        wake_.wait(lock, [&] {
          round = round_.load(std::memory_order_relaxed);
          return round / one_round != seen;
        });
        asleep_.fetch_sub(1, std::memory_order_relaxed);
      }
      const bool has_slot = round % one_round > 0;
      // Acquire: it pairs with the release of the store in run(), also after other workers took
      // slots, as their changes continue the release sequence of the store. A failed exchange
      // reads nothing else. It fails if another worker took a slot, or if the round is over.
      if (has_slot && !round_.compare_exchange_strong(round, round - 1, std::memory_order_acquire,
                                                      std::memory_order_relaxed))
        continue;
      seen = round / one_round;
      if (!has_slot) continue;
      job_->run_tasks(share);
      // Release: the caller sees what the tasks wrote, and this worker uses the job no more.
      finished_.fetch_add(1, std::memory_order_release);
    }
  }

  std::mutex in_use_;                                  // locked during a job
  int started_ = 0, most_workers_ = max_threads - 1;   // under in_use_
  Job* job_ = nullptr;                                 // of this round
  std::atomic<std::uint64_t> round_{0}, finished_{0};  // finished_: workers, in this round
  std::mutex mutex_;                                   // of what follows
  std::condition_variable wake_;
  std::atomic<int> next_share_{1};  // of the worker that starts next; the caller has share 0
  std::atomic<int> asleep_{0};
};

// A set holds 1,024 processors: on a larger machine the call fails, and all processors that are
// switched on are counted.
int allowed_processors() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int processors_of_quota(const char* cpu_max) {
  double quota = 0, period = 0;
  const bool has_quota = std::sscanf(cpu_max, "%lf %lf", &quota, &period) == 2;
  if (!has_quota || !(quota > 0) || !(period > 0)) return 0;
  return static_cast<int>(std::min(std::ceil(quota / period), 1e6));  // no machine has more
}

int available_processors() {
  static const int count = [] {
    std::string cpu_max;  // a container sees its own group here
    std::getline(std::ifstream("/sys/fs/cgroup/cpu.max"), cpu_max);
    const int allowed = std::max(1, allowed_processors());
    const int quota = processors_of_quota(cpu_max.c_str());
    return quota == 0 ? allowed : std::min(allowed, quota);
  }();
  return count;
}

int threads() {
  const int wanted = wanted_threads;
  if (wanted > 0) return wanted;
  static const int count = std::min(from_environment(), available_processors());
  return count;
}

void set_threads(int count) {
  require<ValueError>(count >= 1 && count <= max_threads, "set_threads",
                      "needs a number from 1 to ", max_threads, ": got ", count);
  wanted_threads = count;
}

void run_tasks(Dim count, PoolTask task, const void* context) {
  Job job(count, task, context);
  const int workers = count > 1 ? static_cast<int>(std::min<Dim>(threads(), count)) - 1 : 0;
  if (workers == 0 || Pool::in_parallel_region() || !Pool::instance().run(job, workers))
    job.run_tasks(0);
  if (job.failure) std::rethrow_exception(job.failure);
  if (job.interrupted) throw Interrupted();
}

}  // namespace fledge
