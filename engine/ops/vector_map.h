// map() for formulas that are written for SIMD vectors, such as exp.
//
// Not here: formulas of one number (array_math.h). No public header includes this one: the size of a
// Vec depends on the processor for which a file is compiled.
#pragma once

#include "engine/array_math.h"
#include "engine/kernels/simd_math.h"

namespace fledge {

/// y_i = f(x_i)      f takes and returns a Vec
template <class F>
Array map_vectors(const Array& x, F f) {
  Array y(x.shape());
  const Dim size = x.size();
  Real* const to = y.write();
  const Real* const from = x.data();
  kernels::parallel_ranges(size, kernels::grain_of(size), 8 * size, [=](Dim begin, Dim end) {
    kernels::by_vectors(end - begin, [=](Dim i, Dim count) {
      kernels::store(to + begin + i, f(kernels::load(from + begin + i, count)), count);
    });
  });
  return y;
}

}  // namespace fledge
