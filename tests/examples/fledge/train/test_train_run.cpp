// What a run says before its first step.
#include "examples/fledge/train/run.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

TEST_CASE("fledge train: a causality check that could show nothing does not claim to have passed") {
  const Desk desk;
  fledge::train::TrainConfig plan;
  plan.texts = {desk.poems()};
  plan.no_progress = true;
  plan.save = false;
  plan.given = {"--steps", "--width", "--heads", "--layers", "--context", "--batch", "--warmup"};
  plan.training.schedule.steps = 2;
  plan.training.schedule.warmup = 1;
  plan.training.batch = 2;
  // Layer norm of one number is constant, so no logits change. The option --width refuses 1.
  plan.sizes = {.vocabulary = 1, .context = 8, .layers = 1, .heads = 1, .width = 1};
  const Result narrow = run_here([&] { return fledge::train::train(*fledge::train::set_up(plan)); });
  CHECK(narrow.status == 0);
  CHECK_THAT(narrow.err, ContainsSubstring("\nCausality could not be shown, as no logits change "
                                           "with the tokens after place 0.\n"));
  plan.sizes.width = 2;
  const Result wide = run_here([&] { return fledge::train::train(*fledge::train::set_up(plan)); });
  CHECK(wide.status == 0);
  CHECK_THAT(wide.err,
             ContainsSubstring("\nCausality check passed: changing later characters did "));
}
