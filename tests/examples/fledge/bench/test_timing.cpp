// The times of many runs, and work in turn with its limit. No test asks how fast.
#include "examples/fledge/bench/timing.h"

#include <thread>
#include <vector>

#include "tests/support/catch.h"

using namespace fledge::bench;

namespace {

void wait_until(Clock::time_point end) {
  while (Clock::now() < end) {
  }
}

// Work of at least so many microseconds.
auto busy(int microseconds) {
  return [=] { wait_until(Clock::now() + std::chrono::microseconds(microseconds)); };
}

}  // namespace

TEST_CASE("timing: a timer runs until the time is over, at least once, at most as often as asked") {
  int calls = 0;
  Timer timer([&] {
    ++calls;
    busy(1000)();
  });
  CHECK(timer.run(0) >= 1e-3);
  CHECK(calls == 1);
  timer.run(100, 3);
  CHECK(calls == 4);
  CHECK(timer.run(5e-3) >= 5e-3);
  CHECK(calls > 4);
  CHECK(calls <= 9);
  CHECK(timer.runs() == calls);
  CHECK(timer.times().best >= 1e-3);
  CHECK(timer.times().best <= timer.times().median);
}

TEST_CASE("timing: the median and the best of known times") {
  int call = 0;
  const int microseconds[] = {9000, 1000, 5000};
  Timer timer([&] { busy(microseconds[call++])(); });
  timer.run(100, 3);
  CHECK(timer.times().best >= 1e-3);
  CHECK(timer.times().median >= 5e-3);
  CHECK(median({5, 1, 4}) == 4);
}

TEST_CASE("timing: after warming up, short runs are timed together") {
  Timer timer([] {});
  timer.warm_up(1e-3);
  CHECK(timer.runs() == 0);
  timer.run(0);
  CHECK(timer.timings() == 1);
  CHECK(timer.runs() > 100);
  timer.run(100, 7);
  CHECK(timer.timings() == 2);
}

TEST_CASE("timing: work and limit alternate, five times at least, and both are of one run") {
  std::vector<char> order;
  const Turns turns = in_turn(Timer([&] {
                                order.push_back('w');
                                busy(25'000)();
                              }),
                              Timer([&] {
                                order.push_back('l');
                                busy(1000)();
                              }),
                              0);
  int work = 0, changes = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    work += order[i] == 'w';
    changes += i > 0 && order[i] != order[i - 1];
  }
  CHECK(work == 7);  // two that warm up
  CHECK(changes == 11);
  CHECK(turns.work.best >= 25e-3);
  CHECK(turns.limit.best >= 1e-3);
  CHECK(turns.limit.best < turns.work.best);
  // As many runs as asked for, after two that warm up.
  int calls = 0;
  const auto counted = [&] {
    ++calls;
    busy(100)();
  };
  in_turn(Timer(counted), Timer(busy(10)), 100, 3);
  CHECK(calls == 5);
  calls = 0;
  CHECK(median_seconds(counted, 3) >= 1e-4);
  CHECK(calls == 5);
}
