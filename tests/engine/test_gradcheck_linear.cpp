// builds: f64 dual
// Rules are linear in dy: the checker asks with small and with large cotangents.
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/gradcheck.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

// y = x³ with its right rule, but for what `bend` does to dy.
template <class Bend>
GradcheckReport check_bent(Bend bend) {
  const auto cube = [bend](const std::vector<Tensor>& in) {
    const Array X = in[0].value();
    return record("cube", X * X * X, wrt(in[0], [X, bend](const Array& dy) {
                    return map(dy, bend) * X * X * Real(3);
                  }));
  };
  return gradcheck(cube, {uniform({3, 4}, 1)});
}

const std::string linear = "a rule must be linear in dy";

}  // namespace

TEST_CASE("a rule that leaves dy as it is passes") {
  const GradcheckReport report = check_bent([](Real d) { return d; });
  CHECK(report.ok);
  CHECK(report.elements == 12);
}

TEST_CASE("a rule that clips dy is found, wherever it clips") {
  for (const double most : {1.5, 9.0, 500.0}) {
    CAPTURE(most);
    const auto above = check_bent([most](Real d) { return d > Real(most) ? Real(most) : d; });
    const auto below = check_bent([most](Real d) { return d < Real(-most) ? Real(-most) : d; });
    CHECK_THAT(above.problem, EndsWith(linear));
    CHECK_THAT(below.problem, EndsWith(linear));
  }
}

TEST_CASE("a rule that drops small dy is found") {
  const auto report =
      check_bent([](Real d) { return d < Real(0.01) && d > Real(-0.01) ? Real(0) : d; });
  CHECK_THAT(report.problem, EndsWith(linear));
  CHECK(report.analytic == 0);
  CHECK(report.numeric != 0);
}
