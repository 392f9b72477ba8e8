// Kept blocks and blocks in use are at most 64 MB more than twice what the program needs at once, and
// work that repeats finds its blocks: every new is counted, and what the program holds at most. The
// bound holds for each thread, also for one that frees what another allocates.
#include <cstdio>
#include <initializer_list>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/memory.h"
#include "tests/support/counted_new.h"

namespace {

using testing::requests;

constexpr std::size_t megabyte = 1 << 20;

struct Blocks {
  std::size_t count, bytes;
};

// Holds all these blocks at once, then none.
void phase(std::initializer_list<Blocks> all) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  blocks.reserve(1000);
  for (const auto& [count, bytes] : all)
    for (std::size_t i = 0; i < count; ++i)
      blocks.emplace_back(fledge::allocate_memory(bytes), bytes);
  for (const auto& [block, bytes] : blocks) fledge::deallocate_memory(block, bytes);
}

// This thread allocates a batch of 640 KB after the other, another thread frees each: 2.5 GB.
void hand_over_batches() {
  constexpr std::size_t batches = 4000, blocks = 5, bytes = 1 << 17;
  void* batch[blocks];
  std::atomic<std::size_t> made{0}, freed{0};
  std::thread consumer([&] {
    for (std::size_t i = 0; i < batches; ++i) {
      made.wait(i);
      for (void* block : batch) fledge::deallocate_memory(block, bytes);
      freed = i + 1;
      freed.notify_one();
    }
  });
  for (std::size_t i = 0; i < batches; ++i) {
    for (void*& block : batch) block = fledge::allocate_memory(bytes);
    made = i + 1;
    made.notify_one();
    freed.wait(i);
  }
  consumer.join();
}

bool right = true;

void check(const char* what, std::size_t found, std::size_t limit) {
  std::printf("%s: %zu, limit %zu\n", what, found, limit);
  right = right && found <= limit;
}

// What f() makes the program hold at most, in MB. f runs in a thread that keeps nothing yet; 10 MB
// for what aligned_alloc adds to each block.
template <class F>
void check_held(const char* what, std::size_t limit, F f) {
  testing::most_live_bytes = testing::live_bytes.load();
  std::thread(f).join();
  check(what, testing::most_live_bytes / megabyte, limit + 10);
}

}  // namespace

int main() {
  if (!fledge::memory_is_kept) return std::puts("under AddressSanitizer no block is kept"), 0;
  check_held("MB, a thread that only frees", 2 * 1 + 64, hand_over_batches);
  check_held("MB, a thread that has handed 2.5 GB to another", 2 * 100 + 64, [] {
    hand_over_batches();
    phase({{100, megabyte}});
    phase({{20, 5 * megabyte}});
    phase({{50, 2 * megabyte}});  // 300, were all kept
  });
  check_held("MB, 300 threads that each end before their block", 2 * 5 + 64, [] {
    for (int i = 0; i < 300; ++i) {
      void* block = nullptr;
      std::thread([&] { block = fledge::allocate_memory(5 * megabyte); }).join();
      fledge::deallocate_memory(block, 5 * megabyte);
    }
  });
  check_held("MB, three phases", 2 * 200 + 64, [] {
    phase({{200, megabyte}});
    phase({{40, 5 * megabyte}});
    phase({{100, 2 * megabyte}});  // 600, were all kept
    // Work that repeats: after some rounds each finds its blocks.
    std::size_t before = 0;
    for (int round = 0; round < 10; ++round) {
      before = requests;
      phase({{200, megabyte}});
      phase({{40, 5 * megabyte}});
    }
    check("requests in the last of ten rounds, its two vectors", requests - before, 2);
  });
  check_held("MB, two phases, then both at once", 2 * 200 + 64, [] {
    phase({{100, megabyte}});
    phase({{50, 2 * megabyte}});
    phase({{100, megabyte}, {50, 2 * megabyte}});  // of kept blocks: the program needs 200 MB
    phase({{20, 5 * megabyte}});                   // so all 300 are kept
    const std::size_t before = requests;
    phase({{100, megabyte}, {50, 2 * megabyte}});
    check("requests of a phase that has been before, its vector", requests - before, 1);
  });
  return right ? 0 : 1;
}
