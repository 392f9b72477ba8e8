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
  std::int64_t signed_bytes() const { return static_cast<std::int64_t>(bytes); }
};

SizeClass size_class_of(std::size_t bytes) {
  const std::size_t last_line = bytes == 0 ? 0 : (bytes - 1) / cache_line;
  if (last_line < 8) return {last_line, (last_line + 1) * cache_line};  // most blocks
  const auto digits = static_cast<std::size_t>(std::bit_width(last_line));
  const std::size_t step = digits - 3;                   // log₂ of a quarter of the doubling
  const std::size_t quarters = (last_line >> step) + 1;  // 5 … 8
  return {4 * step + quarters - 1, (quarters << step) * cache_line};
}

// A thread that frees what others allocated would keep more and more: it keeps at most this.
constexpr std::int64_t most_kept = std::int64_t{1} << 31;

// So much may be kept beside what is in use, whatever the program needed before.
constexpr std::int64_t always_kept = std::int64_t{64} << 20;

struct Free {
  Free* next;
};

// The free blocks of a thread, one list for each size class.
//
// Note [Kept memory]: blocks in use and kept blocks together stay below twice the most that was
// ever in use, plus 64 MB. Before a new block exceeds that, all kept blocks go back to the system.
// A training run repeats its work, so it soon keeps what each step needs. Then no block goes back.
//
// take() and keep() each change one count, because a step of a tiny model calls them 170 times. The
// kept bytes are held_ − in_use_. most_in_use_ is brought up to date before in_use_ falls.
class ThreadCache {
 public:
  /// A kept block, or nullptr.
  void* take(const SizeClass& size) {
    Free*& first = lists_[size.index];
    if (first == nullptr) return nullptr;
    Free* const block = first;
    first = block->next;
    in_use_ += size.signed_bytes();
    return block;
  }

  bool keep(void* block, const SizeClass& size) {
    most_in_use_ = std::max(most_in_use_, in_use_);
    in_use_ -= size.signed_bytes();
    if (kept() > most_kept) {
      held_ -= size.signed_bytes();
      return false;
    }
    lists_[size.index] = new (block) Free{lists_[size.index]};
    return true;
  }

  /// Returns kept blocks to the system, if needed, before a new block is allocated.
  void make_room(const SizeClass& size) {
    const std::int64_t needed = std::max<std::int64_t>(in_use_, 0) + size.signed_bytes();
    most_in_use_ = std::max(most_in_use_, needed);
    if (needed + kept() > 2 * most_in_use_ + always_kept) release();
  }

  /// Counts a new block, which is now in use.
  void count_new(const SizeClass& size) {
    held_ += size.signed_bytes();
    in_use_ += size.signed_bytes();
  }

  void release() {
    for (Free*& first : lists_)
      while (first != nullptr) ::operator delete(std::exchange(first, first->next), alignment);
    held_ = in_use_;
  }

 private:
  std::int64_t kept() const { return held_ - in_use_; }

  std::array<Free*, size_classes> lists_{};
  // Bytes of blocks in use, and of these and the kept blocks. A block that another thread has
  // allocated was never counted as in use, so both may be negative.
  std::int64_t in_use_ = 0, held_ = 0;
  std::int64_t most_in_use_ = 0;
};

// It has no destructor: glibc ends the program when it has no memory to note a destructor of a
// thread. A key of POSIX threads, which needs no memory, has the blocks released instead.
constinit thread_local ThreadCache cache;

constinit thread_local bool registered = false;

// Whether the end of this thread will release its blocks. The end of the program need not. If
// another destructor of the thread frees an array after the release, the thread registers again.
bool register_release() {
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

void* new_block(SizeClass size, std::size_t bytes) {
  if (size.index >= size_classes) throw std::bad_alloc();
  if (sanitized) return ::operator new(std::max<std::size_t>(bytes, 1), alignment);  // to the byte
  cache.make_room(size);
  void* block = ::operator new(size.bytes, alignment, std::nothrow);
  if (block == nullptr) {
    cache.release();
    block = ::operator new(size.bytes, alignment);
  }
  cache.count_new(size);
  return block;
}

// Rare cases. In a function of their own, they do not make the usual path save registers.
[[gnu::noinline]] void* rare_allocation(void* block, SizeClass size, std::size_t bytes) {
  if (block == nullptr) block = new_block(size, bytes);
  if (memory_is_filled) std::memset(block, 0xff, bytes);  // a NaN in every number type
  return block;
}

}  // namespace

void* allocate_memory(std::size_t bytes) {
  const SizeClass size = size_class_of(bytes);
  void* const block = sanitized || size.index >= size_classes ? nullptr : cache.take(size);
  if (block == nullptr || memory_is_filled) return rare_allocation(block, size, bytes);
  return block;
}

namespace {

[[gnu::noinline]] void rare_deallocation(void* block, SizeClass size) noexcept {
  if (block == nullptr) return;
  if (!sanitized && !registered && register_release() && cache.keep(block, size)) return;
  ::operator delete(block, alignment);
}

}  // namespace

void deallocate_memory(void* block, std::size_t bytes) noexcept {
  const SizeClass size = size_class_of(bytes);
  if (block == nullptr || sanitized || !registered || !cache.keep(block, size))
    rare_deallocation(block, size);
}

void release_memory() noexcept { cache.release(); }

double machine_memory() {
  const auto pages = static_cast<double>(::sysconf(_SC_PHYS_PAGES));
  return pages > 0 ? pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) : infinity;
}

}  // namespace fledge
