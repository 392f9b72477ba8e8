// How many threads there are: what the program sets, what FLEDGE_THREADS says, and what is refused.
// Which of them runs a task: its own share first. And how many processors there are.
#ifdef __linux__
#include <sched.h>
#endif
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/errors.h"
#include "engine/kernels/parallel.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"
#include "tests/support/refuses.h"
#include "tests/support/skipped.h"
#include "tests/support/threads.h"

using namespace tests;

namespace {

// Runs a hidden test of this file in a process of its own.
testing::Result run_alone(const std::string& test, const testing::Environment& extra = {}) {
  return testing::run({std::filesystem::read_symlink("/proc/self/exe").string(), test}, extra);
}

// How many threads this process has; 0 where the system does not list them, as Linux does.
int threads_alive() {
  const std::filesystem::path all = "/proc/self/task";  // one folder for each thread
  if (!std::filesystem::exists(all)) return 0;
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(all), {}));
}

// The tasks that thread `thread` runs, in order, if the others are late.
std::vector<Dim> taken_alone(Dim tasks, int threads, int thread) {
  Shares shares(tasks, threads);
  std::vector<Dim> order;
  shares.take(thread, [&](Dim task) {
    order.push_back(task);
    return true;
  });
  return order;
}

}  // namespace

TEST_CASE("set_threads refuses what is no number of threads") {
  const Threads two(2);
  for (const int count : {0, -1, 257, 1000000}) {
    CHECK(refusal<ValueError>([&] { set_threads(count); }) ==
          "set_threads: needs a number from 1 to 256: got " + std::to_string(count));
    CHECK(threads() == 2);
  }
  for (const int count : {1, 3, 64, 256}) {
    set_threads(count);
    CHECK(threads() == count);
  }
}

