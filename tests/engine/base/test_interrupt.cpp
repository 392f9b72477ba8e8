#include "engine/base/interrupt.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "engine/autograd.h"
#include "engine/kernels/parallel.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/threads.h"

using namespace tests;
using kernels::parallel_for;

namespace {

const Dim much = kernels::blocking.serial_work;  // the least work that is parallel
std::atomic<int> tests_left{0};

bool always() { return true; }
bool never() { return false; }
bool after_some_calls() { return --tests_left < 0; }

}  // namespace

TEST_CASE("check_interrupt throws inside a scope whose test returns true, and nowhere else") {
  check_interrupt();
  {
    const InterruptScope scope(always);
    CHECK_THROWS_AS(check_interrupt(), Interrupted);
    {
      const InterruptScope whole(nullptr);
      check_interrupt();
      const InterruptScope inside(always);
      CHECK_THROWS_AS(check_interrupt(), Interrupted);
    }
    CHECK_THROWS_AS(check_interrupt(), Interrupted);
    bool finished = false;  // it reaches the thread that asked for it alone
    std::thread([&] {
      parallel_for(5, much, [](Dim) {});
      check_interrupt();
      finished = true;
    }).join();
    CHECK(finished);
    const InterruptScope other(never);
    CHECK_NOTHROW(check_interrupt());
  }
  CHECK_NOTHROW(check_interrupt());
}

TEST_CASE("parallel work is interrupted before any of its tasks, and the pool works afterwards") {
  for (const int count : {1, 2, 4}) {
    const Threads so_many(count);
    for (int calls = 0; calls <= 20; ++calls) {
      INFO(count << " threads, " << calls << " calls");
      tests_left = calls;
      std::atomic<int> done{0};
      const auto work = [&] { parallel_for(20, much, [&](Dim) { ++done; }); };
      {
        const InterruptScope scope(after_some_calls);
        if (calls < 20)
          CHECK_THROWS_AS(work(), Interrupted);
        else
          CHECK_NOTHROW(work());
      }
      CHECK(done == calls);
      work();
      CHECK(done == calls + 20);
    }
  }
}

TEST_CASE("parallel work that a task starts is interrupted too, and an error comes first") {
  for (const int count : {1, 3}) {
    const Threads so_many(count);
    const InterruptScope scope(after_some_calls);
    tests_left = 3;
    CHECK_THROWS_AS(parallel_for(4, much, [](Dim) { parallel_for(9, much, [](Dim) {}); }),
                    Interrupted);
    tests_left = 3;
    CHECK_THROWS_AS(parallel_for(9, much, [](Dim) { throw std::runtime_error("no"); }),
                    std::runtime_error);
  }
}

TEST_CASE("small work goes on, backward() does not begin") {
  const Tensor x = parameter(uniform({3}, 1)), y = sum(x * x);
  const InterruptScope scope(always);
  int done = 0;
  parallel_for(20, much - 1, [&](Dim) { ++done; });
  CHECK(done == 20);
  CHECK_THROWS_AS(backward(y), Interrupted);
  CHECK_FALSE(x.has_grad());
  const InterruptScope whole(nullptr);
  backward(y);
  CHECK(x.has_grad());
}
