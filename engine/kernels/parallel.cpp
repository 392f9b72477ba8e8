#include "engine/kernels/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/errors.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

constexpr int most_threads = 256;

int from_environment() {
  const char* text = std::getenv("FLEDGE_THREADS");
  if (text == nullptr || *text == '\0')
    return std::max(
        1, std::min<int>(most_threads, static_cast<int>(std::thread::hardware_concurrency())));
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  const bool digits = *text >= '0' && *text <= '9';  // strtol would take " 2" and "+2"
  require<ValueError>(digits && *end == '\0' && count >= 1 && count <= most_threads,
                      "FLEDGE_THREADS", "must be a number from 1 to ", most_threads, ": got '",
                      text, "'");
  return static_cast<int>(count);
}

// What the threads share of the work in hand. Tasks are taken in order, by whoever is free.
struct Job {
  kernels::detail::Task task = nullptr;
  const void* context = nullptr;
  Dim count = 0;
  std::atomic<Dim> next{0};
  std::mutex failing;
  Dim failed_at = 0;
  std::exception_ptr failure;

  void work() {
    for (Dim i = 0; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        task(context, i);
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure || i < failed_at) {
          failure = std::current_exception();
          failed_at = i;
        }
      }
    }
  }
};

// Waiting workers look for work this often before they sleep: a training step sends them work every
// few microseconds, and waking a sleeper takes fifty.
constexpr int patience = 4000;

void breathe() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// The threads beside the caller's. One number says which piece of work is in hand, whether it may
// still be joined, and how many have: a worker joins before it takes tasks, the caller shuts the
// door when no task is left and waits for those inside alone. Nobody then waits for a worker that
// the system has put aside between two pieces of work: beside two other programs on two processors
// a training step takes 87 ms so, and 131 when all are waited for (alone 41 either way).
class Pool {
 public:
  explicit Pool(int workers) : wanted_(workers) {
    try {
      for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those there are do the work.
    }
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      door_.store(next_round(), std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int wanted() const { return wanted_; }

  /// Whether this thread is inside a task: work that it starts it then does alone.
  static bool& working() {
    thread_local bool inside = false;
    return inside;
  }

  void run(Job& job) {
    job_ = &job;
    left_.store(0, std::memory_order_relaxed);
    {
      const std::lock_guard lock(mutex_);
      door_.store(next_round(), std::memory_order_release);
    }
    if (asleep_.load(std::memory_order_relaxed) > 0) wake_.notify_all();
    job.work();
    const std::uint64_t joined = door_.fetch_or(shut, std::memory_order_acq_rel) % shut;
    for (int i = 0; left_.load(std::memory_order_acquire) < joined; ++i)
      i < patience ? breathe() : std::this_thread::yield();
  }

 private:
  // The door: the number of the round · 2¹⁶ + 2¹⁵ once it is shut + how many have joined.
  static constexpr std::uint64_t shut = 1 << 15, round = 1 << 16;
  std::uint64_t next_round() const { return (door_.load() / round + 1) * round; }

  void serve() {
    working() = true;
    for (std::uint64_t seen = 0;;) {
      std::uint64_t door = door_.load(std::memory_order_acquire);
      for (int i = 0; i < patience && door / round == seen; ++i) {
        breathe();
        door = door_.load(std::memory_order_acquire);
      }
      if (door / round == seen) {
        std::unique_lock lock(mutex_);
        ++asleep_;
        wake_.wait(lock, [&] { return (door = door_.load()) / round != seen; });
        --asleep_;
      }
      if (stop_) return;
      const bool open = (door & shut) == 0;
      if (open && !door_.compare_exchange_strong(door, door + 1)) continue;
      seen = door / round;
      if (!open) continue;
      job_->work();
      left_.fetch_add(1, std::memory_order_release);
    }
  }

  int wanted_;
  Job* job_ = nullptr;
  std::atomic<std::uint64_t> door_{0}, left_{0};
  std::atomic<int> asleep_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
};

// One at a time may use the pool; whoever comes second works alone.
struct Shared {
  std::mutex in_use;
  std::atomic<int> wanted{0};  // 0: nobody has said
  std::unique_ptr<Pool> pool;
};

Shared& shared() {
  static Shared instance;
  return instance;
}

}  // namespace

int threads() {
  const int wanted = shared().wanted.load();
  if (wanted > 0) return wanted;
  static const int from_outside = from_environment();
  return from_outside;
}

void set_threads(int count) {
  require<ValueError>(count >= 1 && count <= most_threads, "set_threads",
                      "needs a number from 1 to ", most_threads, ": got ", count);
  shared().wanted = count;
}

void kernels::detail::run_tasks(Dim count, Task task, const void* context) {
  Job job;
  job.task = task;
  job.context = context;
  job.count = count;
  const int wanted = threads();
  std::unique_lock<std::mutex> mine;
  if (wanted > 1 && !Pool::working())
    mine = std::unique_lock<std::mutex>(shared().in_use, std::try_to_lock);
  if (mine.owns_lock()) {
    std::unique_ptr<Pool>& pool = shared().pool;
    if (!pool || pool->wanted() != wanted - 1) {
      pool.reset();
      pool = std::make_unique<Pool>(wanted - 1);
    }
    Pool::working() = true;
    pool->run(job);
    Pool::working() = false;
  } else {
    job.work();
  }
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace fledge::inline FLEDGE_BUILD
