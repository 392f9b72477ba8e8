// Arrays with tangents, for tests of kernels in the dual build.
#pragma once

#include "tests/support/arrays.h"

namespace tests {

/// x, in the dual build with the values of `t` as tangents.
inline Array with_tangents(Array x, [[maybe_unused]] const Array& t) {
#if defined(FLEDGE_DUAL)
  for (Dim i = 0; i < x.size(); ++i) x.write()[i].tangent = t[i].value;
#endif
  return x;
}

}  // namespace tests
