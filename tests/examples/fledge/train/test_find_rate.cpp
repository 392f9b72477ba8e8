// --find-lr: the losses of several learning rates.
#include "examples/support/text.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

Result found(const Words& arguments, const Words& sizes = tiny) {
  return run(with_program(Words{"train"} + arguments + Words{"--find-lr"} + sizes));
}

}  // namespace

TEST_CASE("--find-lr: seven rates around the given one; the best is the lowest held-out loss") {
  const Desk desk;
  const Result json = found({desk.poems(), "--lr", "0.008", "--json"});
  CHECK(json.status == 0);
  const std::vector<StrictJson> rates = json_lines(json.out);
  REQUIRE(rates.size() == 7);
  CHECK(rates.front()["lr"].number() == 0.001);
  CHECK(rates.back()["lr"].number() == 0.064);
  double best = 0, lowest = 1e9;
  for (const StrictJson& rate : rates)
    if (rate["held_out_loss"].number() < lowest) {
      lowest = rate["held_out_loss"].number();
      best = rate["lr"].number();
    }
  CHECK(lowest < rates.front()["held_out_loss"].number());
  const Result table = found({desk.poems(), "--lr", "0.008"});
  CHECK_THAT(table.out, ContainsSubstring(support::formatted("that of --lr %g.", best)));
  CHECK(found({desk.poems(), "--lr", "0.008", "--json"}).out == json.out);
  CHECK(files_in(desk.path()).size() == 1);  // nothing is saved
}

TEST_CASE("--find-lr: the loss of a rate is that of a training run with it") {
  const Desk desk;
  const Words sizes(tiny.begin(), tiny.end() - 2);
  const std::vector<StrictJson> rates =
      json_lines(found({desk.poems(), "--lr", "0.02", "--json"}).out);
  const Result run_with =
      run(with_program(Words{"train", desk.poems(), "--no-save", "--json", "--lr", "0.02",
                             "--warmup", "6", "--min-lr", "1", "--steps", "60"} +
                       sizes));
  // Both are of the last model, so that they can be compared.
  const StrictJson end = json_lines(run_with.out).back();
  CHECK(rates.at(3)["training_loss"].number() == end["train_loss"].number());
  CHECK(rates.at(3)["held_out_loss"].number() == end["held_out_loss"].number());
}

TEST_CASE("--find-lr: rates that diverge, no held-out text, refusals") {
  const Desk desk;
  const Result wild = found({desk.poems(), "--lr", "1e6", "--clip", "0"});
  CHECK(wild.status == 4);
  CHECK_THAT(wild.out, ContainsSubstring("diverged"));
  const Result without = found({desk.poems(), "--valid", "0"});
  CHECK(without.status == 0);
  CHECK_THAT(without.out, !ContainsSubstring("held-out"));
  trained({desk.poems(), "-o", desk / "run"});
  CHECK(run(with_program({"train", "--resume", desk / "run", "--find-lr"})).status == 2);
  CHECK(found({desk / "none.txt"}).status == 3);
}
