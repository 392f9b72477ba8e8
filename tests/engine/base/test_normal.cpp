#include "engine/base/normal.h"

#include <limits>

#include "tests/support/catch.h"

namespace {

// The largest relative error from −37, below which Φ is soon no normal number, to `high`, in units
// of rounding.
double worst_error(double (*f)(double), long double (*exact)(long double), double high) {
  double most = 0;
  for (double x = -37; x <= high; x += 0.000917) {
    const long double expected = exact(static_cast<long double>(x));
    const auto error =
        static_cast<double>(std::abs(static_cast<long double>(f(x)) - expected) / expected);
    if (!(error <= most)) most = error;
  }
  return most / (std::numeric_limits<double>::epsilon() / 2);
}

constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the normal distribution keeps its digits in the far tail") {
  const auto cdf = [](long double x) { return std::erfc(-x * std::sqrt(0.5L)) / 2; };
  const auto density = [](long double x) {
    return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<long double> * std::sqrt(0.5L);
  };
  CHECK(worst_error(fledge::normal_cdf, cdf, 40) <= 8);
  CHECK(worst_error(fledge::normal_density, density, 37) <= 6);
}

TEST_CASE("the normal distribution at the ends of the line") {
  CHECK(fledge::normal_cdf(0) == 0.5);
  CHECK(fledge::normal_cdf(inf) == 1);
  CHECK(fledge::normal_cdf(-inf) == 0);
  CHECK(fledge::normal_density(inf) == 0);
  CHECK(fledge::normal_density(-1e300) == 0);
  CHECK(std::isnan(fledge::normal_cdf(std::numeric_limits<double>::quiet_NaN())));
  CHECK(std::isnan(fledge::normal_density(std::numeric_limits<double>::quiet_NaN())));
}
