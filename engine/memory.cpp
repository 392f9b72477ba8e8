#include "engine/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

namespace fledge::inline FLEDGE_BUILD {

namespace {

constexpr std::align_val_t alignment{64};  // one cache line, and the widest vector register

// Sizes of blocks: whole lines up to 256 bytes, then four to each doubling: at most a fifth is
// idle.
constexpr std::size_t smallest = 64;
constexpr std::size_t kinds = 4 * 40;  // up to 2⁴⁷ bytes; what is larger is refused

struct Kind {
  std::size_t index, bytes;
};

Kind kind_of(std::size_t bytes) {
  if (bytes <= 4 * smallest) {
    const std::size_t lines = bytes == 0 ? 1 : (bytes + smallest - 1) / smallest;
    return {lines - 1, lines * smallest};
  }
  const auto doubling = static_cast<std::size_t>(std::bit_width((bytes - 1) / (4 * smallest)));
  const std::size_t step = std::countr_zero(smallest / 2) + doubling;  // log₂ of a quarter of it
  const std::size_t quarter = (bytes - 1) >> step;                     // 4 … 7
  return {4 * doubling + quarter - 4, (quarter + 1) << step};
}

// A thread that only frees what others made would keep ever more: beyond this nothing is kept.
constexpr std::size_t most_kept = std::size_t{1} << 31;

struct Free {
  Free* next;
};

// An Array may be freed when its thread has ended: a static one, say.
thread_local bool closed = false;

// The blocks a thread keeps.
class Shelf {
 public:
  ~Shelf() {
    release();
    closed = true;
  }

  void* take(const Kind& kind) {
    Free*& first = lists_[kind.index];
    if (first == nullptr) return nullptr;
    Free* const block = first;
    first = block->next;
    kept_ -= kind.bytes;
    return block;
  }

  bool keep(void* block, const Kind& kind) {
    if (kept_ + kind.bytes > most_kept) return false;
    lists_[kind.index] = new (block) Free{lists_[kind.index]};
    kept_ += kind.bytes;
    return true;
  }

  void release() {
    for (Free*& first : lists_)
      while (first != nullptr) ::operator delete(std::exchange(first, first->next), alignment);
    kept_ = 0;
  }

 private:
  std::array<Free*, kinds> lists_{};
  std::size_t kept_ = 0;
};

Shelf& shelf() {
  thread_local Shelf mine;
  return mine;
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
  const Kind kind = kind_of(bytes);
  if (kind.index >= kinds) throw std::bad_alloc();
  if (!sanitized && !closed)
    if (void* const block = shelf().take(kind)) return block;
  const std::size_t size =
      !sanitized ? kind.bytes : std::max<std::size_t>(bytes, 1);  // to the byte
  try {
    return ::operator new(size, alignment);
  } catch (const std::bad_alloc&) {
    release_memory();
    return ::operator new(size, alignment);
  }
}

}  // namespace

void* take_memory(std::size_t bytes) {
  void* const block = take_block(bytes);
  if (memory_is_filled) std::memset(block, 0xff, bytes);  // a NaN in every number type
  return block;
}

void give_memory(void* block, std::size_t bytes) noexcept {
  if (block == nullptr || (!sanitized && !closed && shelf().keep(block, kind_of(bytes)))) return;
  ::operator delete(block, alignment);
}

void release_memory() noexcept {
  if (!closed) shelf().release();
}

}  // namespace fledge::inline FLEDGE_BUILD
