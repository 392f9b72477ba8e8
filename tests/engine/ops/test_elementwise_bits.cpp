// The bits of f(x) and of its slope follow from x alone: not from its place in the array, not from
// its neighbours, and not from whether the op is recorded. A compiler that fuses multiply-adds in
// one loop and not in another breaks this, and with it "the same text from the same seed".
#include "tests/engine/ops/curves.h"

using namespace tests;

namespace {

constexpr Dim number_count = 1003;  // whole vectors and a rest

struct CurveBits {
  Array y, dx, unrecorded;
};

CurveBits bits(const Curve& curve, const Array& x) {
  const Pass recorded = pass(curve.f, {x}, Array::ones(x.shape()));
  const NoGrad off;
  return {recorded.y, recorded.dx[0], curve.f({Tensor(x)}).value()};
}

}  // namespace

TEST_CASE("what an element becomes depends on nothing else") {
  for (const Curve& curve : curves) {
    INFO(curve.name);
    const Array x = uniform({number_count}, 7, curve.low, curve.high);
    const CurveBits together = bits(curve, x);
    CHECK(same_bits(together.unrecorded, together.y));
    Array y(x.shape()), dx(x.shape()), unrecorded(x.shape());
    for (Dim i = 0; i < number_count; ++i) {
      const CurveBits alone = bits(curve, Array({1}, {value_of(x[i])}));
      y.write()[i] = alone.y[0];
      dx.write()[i] = alone.dx[0];
      unrecorded.write()[i] = alone.unrecorded[0];
    }
    CHECK(same_bits(y, together.y));
    CHECK(same_bits(dx, together.dx));
    CHECK(same_bits(unrecorded, together.y));
  }
}
