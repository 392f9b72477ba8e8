// Memory whose end, or beginning, is that of the pages that may be touched.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>

#include "engine/base/dim.h"

namespace tests {

using namespace fledge;

enum class Guard { behind, before };  // where the page begins that must not be touched

/// `count` items, and no byte beside them: who reads or writes one more ends with a signal.
template <class T>
class Guarded {
 public:
  explicit Guarded(Dim count, Guard guard = Guard::behind) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    const std::size_t whole = (bytes + page - 1) / page * page;
    bytes_ = whole + 2 * page;
    pages_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages_ == MAP_FAILED) throw std::bad_alloc();
    std::byte* const first = static_cast<std::byte*>(pages_) + page;
    if (whole > 0 && mprotect(first, whole, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    items_ = reinterpret_cast<T*>(guard == Guard::before ? first : first + whole - bytes);
  }
  template <class Items>
  explicit Guarded(const Items& items, Guard guard = Guard::behind)
      : Guarded(static_cast<Dim>(items.size()), guard) {
    std::copy_n(items.data(), items.size(), items_);
  }
  ~Guarded() { munmap(pages_, bytes_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() const { return items_; }

 private:
  void* pages_;
  std::size_t bytes_;
  T* items_;
};

}  // namespace tests
