#include "engine/kernels/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/refuses.h"
#include "tests/support/threads.h"

using namespace fledge;
using namespace tests;
using kernels::parallel_for;
using kernels::parallel_ranges;

namespace {

const Dim spread_work = kernels::blocking.serial_work;  // the least work that may be spread

// How often each index came, in one parallel_for.
std::vector<int> calls(Dim count, Dim work) {
  std::vector<std::atomic<int>> counts(static_cast<std::size_t>(count));
  parallel_for(count, work, [&](Dim i) { ++counts[static_cast<std::size_t>(i)]; });
  return {counts.begin(), counts.end()};
}

std::vector<int> ones(Dim count) { return std::vector<int>(static_cast<std::size_t>(count), 1); }

}  // namespace

TEST_CASE("parallel_for calls every index once, whatever the work and the threads") {
  const Threads before(1);
  for (int round = 0; round < 5; ++round)
    for (const int count : {1, 2, 8, 3}) {  // which may change between any two pieces of work
      set_threads(count);
      for (const Dim tasks : {0, 1, 2, 7, 64, 1000})
        for (const Dim work : {Dim{0}, spread_work - 1, spread_work, 100 * spread_work}) {
          INFO(count << " threads, " << tasks << " tasks, work " << work);
          CHECK(calls(tasks, work) == ones(tasks));
        }
    }
}

TEST_CASE("parallel_ranges covers all numbers once, in runs of at most the grain or in one") {
  const Threads three(3);
  for (const Dim size : {0, 1, 9, 10, 11, 1000})
    for (const Dim grain : {1, 3, 10, 2000})
      for (const Dim work : {Dim{0}, spread_work}) {
        std::vector<std::atomic<int>> counts(static_cast<std::size_t>(size));
        std::atomic<bool> fits{true};
        parallel_ranges(size, grain, work, [&](Dim begin, Dim end) {
          const bool whole = work < spread_work && begin == 0 && end == size;
          const bool part = work >= spread_work && end - begin <= grain && begin % grain == 0;
          fits = fits && begin < end && (whole || part);
          for (Dim i = begin; i < end; ++i) ++counts[static_cast<std::size_t>(i)];
        });
        INFO(size << " numbers, grain " << grain);
        CHECK(fits);
        CHECK(std::vector<int>(counts.begin(), counts.end()) == ones(size));
      }
}

TEST_CASE("small work, and all work of one thread, stays on the calling thread, in order") {
  const auto caller = std::this_thread::get_id();
  for (const auto& [count, work] : {std::pair{4, spread_work - 1}, {1, 100 * spread_work}}) {
    const Threads so_many(count);
    std::vector<Dim> order;
    parallel_for(100, work, [&](Dim i) {
      CHECK(std::this_thread::get_id() == caller);
      order.push_back(i);
    });
    CHECK((order.size() == 100 && std::is_sorted(order.begin(), order.end())));
  }
}

TEST_CASE("large work is done by several threads at once, and over when the last task is") {
  const Threads three(3);
  const auto caller = std::this_thread::get_id();
  // A task that waits until all three are under way: with fewer threads it would wait for ever.
  std::atomic<int> arrived{0}, done{0};
  parallel_for(3, spread_work, [&](Dim) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
    if (std::this_thread::get_id() != caller)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++done;
  });
  CHECK(done == 3);
}

TEST_CASE("a worker that comes late to one piece of work is in time for the next") {
  const Threads eight(8);  // on fewer processors some are always late
  int wrong = 0;
  for (int round = 0; round < 2000; ++round) wrong += calls(3, spread_work) != ones(3);
  CHECK(wrong == 0);
}

TEST_CASE("the exception of the lowest index reaches the caller, and the pool works afterwards") {
  for (const int count : {1, 2, 4}) {
    const Threads so_many(count);
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> failed{0};
      const std::string text = refusal<std::runtime_error>([&] {
        parallel_for(64, spread_work, [&](Dim i) {
          if (i % 8 != 5) return;
          ++failed;
          throw std::runtime_error("task " + std::to_string(i));
        });
      });
      CHECK(text == "task 5");
      CHECK(failed == 8);
      CHECK(calls(64, spread_work) == ones(64));
    }
  }
  CHECK(refusal<std::runtime_error>([] {
          parallel_for(9, 0, [](Dim i) {
            if (i >= 3) throw std::runtime_error("task " + std::to_string(i));
          });
        }) == "task 3");
}

TEST_CASE("a task may start parallel work of its own") {
  for (const int count : {1, 2, 4}) {
    const Threads so_many(count);
    std::vector<std::atomic<int>> counts(20 * 30);
    parallel_for(20, spread_work, [&](Dim i) {
      parallel_for(30, spread_work, [&](Dim j) { ++counts[static_cast<std::size_t>(i * 30 + j)]; });
    });
    CHECK(std::vector<int>(counts.begin(), counts.end()) == ones(600));
    CHECK(refusal<std::runtime_error>([] {
            parallel_for(4, spread_work, [](Dim) {
              parallel_for(4, spread_work, [](Dim j) {
                if (j == 2) throw std::runtime_error("inner");
              });
            });
          }) == "inner");
  }
}

TEST_CASE("several threads may start parallel work at once") {
  const Threads three(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        if (calls(17, spread_work) != ones(17)) ++wrong;
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}
