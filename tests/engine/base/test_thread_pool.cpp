// How many threads there are: what the program sets, what FLEDGE_THREADS says, and what is refused.
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

#include "engine/base/errors.h"
#include "engine/base/processors.h"
#include "engine/kernels/parallel.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"
#include "tests/support/refusal.h"
#include "tests/support/skipped.h"

using namespace fledge;
using namespace tests;

TEST_CASE("set_threads refuses what is no number of threads") {
  const int before = threads();
  set_threads(2);
  for (const int count : {0, -1, 257, 1000000}) {
    CHECK(refusal<ValueError>([&] { set_threads(count); }) ==
          "set_threads: needs a number from 1 to 256: got " + std::to_string(count));
    CHECK(threads() == 2);
  }
  for (const int count : {1, 3, 64, 256}) {
    set_threads(count);
    CHECK(threads() == count);
  }
  set_threads(before);
}

TEST_CASE("a pool grows to as many threads as threads() says, and does not shrink") {
  const std::filesystem::path all = "/proc/self/task";  // one folder for each thread
  if (!std::filesystem::exists(all)) {
    testing::report_skipped("only Linux lists the threads of a process");
    return;
  }
  const int before = threads();
  const auto threads_after_work_with = [&](int count) {
    set_threads(count);
    kernels::parallel_for(12, kernels::blocking.serial_work, [](Dim) {});
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(all), {}));
  };
  const int nine = threads_after_work_with(9);  // no other test starts more
  CHECK(threads_after_work_with(11) == nine + 2);
  CHECK(threads_after_work_with(11) == nine + 2);
  CHECK(threads_after_work_with(2) == nine + 2);
  set_threads(before);
}

TEST_CASE("as many threads run the tasks of a job as threads() says, also after a job of more") {
  const int before = threads();
  for (const int count : {11, 2, 5, 1, 3}) {
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
  }
  set_threads(before);
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
  const auto started = std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  CHECK(started > 1);
  CHECK(started < 20);
}

TEST_CASE("when the system starts no more threads, those that run do the work") {
  const auto result = testing::run({std::filesystem::read_symlink("/proc/self/exe").string(),
                                    "sixty-four threads in a small address space"});
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

TEST_CASE("FLEDGE_THREADS is the number of threads, or refused with what it says") {
  const std::filesystem::path here = "/proc/self/exe";
  if (!std::filesystem::exists(here)) {
    testing::report_skipped("only Linux tells a program where it is");
    return;
  }
  const auto says = [&](const std::string& text, const std::string& expected) {
    return testing::run({std::filesystem::read_symlink(here).string(), "what FLEDGE_THREADS says"},
                        {{"FLEDGE_THREADS", text}, {"EXPECTED", expected}});
  };
  const int processors = available_processors();
  for (const auto& [text, expected] : {std::pair<std::string, int>{"1", 1},
                                       {"7", std::min(7, processors)},
                                       {"256", std::min(256, processors)},
                                       {"", std::min(256, processors)}}) {
    const auto result = says(text, std::to_string(expected));
    INFO("FLEDGE_THREADS=" << text << "\n" << result.out);
    CHECK(result.status == 0);
  }
  for (const std::string text :
       {"0", "-1", "257", "4x", "two", "99999999999999999999", "2 ", " 2", "+2"}) {
    const auto result =
        says(text, "FLEDGE_THREADS: must be a number from 1 to 256: got '" + text + "'");
    INFO(result.out);
    CHECK(result.status == 0);
  }
  CHECK(says("3", "4000").status != 0);
  const auto cut =
      says(std::string(10000, '7'),
           "FLEDGE_THREADS: must be a number from 1 to 256: got '" + std::string(40, '7') + "...'");
  INFO(cut.out);
  CHECK(cut.status == 0);
  const auto escaped = says("\x1b[31m2\n\x7f\xc3",
                            "FLEDGE_THREADS: must be a number from 1 to 256: got '?[31m2?"
                            "?"
                            "?'");
  INFO(escaped.out);
  CHECK(escaped.status == 0);
}
