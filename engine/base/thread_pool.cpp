#include "engine/base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "engine/base/errors.h"
#include "engine/base/interrupt.h"
#include "engine/base/processors.h"

namespace fledge {

namespace {

constexpr int max_threads = 256;

std::atomic<int> wanted_threads{0}, wanted_processors{0};  // 0: not set

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
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  const bool digits = *text >= '0' && *text <= '9';  // strtol would take " 2" and "+2"
  require<ValueError>(digits && *end == '\0' && count >= 1 && count <= max_threads,
                      "FLEDGE_THREADS", "must be a number from 1 to ", max_threads, ": got '",
                      printable_excerpt(text), "'");
  return static_cast<int>(count);
}

// One call of run_tasks(). Each thread takes the next task until none is left.
struct Job {
  PoolTask task = nullptr;
  const void* context = nullptr;
  Dim count = 0;
  InterruptTest interrupt_test = process::interrupt_test;  // of the thread that starts the job
  std::atomic<bool> interrupted{false};
  std::atomic<Dim> next{0};
  std::mutex failure_mutex;
  Dim failed_at = 0;
  std::exception_ptr failure;

  void run_tasks() noexcept {
    for (Dim i = 0; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      if (interrupt_test != nullptr && interrupt_test()) {
        interrupted = true;
        next.store(count, std::memory_order_relaxed);
        return;
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
    }
  }
};

// Number of polls before a worker sleeps or the waiting caller yields. A training step starts a job
// every few microseconds, but waking a thread takes about 50 microseconds.
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

// Worker threads beside the thread that calls run().
//
// `round_state_` packs three things: the number of the round (one job is one round), a *closed*
// bit, and the number of workers that joined. A worker joins before it takes tasks. When no task is
// left, the caller closes the round and waits only for the workers that joined, not for a worker
// that was suspended before it joined. Measured with two other programs on two processors: 87 ms a
// training step, 131 ms without this. On an idle machine: 41 ms with and without.
class Pool {
 public:
  // Tries to start `workers` threads; stops at the first failure. Does not use operator new, so it
  // does not throw.
  explicit Pool(int workers) : wanted_(workers) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setstacksize(&attributes, worker_stack);
    const auto start = [](void* pool) -> void* {
      static_cast<Pool*>(pool)->serve();
      return nullptr;
    };
    while (started_ < workers && pthread_create(&threads_[started_], &attributes, start, this) == 0)
      ++started_;
    pthread_attr_destroy(&attributes);
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      round_state_.store(next_round(), std::memory_order_release);
    }
    wake_.notify_all();
    for (int i = 0; i < started_; ++i) pthread_join(threads_[i], nullptr);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int wanted() const { return wanted_; }

  // True on workers, and on the calling thread while it uses the pool. Then run_tasks() runs all
  // its tasks on this thread.
  static bool& in_parallel_region() {
    thread_local bool inside = false;
    return inside;
  }

  void run(Job& job) {
    job_ = &job;
    finished_.store(0, std::memory_order_relaxed);
    {
      const std::lock_guard lock(mutex_);
      round_state_.store(next_round(), std::memory_order_release);
    }
    if (asleep_.load(std::memory_order_relaxed) > 0) wake_.notify_all();
    job.run_tasks();
    const std::uint64_t joined =
        round_state_.fetch_or(closed_bit, std::memory_order_acq_rel) % closed_bit;
    for (int i = 0; finished_.load(std::memory_order_acquire) < joined; ++i) {
      if (i < spin_limit)
        cpu_relax();
      else
        std::this_thread::yield();
    }
  }

 private:
  // The number of the round · 2¹⁶ + 2¹⁵ once it is closed + the number of workers that joined.
  static constexpr std::uint64_t closed_bit = 1 << 15, one_round = 1 << 16;
  std::uint64_t next_round() const { return (round_state_.load() / one_round + 1) * one_round; }

  // Stack size of a worker: 1 MiB. The kernels use at most 40 KB of stack. The default stack size
  // of the process may be too large (8 MB) or too small.
  static constexpr std::size_t worker_stack = std::size_t{1} << 20;

  void serve() noexcept {
    in_parallel_region() = true;
    for (std::uint64_t seen = 0;;) {
      std::uint64_t state = round_state_.load(std::memory_order_acquire);
      for (int i = 0; i < spin_limit && state / one_round == seen; ++i) {
        cpu_relax();
        state = round_state_.load(std::memory_order_acquire);
      }
      if (state / one_round == seen) {
        std::unique_lock lock(mutex_);
        ++asleep_;
        wake_.wait(lock, [&] { return (state = round_state_.load()) / one_round != seen; });
        --asleep_;
      }
      if (stop_) return;
      const bool open = (state & closed_bit) == 0;
      if (open && !round_state_.compare_exchange_strong(state, state + 1)) continue;
      seen = state / one_round;
      if (!open) continue;
      job_->run_tasks();
      finished_.fetch_add(1, std::memory_order_release);
    }
  }

  int wanted_;
  Job* job_ = nullptr;
  std::atomic<std::uint64_t> round_state_{0}, finished_{0};
  std::atomic<int> asleep_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  int started_ = 0;
  pthread_t threads_[max_threads]{};
};

// If the pool is busy, a job from another thread runs on that thread alone.
struct Shared {
  std::mutex in_use;
  std::unique_ptr<Pool> pool;
};

Shared& shared() {
  static Shared instance;
  return instance;
}

}  // namespace

int threads() {
  const auto from_outside = [] {
    static const int count = from_environment();
    return count;
  };
  const int wanted = wanted_threads, processors = wanted_processors;
  return std::min(wanted > 0 ? wanted : from_outside(),
                  processors > 0 ? processors : available_processors());
}

void set_threads(int count) {
  require<ValueError>(count >= 1 && count <= max_threads, "set_threads",
                      "needs a number from 1 to ", max_threads, ": got ", count);
  wanted_threads = count;
}

void set_processors(int count) { wanted_processors = count; }

void run_tasks(Dim count, PoolTask task, const void* context) {
  Job job;
  job.task = task;
  job.context = context;
  job.count = count;
  const int wanted = threads();
  std::unique_lock<std::mutex> mine;
  if (wanted > 1 && !Pool::in_parallel_region())
    mine = std::unique_lock<std::mutex>(shared().in_use, std::try_to_lock);
  std::unique_ptr<Pool>& pool = shared().pool;
  if (mine.owns_lock() && (!pool || pool->wanted() != wanted - 1)) {
    pool.reset();
    pool.reset(new (std::nothrow) Pool(wanted - 1));
  }
  if (mine.owns_lock() && pool) {
    Pool::in_parallel_region() = true;
    pool->run(job);
    Pool::in_parallel_region() = false;
  } else {
    job.run_tasks();
  }
  if (job.failure) std::rethrow_exception(job.failure);
  if (job.interrupted) throw Interrupted();
}

}  // namespace fledge
