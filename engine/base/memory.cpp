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

constexpr std::align_val_t alignment{64};  // one cache line, and the widest vector register

// Sizes of blocks: whole lines up to 256 bytes, then four to each doubling: at most a fifth is
// idle.
constexpr std::size_t smallest = 64;
constexpr std::size_t size_classes = 4 * 40;  // up to 2⁴⁷ bytes; what is larger is refused

struct SizeClass {
  std::size_t index, bytes;
};

SizeClass size_class_of(std::size_t bytes) {
  if (bytes <= 4 * smallest) {
    const std::size_t lines = bytes == 0 ? 1 : (bytes + smallest - 1) / smallest;
    return {lines - 1, lines * smallest};
  }
  const auto doubling = static_cast<std::size_t>(std::bit_width((bytes - 1) / (4 * smallest)));
  const std::size_t step = std::countr_zero(smallest / 2) + doubling;  // log₂ of a quarter of it
  const std::size_t quarter = (bytes - 1) >> step;                     // 4 … 7
  return {4 * doubling + quarter - 4, (quarter + 1) << step};
}

std::size_t bytes_of(std::size_t index) {
  if (index < 4) return (index + 1) * smallest;
  return (index % 4 + 5) << (std::countr_zero(smallest / 2) + index / 4);
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
// Note [Kept memory]: blocks in use and kept blocks together stay below the most that was ever in
// use + 64 MB + missed_. Before a new block exceeds that, kept blocks go back to the system. The
// size class that was not used for longest goes first. When that size is needed again, as in each
// step of a training run, it is added to missed_. After a few steps no block goes back any more.
// missed_ never exceeds the most that was ever in use. So a program whose sizes change holds at
// most 64 MB more than twice what it needs at once.
class ThreadCache {
 public:
  /// A kept block, or nullptr.
  void* take(const SizeClass& size) {
    last_use_[size.index] = ++uses_;
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
    const std::size_t again = std::min(given_back_[size.index], size.bytes);
    given_back_[size.index] -= again;
    const std::size_t most = std::max(most_in_use_, in_use_ + size.bytes);
    missed_ = std::min(missed_ + again, most);
    while (kept_ > 0 && in_use_ + size.bytes + kept_ > most + always_kept + missed_) {
      std::size_t oldest = size_classes;
      for (std::size_t i = 0; i < size_classes; ++i)
        if (lists_[i] != nullptr && (oldest == size_classes || last_use_[i] < last_use_[oldest]))
          oldest = i;
      Free*& first = lists_[oldest];
      ::operator delete(std::exchange(first, first->next), alignment);
      kept_ -= bytes_of(oldest);
      given_back_[oldest] += bytes_of(oldest);
    }
  }

  void release() {
    for (Free*& first : lists_)
      while (first != nullptr) ::operator delete(std::exchange(first, first->next), alignment);
    kept_ = 0;
  }

 private:
  std::array<Free*, size_classes> lists_{};
  std::array<std::uint64_t, size_classes> last_use_{};
  std::array<std::size_t, size_classes> given_back_{};
  std::uint64_t uses_ = 0;
  std::size_t kept_ = 0, in_use_ = 0, most_in_use_ = 0, missed_ = 0;
};

// It has no destructor: glibc ends the program when it has no memory to note a destructor of a
// thread. A key of POSIX threads, which needs no memory, has the blocks released instead.
constinit thread_local ThreadCache cache;

// An Array may be freed after the blocks of its thread were released: by a static object, say.
constinit thread_local bool closed = false;

// Whether the end of this thread will release its blocks. The end of the program need not.
bool is_released_at_end() {
  constinit thread_local bool noted = false;
  if (noted) return true;
  static const struct Key {
    pthread_key_t key{};
    bool exists = pthread_key_create(&key, [](void*) {
                    cache.release();
                    closed = true;
                  }) == 0;
  } key;
  noted = key.exists && pthread_setspecific(key.key, &cache) == 0;
  return noted;
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
  if (closed) return ::operator new(size.bytes, alignment);
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
  if (!sanitized && !closed && is_released_at_end() && cache.keep(block, size_class_of(bytes)))
    return;
  ::operator delete(block, alignment);
}

void release_memory() noexcept { cache.release(); }

double machine_memory() {
  const auto pages = static_cast<double>(::sysconf(_SC_PHYS_PAGES));
  return pages > 0 ? pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) : infinity;
}

}  // namespace fledge
