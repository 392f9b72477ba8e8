// Rows of a run's metrics.
#include "examples/fledge/train/metrics.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::train;

TEST_CASE("metrics: rows in CSV and JSON") {
  const Metrics plain{12, 1.5, 0.001, 0.25, {}};
  const Metrics held_out{100, 0.1, 1e-9, 12345, 0.30000001192092896};
  CHECK(std::string(csv_header) == "step,loss,val_loss,lr,grad_norm\n");
  CHECK(as_csv(plain) == "12,1.5,,0.001,0.25\n");
  CHECK(as_csv(held_out) == "100,0.1,0.3,1e-09,12345\n");
  CHECK(as_csv({1, NAN, 0, INFINITY, {}}) == "1,nan,,0,inf\n");
  CHECK(as_json(plain) == R"({"type":"step","step":12,"loss":1.5,"lr":0.001,"grad_norm":0.25})");
  CHECK(as_json(held_out) ==
        R"({"type":"step","step":100,"loss":0.1,"val_loss":0.3,"lr":1e-09,"grad_norm":12345})");
}
