// Every task is run once. A thread runs the tasks of its own share first.
#include "engine/base/shares.h"

#include <thread>
#include <vector>

#include "tests/support/catch.h"

using namespace fledge;

namespace {

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
  const auto stop_at_7 = [&](Dim task) { return ++runs, task != 7; };
  shares.take(1, stop_at_7);
  CHECK(runs == 3);
  shares.take(1, stop_at_7);
  CHECK(runs == 10);
  shares.take(0, stop_at_7);
  CHECK(runs == 10);
  shares.cut(4, 2);
  shares.take(0, stop_at_7);
  CHECK(runs == 14);
}

TEST_CASE("threads that take tasks at the same time run every task once") {
  constexpr int threads = 4;
  for (const Dim tasks : {1, 3, 1000}) {
    Shares shares(tasks, threads);
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread)
      workers.emplace_back([&, thread] {
        shares.take(thread, [&](Dim task) {
          runs[static_cast<std::size_t>(task)].fetch_add(1);
          return true;
        });
      });
    for (std::thread& worker : workers) worker.join();
    Dim once = 0;
    for (const auto& count : runs) once += count == 1 ? 1 : 0;
    CHECK(once == tasks);
  }
}
