// Blocks of memory that are kept for the next use: a training step needs the same sizes as the step
// before it. Each thread has one list of free blocks for each size, so there is no lock and no
// search, and a kept block costs no page faults. Next: memory.cpp, array.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include "engine/base/dim.h"

namespace fledge {

/// A block of at least `bytes`, aligned to 64. Throws std::bad_alloc when the system has no more.
void* allocate_memory(std::size_t bytes);

/// Gives a block back, with the size it was asked for; any thread may.
void deallocate_memory(void* block, std::size_t bytes) noexcept;

/// Whether blocks that are given back are kept. Off under AddressSanitizer: recycled blocks would
/// hide a use after free.
extern const bool memory_is_kept;

/// For tests: whether allocate_memory() fills each block with NaN, which shows numbers that are
/// read before they are written.
extern bool memory_is_filled;

/// For tests: gives all kept blocks of this thread back to the system. Without this call, a thread
/// keeps at most twice the largest size that the process ever had in use, plus 64 MB. The limit
/// also covers blocks that other threads allocated. In a program of one thread it covers kept
/// blocks and blocks in use together (memory.cpp, Note [Kept memory]).
void release_memory() noexcept;

/// The size of this machine's memory in bytes; infinity if the system does not tell it.
double machine_memory();

/// Base of classes that each training step creates and destroys.
struct Pooled {
  static void* operator new(std::size_t bytes) { return allocate_memory(bytes); }
  static void operator delete(void* block, std::size_t bytes) { deallocate_memory(block, bytes); }
};

/// The same for the standard's containers.
template <class T>
struct PoolAllocator {
  using value_type = T;

  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_memory(count * size)); }
  void deallocate(T* block, std::size_t count) { deallocate_memory(block, count * size); }
  friend bool operator==(PoolAllocator, PoolAllocator) { return true; }

 private:
  static constexpr std::size_t size = sizeof(T);  // NOLINT(bugprone-sizeof-expression): T may be A*
};

/// The number of handles to an object. It begins at 1.
class HandleCount {
 public:
  void add() {
    if (has_one_thread())
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    else
      count_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Whether that was the last handle. Then the object may be deleted.
  bool remove() {
    if (is_one()) return true;
    if (!has_one_thread()) return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return false;
  }
  /// After `true` the object may be written: what other threads did with it, through handles that
  /// they have dropped, has happened before (acquire).
  bool is_one() const { return count_.load(std::memory_order_acquire) == 1; }

 private:
  // Whether the program has one thread: then the count need not change in one atomic instruction,
  // which is slow. std::shared_ptr of GCC does the same.
  static bool has_one_thread() {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
  }

  std::atomic<Dim> count_{1};
};

/// A handle to a shared object. T has a HandleCount `handles`, and T::destroy(T*) deletes an object
/// that has lost its last handle.
template <class T>
class Handle {
 public:
  Handle() = default;
  /// Takes over one count: that of a new object, or the one that release() gave up.
  explicit Handle(T* object) : object_(object) {}
  Handle(const Handle& other) : object_(other.object_) {
    if (object_ != nullptr) object_->handles.add();
  }
  Handle(Handle&& other) noexcept : object_(other.release()) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr && object_->handles.remove()) T::destroy(object_);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  /// Whether there is an object, and no other handle to it.
  bool is_only() const { return object_ != nullptr && object_->handles.is_one(); }
  /// Gives up the object; its count still includes this handle.
  T* release() { return std::exchange(object_, nullptr); }

  friend bool operator==(const Handle&, const Handle&) = default;
  friend bool operator==(const Handle& handle, std::nullptr_t) { return handle.object_ == nullptr; }

 private:
  T* object_ = nullptr;
};

template <class T>
using PoolVector = std::vector<T, PoolAllocator<T>>;

}  // namespace fledge
