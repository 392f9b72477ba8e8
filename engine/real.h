// Real: the number type of the build. One source, two libraries:
//
//   fledge        Real = float    to train
//   fledge_dual   Real = Dual     to check gradients       FLEDGE_DUAL is defined
//
// One program may link both. So that the linker can tell them apart, `fledge` means the namespace
// fledge_dual in the dual build. This is said here and nowhere else: every source file says
// `namespace fledge`. What does not depend on Real (engine/base/, Dual) is in namespace fledge in
// both builds; therefore this file includes all of it before the name changes its meaning.
//                                                                              Next: array.h.
#pragma once

#include <cmath>

#include "engine/base/cosine.h"
#include "engine/base/dim.h"
#include "engine/base/errors.h"
#include "engine/base/indices.h"
#include "engine/base/interrupt.h"
#include "engine/base/memory.h"
#include "engine/base/normal.h"
#include "engine/base/number.h"
#include "engine/base/random.h"
#include "engine/base/shape.h"
#include "engine/base/thread_pool.h"

#if defined(FLEDGE_DUAL)
#include "engine/dual.h"
namespace fledge_dual {
using namespace fledge;  // NOLINT(google-build-using-namespace): base types are found in both
}
#define fledge fledge_dual
#endif

namespace fledge {

#if defined(FLEDGE_DUAL)
using Real = Dual;
#else
using Real = float;
#endif

// The elementary functions of Real, found by these names whatever Real is.
using std::abs;
using std::exp;
using std::isfinite;
using std::isnan;
using std::log;
using std::pow;
using std::sqrt;
using std::tanh;

/// The plain number behind x: x itself, or the value part of a Dual.
inline double value_of(Real x) {
#if defined(FLEDGE_DUAL)
  return x.value;
#else
  return static_cast<double>(x);
#endif
}

/// A size as a Real.
constexpr Real real(Dim n) { return Real(static_cast<double>(n)); }

}  // namespace fledge
