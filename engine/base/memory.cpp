#include "engine/base/memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

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

// Bytes that a thread may always keep, whatever the program needed before.
constexpr std::int64_t always_kept = std::int64_t{64} << 20;

struct Free {
  Free* next;
};

// Bytes in use in the process, less those that some thread counts as in use. Negative: a thread has
// freed blocks that another one allocated, which still counts them.
std::atomic<std::int64_t> uncounted{0};

// The free blocks of a thread, one list for each size class.
//
// Note [Kept memory]: what a thread counts as in use and what it keeps stay together below twice
// the most that the process ever had in use, plus 64 MB. Before a new block exceeds that, all kept
// blocks of the thread go back to the system. A block of another thread that exceeds it is not
// kept. A training run repeats its work, so it soon keeps what each step needs. Then no block goes
// back.
//
// take() and keep() each change one count, because a step of a tiny model calls them 170 times. The
// kept bytes are held_ − in_use_. A thread adds what it takes to in_use_ and subtracts what it
// frees, but not below 0: the rest goes to `uncounted`. A thread that is about to count more than
// ever before takes that over first, because it may have handed to others what it still counts. The
// counts of all threads and `uncounted` add up to what is in use, so no most_in_use_ exceeds that.
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
    if (in_use_ > most_in_use_) settle();
    in_use_ -= size.signed_bytes();
    if (in_use_ < 0) {  // another thread has allocated this block, or one before it
      settle();
      if (held_ > limit(most_in_use_)) {
        held_ -= size.signed_bytes();
        return false;
      }
    }
    lists_[size.index] = new (block) Free{lists_[size.index]};
    return true;
  }

  /// Returns kept blocks to the system, if needed, before a new block is allocated.
  void make_room(const SizeClass& size) {
    settle();
    const std::int64_t most = std::max(most_in_use_, in_use_ + size.signed_bytes());
    if (held_ + size.signed_bytes() > limit(most)) release();
  }

  void count_new(const SizeClass& size) { count(size.signed_bytes()); }

  void release() {
    for (Free*& first : lists_)
      while (first != nullptr) ::operator delete(std::exchange(first, first->next), alignment);
    held_ = in_use_;
  }

  /// At the end of the thread: what it still counts as in use is for others to count.
  void end() {
    release();
    uncounted += in_use_;
    held_ = in_use_ = 0;
  }

 private:
  // The most that the thread may hold.
  static std::int64_t limit(std::int64_t most_in_use) { return 2 * most_in_use + always_kept; }

  // Takes over what no thread counts, as far as in_use_ does not become negative.
  void settle() {
    count(uncounted.exchange(0, std::memory_order_relaxed));
    if (in_use_ < 0) {
      uncounted.fetch_add(in_use_, std::memory_order_relaxed);
      count(-in_use_);
    }
    most_in_use_ = std::max(most_in_use_, in_use_);
  }
  void count(std::int64_t bytes) {
    in_use_ += bytes;
    held_ += bytes;
  }

  std::array<Free*, size_classes> lists_{};
  std::int64_t in_use_ = 0, held_ = 0;  // bytes of blocks in use, and of these and the kept blocks
  std::int64_t most_in_use_ = 0;        // after settle(), so the process has had it in use
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
                    cache.end();
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

// Has the system give the pages of a large block at once: a page fault for each takes longer than
// the loop that writes it.
void give_pages([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
  constexpr std::size_t page = 4096, large = std::size_t{1} << 20;
  if (bytes < large) return;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(block) % page;
  ::madvise(static_cast<char*>(block) + before, bytes - before, MADV_POPULATE_WRITE);
#endif
}

void* new_block(SizeClass size, std::size_t bytes) {
  if (size.index >= size_classes) throw std::bad_alloc();
  if (sanitized) return ::operator new(std::max<std::size_t>(bytes, 1), alignment);  // to the byte
  if (!registered) register_release();  // a thread that only allocates has an end too
  cache.make_room(size);
  void* block = ::operator new(size.bytes, alignment, std::nothrow);
  if (block == nullptr) {
    cache.release();
    block = ::operator new(size.bytes, alignment);
  }
  give_pages(block, bytes);
  cache.count_new(size);
  return block;
}

// Rare cases. In a function of their own, they do not make the usual path save registers.
[[gnu::noinline]] void* rare_allocation(void* block, SizeClass size, std::size_t bytes) {
  if (block == nullptr) block = new_block(size, bytes);
  if (memory_is_filled) std::memset(block, 0xff, bytes);  // a NaN in every number type
  return block;
}
[[gnu::noinline]] void rare_deallocation(void* block, SizeClass size) noexcept {
  if (block == nullptr) return;
  if (!sanitized && !registered && register_release() && cache.keep(block, size)) return;
  ::operator delete(block, alignment);
}

}  // namespace

const bool memory_is_kept = !sanitized;
bool memory_is_filled = false;

void* allocate_memory(std::size_t bytes) {
  const SizeClass size = size_class_of(bytes);
  void* const block = sanitized || size.index >= size_classes ? nullptr : cache.take(size);
  if (block == nullptr || memory_is_filled) return rare_allocation(block, size, bytes);
  return block;
}

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
