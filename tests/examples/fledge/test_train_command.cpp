// The losses that fledge train shows are those of the library. tests/command/training.txt has the
// rest of what it says.
#include <map>

#include "examples/fledge/trained_model.h"
#include "examples/support/text.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

TEST_CASE("fledge train: the training losses that are shown do not lag behind the model") {
  const Desk desk;
  const Result result = trained({desk.poems(), "-o", desk / "run", "--json", "--eval-every", "5"});
  std::map<double, double> steps, evaluations;  // their losses
  const std::vector<StrictJson> events = json_lines(result.out);
  for (const StrictJson& event : events) {
    if (event["type"].string() == "step") steps[event["step"].number()] = event["loss"].number();
    if (event["type"].string() == "eval")
      evaluations[event["step"].number()] = event["train_loss"].number();
  }
  // On the screen the loss of the step itself.
  for (const double step : {1, 20})
    CHECK_THAT(result.err, ContainsSubstring(support::formatted("\nstep=%.0f of=20 loss=%.4f ",
                                                                step, steps.at(step))));
  // Beside the held-out loss that of the same model on the training text.
  const fledge::TrainedModel trained = fledge::load_trained(desk / "run");
  const fledge::Corpus corpus = fledge::read_corpus(small_text(), trained.run.settings.corpus);
  const double loss = fledge::mean_loss(trained.model, corpus.train, 2, 120);
  CHECK(evaluations.size() == 4);
  CHECK(evaluations.at(static_cast<double>(trained.step)) == Approx(loss).epsilon(1e-6));
  REQUIRE(trained.step == 20);
  CHECK(events.back()["train_loss"].number() == Approx(loss).epsilon(1e-12));
}

TEST_CASE("fledge train: without a held-out text the last report has the loss of the last model") {
  const Desk desk;
  const Result result = trained({desk.poems(), "-o", desk / "run", "--valid", "0"});
  const fledge::TrainedModel trained = fledge::load_trained(desk / "run");
  const fledge::Corpus corpus = fledge::read_corpus(small_text(), trained.run.settings.corpus);
  CHECK_THAT(result.err, ContainsSubstring(support::formatted(
                             "\nTraining loss %.4f nats per character",
                             fledge::mean_loss(trained.model, corpus.train, 2, 120))));
}