TEST_CASE("as many threads run the tasks of a job as threads() says; a pool does not shrink") {
  const Threads before(1);
  int most = 0, least = 0;
  for (const int count : {9, 11, 2, 5, 1, 3}) {
    set_threads(count);
    std::mutex mutex;
    std::set<std::thread::id> workers;
    // A thread waits until all have come. Later tasks take long enough for more of them to come.
    kernels::parallel_for(50, kernels::blocking.serial_work, [&](Dim) {
      for (int pause = 0; pause < 10'000; ++pause) {
        {
          const std::lock_guard lock(mutex);
          workers.insert(std::this_thread::get_id());
          if (pause > 0 && static_cast<int>(workers.size()) >= count) return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    CHECK(static_cast<int>(workers.size()) == count);
    if (count == 9) least = threads_alive();  // no other test of this file starts more
    if (count == 11) most = threads_alive();
    CHECK((count == 9 || threads_alive() == most));
  }
  CHECK(most - least == (threads_alive() > 0 ? 2 : 0));
}

TEST_CASE("a thread runs its own share first, then the shares of the threads after it") {
  CHECK(taken_alone(6, 3, 1) == std::vector<Dim>{2, 3, 4, 5, 0, 1});
  CHECK(taken_alone(7, 2, 1) == std::vector<Dim>{3, 4, 5, 6, 0, 1, 2});
  CHECK(taken_alone(3, 1, 0) == std::vector<Dim>{0, 1, 2});
  CHECK(taken_alone(2, 16, 15) == std::vector<Dim>{1, 0});
  CHECK(taken_alone(0, 4, 2).empty());
  CHECK(taken_alone(40, 256, 17) == taken_alone(40, 16, 1));
}

TEST_CASE("take() stops when run() returns false, and cut() starts anew") {
  Shares shares(10, 2);
  Dim runs = 0;
  const auto runs_of = [&](int thread) {
    runs = 0;
    shares.take(thread, [&](Dim task) { return ++runs, task != 7; });
    return runs;
  };
  CHECK(runs_of(1) == 3);
  CHECK(runs_of(1) == 7);
  CHECK(runs_of(0) == 0);
  shares.cut(4, 2);
  CHECK(runs_of(0) == 4);
}

#if defined(__linux__) && !defined(FLEDGE_SANITIZED)  // a sanitizer needs terabytes of addresses

TEST_CASE("sixty-four threads in a small address space", "[.environment]") {
  // Run by the next test, as a limit cannot be taken back.
  long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  REQUIRE((file != nullptr && std::fscanf(file, "%ld", &pages) == 1));
  std::fclose(file);
  const auto used = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE));
  const rlimit limit{used + (8 << 20), used + (8 << 20)};  // the stacks of seven threads
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  set_threads(64);
  std::atomic<int> done{0};
  for (int round = 0; round < 100; ++round)
    kernels::parallel_for(1000, kernels::blocking.serial_work, [&](Dim) { ++done; });
  CHECK(done == 100 * 1000);
  CHECK((threads_alive() > 1 && threads_alive() < 20));
}

TEST_CASE("when the system starts no more threads, those that run do the work") {
  const auto result = run_alone("sixty-four threads in a small address space");
  INFO(result.out << result.err);
  CHECK(result.status == 0);
}

#endif

TEST_CASE("what FLEDGE_THREADS says", "[.environment]") {
  // Run by the next test, in a process that has not asked before.
  std::string said;
  try {
    said = std::to_string(threads());
  } catch (const ValueError& error) {
    said = error.what();
  }
  CHECK(said == std::getenv("EXPECTED"));
}

// tests/command/usage.txt has more that is refused.
TEST_CASE("FLEDGE_THREADS is the number of threads, or refused with what it says") {
  if (!std::filesystem::exists("/proc/self/exe")) {
    testing::report_skipped("only Linux tells a program where it is");
    return;
  }
  const auto says = [&](const std::string& text, const std::string& expected) {
    return run_alone("what FLEDGE_THREADS says",
                     {{"FLEDGE_THREADS", text}, {"EXPECTED", expected}});
  };
  const auto at_most = [](int n) { return std::to_string(std::min(n, available_processors())); };
  std::vector<std::pair<std::string, std::string>> rows = {
      {"1", "1"}, {"7", at_most(7)}, {"256", at_most(256)}, {"", at_most(256)}};
  const std::string refused = "FLEDGE_THREADS: must be a number from 1 to 256: got '";
  for (const std::string text : {"257", "99999999999999999999", "2 "})
    rows.emplace_back(text, refused + text + "'");
  rows.emplace_back("\x1b[31m2\n\x7f\xc3", refused + "?[31m2?" + "??" + "'");
  for (const auto& [text, expected] : rows) {
    const auto result = says(text, expected);
    INFO("FLEDGE_THREADS=" << text << "\n" << result.out);
    CHECK(result.status == 0);
  }
  CHECK(says("3", "4000").status != 0);
}

TEST_CASE("processors: a quota is rounded up, and what is none is none") {
  for (const auto& [text, expected] :
       {std::pair("max 100000\n", 0), std::pair("200000 100000\n", 2),
        std::pair("250000 100000\n", 3), std::pair("100001 100000\n", 2),
        std::pair("20000 100000\n", 1), std::pair("1000 1000000\n", 1),
        std::pair("6400000 50000\n", 128), std::pair("", 0), std::pair("0 0\n", 0),
        std::pair("-1 100000\n", 0), std::pair("100000\n", 0), std::pair("nonsense\n", 0)}) {
    INFO(text);
    CHECK(processors_of_quota(text) == expected);
  }
}

TEST_CASE("how many processors may be used", "[.environment]") {
  // Run by the next test, in a process that may run on one processor.
  CHECK(available_processors() == 1);
}

TEST_CASE("processors: those that this process may run on") {
#ifdef __linux__
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(available_processors() >= 1);
  CHECK(available_processors() <= CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);  // a new process inherits it
  const auto result = run_alone("how many processors may be used");
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  INFO(result.out);
  CHECK(result.status == 0);
#else
  CHECK(available_processors() >= 1);
#endif
}
