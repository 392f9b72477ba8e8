// The number of threads, for a while.
#pragma once

#include "engine/base/thread_pool.h"

namespace tests {

using namespace fledge;

/// So many threads while it lives.
struct Threads {
  int before = threads();
  explicit Threads(int count) { set_threads(count); }
  ~Threads() { set_threads(before); }
};

}  // namespace tests
