// Kept blocks and blocks in use are at most 64 MB more than twice what the program needs at once, and
// work that repeats finds its blocks: every new is counted, and what the program holds at most.
#ifdef __APPLE__
#include <malloc/malloc.h>
#define malloc_usable_size malloc_size
#else
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "engine/base/memory.h"

namespace {

constexpr std::size_t megabyte = 1 << 20;
std::size_t held = 0, most_held = 0, requests = 0;

void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(block);
  most_held = std::max(most_held, held);
  ++requests;
  return block;
}

void uncounted(void* block) {
  held -= malloc_usable_size(block);
  std::free(block);
}

// Holds `count` blocks at once, then none.
void phase(std::size_t count, std::size_t bytes) {
  std::vector<void*> blocks;
  blocks.reserve(count);
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(fledge::allocate_memory(bytes));
  for (void* block : blocks) fledge::deallocate_memory(block, bytes);
}

bool holds_at_most(const char* when, std::size_t megabytes) {
  std::printf("%s: at most %zu MB, limit %zu\n", when, most_held / megabyte, megabytes);
  return most_held <= megabytes * megabyte;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(std::malloc(bytes)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto line = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(line, (bytes + line - 1) / line * line));
}
void operator delete(void* block) noexcept { uncounted(block); }
void operator delete(void* block, std::size_t) noexcept { uncounted(block); }
void operator delete(void* block, std::align_val_t) noexcept { uncounted(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { uncounted(block); }

int main() {
  if (!fledge::memory_is_kept) return std::puts("under AddressSanitizer no block is kept"), 0;
  // A program that needs 200 MB at once; 10 MB for what aligned_alloc adds to each block.
  constexpr std::size_t limit = 2 * 200 + 64 + 10;
  bool right = true;
  phase(200, megabyte);                                   // 200 MB
  phase(40, 5 * megabyte);                                // 200 MB of another size
  phase(100, 2 * megabyte);                               // 200 MB of a third size
  right = right && holds_at_most("three phases", limit);  // 600, were all kept

  // Work that repeats: after some rounds each finds its blocks.
  std::size_t before = 0;
  for (int round = 0; round < 10; ++round) {
    before = requests;
    phase(200, megabyte);
    phase(40, 5 * megabyte);
  }
  const std::size_t in_the_last = requests - before;
  std::printf("the last of ten rounds: %zu requests\n", in_the_last);
  right = right && holds_at_most("ten rounds", limit);
  // Two vectors, of the two phases themselves.
  return right && in_the_last == 2 ? 0 : 1;
}
