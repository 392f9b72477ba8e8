// Replaces operator new and delete of a program: every block is counted, and may be refused. For a
// program of one source file, with a main() of its own.
#pragma once

#ifdef __APPLE__
#include <malloc/malloc.h>
#define malloc_usable_size malloc_size
#else
#include <malloc.h>
#endif

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace testing {

inline std::atomic<std::size_t> requests{0}, live_blocks{0}, live_bytes{0}, most_live_bytes{0};
inline std::atomic<long> requests_left{-1};  // until there is no more memory; -1: no limit

inline void* counted_new(std::size_t bytes, std::size_t alignment) {
  if (requests_left == 0) throw std::bad_alloc();
  if (requests_left > 0) --requests_left;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const block = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (block == nullptr) throw std::bad_alloc();
  ++requests;
  ++live_blocks;
  const std::size_t now = live_bytes += malloc_usable_size(block);
  for (std::size_t most = most_live_bytes;
       most < now && !most_live_bytes.compare_exchange_weak(most, now);) {
  }
  return block;
}

inline void counted_delete(void* block) {
  if (block == nullptr) return;
  --live_blocks;
  live_bytes -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace testing

void* operator new(std::size_t bytes) {
  return testing::counted_new(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return testing::counted_new(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { testing::counted_delete(block); }
void operator delete(void* block, std::size_t) noexcept { testing::counted_delete(block); }
void operator delete(void* block, std::align_val_t) noexcept { testing::counted_delete(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  testing::counted_delete(block);
}
