#include "engine/base/memory.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>

#include "engine/kernels/buffer.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

bool aligned(const void* block) { return reinterpret_cast<std::uintptr_t>(block) % 64 == 0; }

// Every byte of a block holds `byte`.
bool holds(const void* block, std::size_t bytes, unsigned char byte) {
  const auto* at = static_cast<const unsigned char*>(block);
  for (std::size_t i = 0; i < bytes; ++i)
    if (at[i] != byte) return false;
  return true;
}

struct FilledBlock {
  std::size_t bytes;
  unsigned char byte;
  void* at = allocate_memory(bytes);

  FilledBlock(std::size_t size, unsigned char filling) : bytes(size), byte(filling) {
    std::memset(at, byte, bytes);
  }
  void check_and_free() const {
    REQUIRE(holds(at, bytes, byte));
    deallocate_memory(at, bytes);
  }
};

// Around every size at which the kind of block may change, and some large ones.
std::vector<std::size_t> block_sizes() {
  std::vector<std::size_t> all(600);
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::size_t power = 1024; power <= (std::size_t{1} << 22); power *= 2)
    for (const std::size_t quarters : {4u, 5u, 6u, 7u})
      for (const std::size_t off : {0u, 1u, 2u}) all.push_back(power / 4 * quarters + off - 1);
  return all;
}

// Runs f(0) to f(3), each on a thread of its own.
void on_four_threads(const std::function<void(std::size_t thread)>& f) {
  std::vector<std::jthread> threads;
  for (std::size_t thread = 0; thread < 4; ++thread) threads.emplace_back(f, thread);
}

}  // namespace

TEST_CASE("a block of every size is aligned to 64, can be written, and is not taken for more") {
  for (const std::size_t bytes : block_sizes()) {
    INFO(bytes << " bytes");
    const FilledBlock block(bytes, 0xAB);
    REQUIRE(aligned(block.at));
    block.check_and_free();
    const FilledBlock larger(2 * bytes + 65, 3);  // a sanitizer, or the heap, knows of too much
    CHECK(larger.at != block.at);
    deallocate_memory(larger.at, larger.bytes);
  }
}

TEST_CASE("blocks in use do not overlap, whatever was taken and given before") {
  Rng rng(1);
  std::vector<FilledBlock> blocks;
  for (int step = 0; step < 4000; ++step) {
    const auto at = static_cast<std::size_t>(rng.below(static_cast<Dim>(blocks.size()) + 1));
    if (at < blocks.size() && rng.below(2) == 0) {
      blocks[at].check_and_free();
      blocks[at] = blocks.back();
      blocks.pop_back();
    } else {
      const auto bytes = static_cast<std::size_t>(rng.below(rng.below(2) == 0 ? 300 : 5000));
      blocks.emplace_back(bytes, static_cast<unsigned char>(rng.below(256)));
    }
  }
  for (const FilledBlock& block : blocks) block.check_and_free();
}

TEST_CASE("a block given back is the next one taken, for all sizes of its kind") {
  constexpr std::size_t large = std::size_t{1} << 24;
  const std::pair<std::size_t, std::size_t> sizes[] = {
      {1, 64}, {64, 0}, {65, 128}, {257, 320}, {1000, 1000}, {5000, 4500}, {large, large - 1000}};
  for (const auto& [given, taken] : sizes) {
    void* const block = allocate_memory(given);
    deallocate_memory(block, given);
    void* const next = allocate_memory(taken);
    INFO(given << " bytes, then " << taken);
    CHECK((!memory_is_kept || next == block));
    std::memset(next, 1, taken);
    deallocate_memory(next, taken);
  }
}

TEST_CASE("an array may outlive the thread that made it") {
  Array kept;
  std::thread([&] { kept = uniform({1000}, 1); }).join();
  CHECK(same_bits(kept, uniform({1000}, 1)));
  bool right = false;
  std::thread([&] {
    thread_local Array late;  // made before the thread keeps a block, so it goes after them
    late = uniform({1000}, 2);
    right = bool(same_bits(late, uniform({1000}, 2)));
  }).join();
  CHECK(right);
}

TEST_CASE("several threads take and give at once") {
  std::vector<int> wrong(4, 0);
  on_four_threads([&](std::size_t thread) {
    const auto byte = static_cast<unsigned char>(thread);
    for (std::size_t i = 0; i < 2000; ++i) {
      const std::size_t bytes = i % 700;
      void* const block = allocate_memory(bytes);
      std::memset(block, byte, bytes);
      if (!aligned(block) || !holds(block, bytes, byte)) ++wrong[thread];
      deallocate_memory(block, bytes);
    }
  });
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("what is in use survives release_memory() and requests for more than there is") {
  const FilledBlock used(100, 7);
  for (const std::size_t bytes : {10u, 100u, 1000u, 100000u})
    deallocate_memory(allocate_memory(bytes), bytes);
  deallocate_memory(nullptr, 0);
  deallocate_memory(nullptr, 1000);
  release_memory();
  release_memory();
  const FilledBlock next(100, 8);
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {all, all - 63, all / 2 + 1, all / 4, std::size_t{1} << 48})
    CHECK_THROWS_AS(allocate_memory(bytes), std::bad_alloc);
  CHECK_THROWS_AS(Buffer(Dim{1} << 55), std::bad_alloc);
  used.check_and_free();
  next.check_and_free();
}

TEST_CASE("PoolVector is a vector whose numbers are aligned") {
  PoolVector<Real> x;
  for (int i = 0; i < 5000; ++i) {
    x.push_back(Real(i));
    REQUIRE(aligned(x.data()));
  }
  const PoolVector<Real> copy = x, moved = std::move(x);
  CHECK((copy == moved && copy.size() == 5000 && value_of(copy[4999]) == 4999));
}

TEST_CASE("HandleCount: of several threads that drop their handles, one is the last") {
  HandleCount alone;
  CHECK(alone.is_one());
  alone.add();
  CHECK_FALSE(alone.is_one());
  CHECK_FALSE(alone.remove());
  CHECK(alone.is_one());
  CHECK(alone.remove());
  for (int round = 0; round < 20; ++round) {
    HandleCount shared;
    std::vector<int> last(4, 0);
    for (int thread = 1; thread < 4; ++thread) shared.add();
    on_four_threads([&](std::size_t thread) {
      for (int i = 0; i < 1000; ++i) {
        shared.add();
        if (shared.remove()) last[thread] = 2;
      }
      last[thread] += shared.remove() ? 1 : 0;
    });
    CHECK(std::accumulate(last.begin(), last.end(), 0) == 1);
  }
}
