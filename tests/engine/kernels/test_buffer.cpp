#include "engine/kernels/buffer.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

bool is_aligned(const void* block) { return reinterpret_cast<std::uintptr_t>(block) % 64 == 0; }

}  // namespace

TEST_CASE("a Buffer holds as many numbers as asked for, and gives its block back") {
  for (const Dim count : {0, 1, 17, 5000}) {
    const Real* before = nullptr;
    for (int i = 0; i < 2; ++i) {
      Buffer buffer(count);
      CHECK(is_aligned(buffer.data()));
      std::fill_n(buffer.data(), count, Real(3));
      const Buffer& same = buffer;
      CHECK(same.data() == buffer.data());
      CHECK((!memory_is_kept || before == nullptr || buffer.data() == before));
      before = buffer.data();
    }
  }
  CHECK_THROWS_AS(Buffer(Dim{1} << 55), std::bad_alloc);
}
