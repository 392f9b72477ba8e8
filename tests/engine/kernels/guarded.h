// Every kernel is tested against the plain loop, and runs where a byte too far ends the program: a
// page that must not be touched begins behind each buffer, then before each.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/blocking.h"
#include "tests/support/catch.h"

namespace tests {

enum class Guard { behind, before };  // where the page begins that must not be touched

/// `count` items, and no byte beside them on the side of the guard.
template <class T>
class Guarded {
 public:
  Guarded(Dim count, Guard guard) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    auto& unused = unused_pages();
    const auto found = std::find_if(unused.begin(), unused.end(),
                                    [=](const Pages& pages) { return pages.bytes >= bytes; });
    pages_ = found == unused.end() ? new_pages(bytes) : *found;
    if (found != unused.end()) unused.erase(found);
    items_ =
        reinterpret_cast<T*>(pages_.first + (guard == Guard::before ? 0 : pages_.bytes - bytes));
  }
  template <class Items>
  Guarded(const Items& items, Guard guard) : Guarded(static_cast<Dim>(items.size()), guard) {
    std::copy_n(items.data(), items.size(), items_);
  }
  ~Guarded() { unused_pages().push_back(pages_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() const { return items_; }

 private:
  struct Pages {  // between two that must not be touched
    std::byte* first;
    std::size_t bytes;
  };
  static Pages new_pages(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t whole = bytes / page * page + page;
    void* const all =
        mmap(nullptr, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    std::byte* const first = static_cast<std::byte*>(all) + page;
    if (mprotect(first, whole, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    return {first, whole};
  }
  static std::vector<Pages>& unused_pages() {
    static std::vector<Pages> all;
    return all;
  }

  Pages pages_;
  T* items_;
};

using Inputs = std::vector<const Real*>;
using Outputs = std::vector<Real*>;

/// same_bits(), but any NaN is any other.
inline Verdict same_bits_or_nan(const Array& found, const Array& expected) {
  return compare(found, expected,
                 [](Real f, Real e) { return bits_agree(f, e) || (isnan(f) && isnan(e)); });
}

/// What kernel(inputs, outputs) writes over outputs, a stack and a pool full of NaN, with a guard
/// behind each input and output, then before each: both times the same bits. `sizes` are those of
/// the outputs.
template <class Kernel>
std::vector<Array> run_guarded(const std::vector<Array>& inputs, const std::vector<Dim>& sizes,
                               Kernel kernel) {
  const Blocked filled(kernels::blocking, threads());
  std::vector<Array> results;
  for (const Guard guard : {Guard::behind, Guard::before}) {
    std::vector<std::unique_ptr<Guarded<Real>>> buffers;
    Inputs from;
    Outputs to;
    for (const Array& x : inputs) {
      buffers.push_back(std::make_unique<Guarded<Real>>(x, guard));
      from.push_back(buffers.back()->data());
    }
    for (const Dim size : sizes) {
      buffers.push_back(std::make_unique<Guarded<Real>>(size, guard));
      to.push_back(buffers.back()->data());
      std::fill_n(to.back(), size, nan_number);
    }
    fill_stack();
    kernel(from, to);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Array found({sizes[i]});
      std::copy_n(to[i], sizes[i], found.write());
      if (guard == Guard::behind)
        results.push_back(found);
      else
        REQUIRE(same_bits_or_nan(found, results[i]));
    }
  }
  return results;
}

}  // namespace tests
