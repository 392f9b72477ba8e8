// fledge plot: the losses of a run are those of its log.
#include <cmath>

#include "examples/fledge/plot/run_curves.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

TEST_CASE("curves_of_events: losses that are not finite and foreign lines are skipped") {
  const auto run = fledge::curves_of_events(
      "{\"type\":\"step\",\"step\":1,\"loss\":3}\n{\"type\":\"step\",\"step\":2,\"loss\":null}\n"
      "no json\n{\"type\":\"eval\",\"step\":2,\"held_out_loss\":2}\n"
      "{\"type\":\"eval\",\"step\":3,\"held_out_loss\":2.5}\n"
      "{\"type\":\"overfitting\",\"step\":3,\"since\":2}\n{\"type\":\"step\",\"step\":3");
  CHECK(run.training == fledge::RunCurves::Points{{1, 3}});
  CHECK(run.held_out.size() == 2);
  CHECK(run.best()->second == 2);
  CHECK(run.is_overfitting());
  CHECK(fledge::plot_of(run).is_worse_after);
  auto better = run;
  better.held_out.emplace_back(4, 1);
  CHECK_FALSE(better.is_overfitting());
}
