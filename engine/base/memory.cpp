#include "engine/base/memory.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace fledge {

namespace {

constexpr std::size_t cache_line = 64;  // bytes, as of the widest vector register
constexpr std::align_val_t alignment{cache_line};

// Sizes of blocks: 1, 2, 3 and 4 lines, then four sizes to each doubling. From 256 bytes on at most
// a fifth of a block is idle. Blocks of more than 2⁴⁷ bytes are refused.
constexpr std::size_t size_classes = 4 * 40;

struct SizeClass {
  std::size_t index, bytes;
};

SizeClass size_class_of(std::size_t bytes) {
  const std::size_t last_line = bytes == 0 ? 0 : (bytes - 1) / cache_line;
  const auto digits = static_cast<std::size_t>(std::bit_width(last_line));
  const std::size_t step = digits > 3 ? digits - 3 : 0;  // log₂ of a quarter of the doubling
  const std::size_t quarters = (last_line >> step) + 1;  // 5 … 8, or 1 … 8 if step is 0
  return {4 * step + quarters - 1, (quarters << step) * cache_line};
}

// A thread that frees what others allocated would keep more and more: it keeps at most this.
constexpr std::size_t most_kept = std::size_t{1} << 31;

// So much may be kept beside what is in use, whatever the program needed before.
constexpr std::size_t always_kept = std::size_t{64} << 20;

struct Free {
  Free* next;
};

// The free blocks of a thread, one list for each size class.
//
// Note [Kept memory]: blocks in use and kept blocks together stay below twice the most that was
// ever in use, plus 64 MB. Before a new block exceeds that, all kept blocks go back to the system.
// A training run repeats its work, so it soon keeps what each step needs. Then no block goes back.
class ThreadCache {
 public:
  /// A kept block, or nullptr.
  void* take(const SizeClass& size) {
    Free*& first = lists_[size.index];
    if (first == nullptr) return nullptr;
    Free* const block = first;
    first = block->next;
    kept_ -= size.bytes;
    count(size);
    return block;
  }

  /// Counts a block that is now in use.
  void count(const SizeClass& size) {
    in_use_ += size.bytes;
    most_in_use_ = std::max(most_in_use_, in_use_);
  }

  bool keep(void* block, const SizeClass& size) {
    in_use_ -= std::min(in_use_, size.bytes);  // another thread may have allocated it
    if (kept_ + size.bytes > most_kept) return false;
    lists_[size.index] = new (block) Free{lists_[size.index]};
    kept_ += size.bytes;
    return true;
  }

  /// Returns kept blocks to the system, if needed, before a new block is allocated.
  void make_room(const SizeClass& size) {
    const std::size_t needed = in_use_ + size.bytes;
    if (needed + kept_ > 2 * std::max(most_in_use_, needed) + always_kept) release();
  }

  void release() {
    for (Free*& first : lists_)
      while (first != nullptr) ::operator delete(std::exchange(first, first->next), alignment);
    kept_ = 0;
  }

 private:
  std::array<Free*, size_classes> lists_{};
  std::size_t kept_ = 0, in_use_ = 0, most_in_use_ = 0;
};

// It has no destructor: glibc ends the program when it has no memory to note a destructor of a
// thread. A key of POSIX threads, which needs no memory, has the blocks released instead.
constinit thread_local ThreadCache cache;

constinit thread_local bool registered = false;

// Whether the end of this thread will release its blocks. The end of the program need not. If
// another destructor of the thread frees an array after the release, the thread registers again.
bool is_released_at_end() {
  if (registered) return true;
  static const struct Key {
    pthread_key_t key{};
    bool exists = pthread_key_create(&key, [](void*) {
                    cache.release();
                    registered = false;
                  }) == 0;
  } key;
  registered = key.exists && pthread_setspecific(key.key, &cache) == 0;
  return registered;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer);
#else
constexpr bool sanitized = false;
#endif

}  // namespace

const bool memory_is_kept = !sanitized;
bool memory_is_filled = false;

namespace {

void* take_block(std::size_t bytes) {
  const SizeClass size = size_class_of(bytes);
  if (size.index >= size_classes) throw std::bad_alloc();
  if (sanitized) return ::operator new(std::max<std::size_t>(bytes, 1), alignment);  // to the byte
  if (void* const block = cache.take(size)) return block;
  cache.make_room(size);
  void* block = ::operator new(size.bytes, alignment, std::nothrow);
  if (block == nullptr) {
    cache.release();
    block = ::operator new(size.bytes, alignment);
  }
  cache.count(size);
  return block;
}

}  // namespace

void* allocate_memory(std::size_t bytes) {
  void* const block = take_block(bytes);
  if (memory_is_filled) std::memset(block, 0xff, bytes);  // a NaN in every number type
  return block;
}

void deallocate_memory(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  if (!sanitized && is_released_at_end() && cache.keep(block, size_class_of(bytes))) return;
  ::operator delete(block, alignment);
}

void release_memory() noexcept { cache.release(); }

double machine_memory() {
  const auto pages = static_cast<double>(::sysconf(_SC_PHYS_PAGES));
  return pages > 0 ? pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) : infinity;
}

}  // namespace fledge
