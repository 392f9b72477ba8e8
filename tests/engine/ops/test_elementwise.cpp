// Where functions of one number come to the edge of the numbers of the build.
#include <cfenv>
#include <thread>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

constexpr double smallest = std::numeric_limits<Real>::denorm_min();

}  // namespace

TEST_CASE("sigmoid and softmax neither overflow nor divide by zero on the way") {
  const double most = std::numeric_limits<Real>::max();
  const Array rows({2, 3}, {1e4, -1e4, 0, 1e30, -1e30, 1e30});
  std::feclearexcept(FE_ALL_EXCEPT);
  pass(op_case("sigmoid").f, {Array({6}, {-1000, 1000, -1e20, 1e20, -most, most})},
       Array::ones({6}));
  pass(op_case("softmax").f, {rows}, Array::ones({2, 3}));
  CHECK(std::fetestexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO) == 0);
}

TEST_CASE("subnormal numbers survive, on every thread") {
  const auto check = [] {
    const Tensor x = Array({2}, {smallest, -smallest});
    return same_bits((x * 1.0).value(), x.value()) && same_bits((x + 0.0).value(), x.value()) &&
           same_bits(tanh(x).value(), x.value()) && (sum(x + smallest)).item() == 2 * smallest;
  };
  CHECK(check());
  bool elsewhere = false;
  std::thread([&] { elsewhere = check(); }).join();
  CHECK(elsewhere);
}
