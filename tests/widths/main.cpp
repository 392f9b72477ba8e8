// A user's program for another processor than the library's: compiled without -march=native, and
// not optimised, so that it brings copies of the inline functions of engine/kernels/vector.h along.
// Vectors are of four floats here, of eight or sixteen in the library: neither may run the other's
// copies.
#include <cmath>
#include <cstdio>

#include "engine/array_math.h"
#include "engine/ops.h"

using namespace fledge;

namespace {

int wrong = 0;

void check(const char* what, Dim size, const Array& found, double (*expected)(double)) {
  for (Dim i = 0; i < size; ++i) {
    const double x = 0.1 * static_cast<double>(i) - 1, y = expected(x), z = value_of(found[i]);
    if (std::abs(z - y) <= 1e-6) continue;
    std::printf("%s of %g, element %d of %d, is %g, not %g\n", what, x, static_cast<int>(i),
                static_cast<int>(size), z, y);
    ++wrong;
  }
}

}  // namespace

int main() {
  for (const Dim size : {16, 19}) {  // whole vectors, and a rest
    Array x({size});
    for (Dim i = 0; i < size; ++i) x.write()[i] = Real(0.1 * static_cast<double>(i) - 1);
    const Array squares = map(x, [](kernels::Vec v) { return v * v + kernels::splat(Real(2)); });
    check("x² + 2", size, squares, [](double v) { return v * v + 2; });
    check("tanh", size, tanh(Tensor(x)).value(), [](double v) { return std::tanh(v); });
    check("gelu", size, gelu(Tensor(x)).value(),
          [](double v) { return 0.5 * v * std::erfc(-v * std::sqrt(0.5)); });
  }
  return wrong == 0 ? 0 : 1;
}
