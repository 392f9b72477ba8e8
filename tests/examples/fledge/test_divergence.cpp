// A run whose numbers are no longer finite ends with a message and status 4, and keeps its last good
// state.
#include "examples/fledge/train/defaults.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

const Words too_fast{"--lr", "1e6", "--clip", "0", "--warmup", "4"};

}  // namespace

TEST_CASE("fledge train: a run that diverges ends with status 4, the step and the culprit") {
  const Desk desk;
  const Words line = Words{"train", desk.poems(), "-o", desk / "run"} + tiny + too_fast;
  const Result result = fledge_says(line + Words{"--json"});
  CHECK(result.status == 4);
  const Words lines = lines_of(result.err);
  REQUIRE(lines.size() > 2);
  const std::string &what = lines[lines.size() - 2], &advice = lines.back();
  const std::vector<StrictJson> rows = json_lines(result.out);
  const StrictJson& end = rows.back();
  CHECK(end["type"].string() == "end");
  CHECK(end["status"].string() == "diverged");
  const auto step = static_cast<int>(end["step"].number());
  CHECK(step >= 1);
  CHECK(step < 20);
  CHECK_THAT(what, StartsWith("fledge train: "));
  CHECK_THAT(what, ContainsSubstring(" at step " + std::to_string(step + 1) + ": "));
  CHECK((what.find(".weight") != what.npos || what.find(".bias") != what.npos ||
         what.find("'") != what.npos));
  CHECK(
      advice ==
      "              the rate may be too large, or --clip 1 missing; to begin again with a smaller "
      "one: fledge train --resume " +
          (desk / "run") + " --lr 0.004");
  CHECK(result.err.find("done:") == std::string::npos);
  CHECK(lines_of(text_of(desk / "run/metrics.csv")).size() == static_cast<std::size_t>(step) + 1);
}

TEST_CASE("fledge train: a divergence is said before a folder that cannot be written to") {
  const Desk desk;
  const std::string errors = desk / "errors";
  Running run(
      Words{"train", desk.poems(), "-o", desk / "run", "--json", "--pace", "2"} + tiny + too_fast,
      errors);
  REQUIRE(run.says("\"step\":1,"));
  std::filesystem::create_directories(desk / "run/.fledge-uncommitted/thesis");
  CHECK(WEXITSTATUS(run.end()) == 1);
  const std::string said = text_of(errors);
  const std::size_t diverged = said.find(" at step "), unwritten = said.find("cannot tidy '");
  CAPTURE(said);
  REQUIRE(diverged != said.npos);
  REQUIRE(unwritten != said.npos);
  CHECK(diverged < unwritten);
  CHECK_THAT(said, ContainsSubstring("remove the cause; then go on with: fledge train --resume "));
}

TEST_CASE("fledge train: what diverged can be gone on with, and diverges again") {
  const Desk desk;
  const Words line = Words{"train", desk.poems(), "-o", desk / "run", "-q"} + tiny + too_fast;
  const Result first = fledge_says(line);
  CHECK(first.status == 4);
  CHECK(lines_of(first.err).size() == 2);
  const auto files = files_in(desk / "run");
  const Result again = fledge_says({"train", "--resume", desk / "run", "-q"});
  CHECK(again.status == 4);
  CHECK(again.err == first.err);
  CHECK((files_in(desk / "run") == files));
  trained({desk.poems(), "-o", desk / "run", "--force"});
}

TEST_CASE("fledge train --resume --lr: with a smaller rate it begins again, the same twice") {
  const Desk desk;
  for (const char* name : {"one", "two"}) {
    const Words line = Words{"train", desk.poems(), "-o", desk / name, "-q"} + tiny + too_fast;
    CHECK(fledge_says(line).status == 4);
  }
  trained({"--resume", desk / "one", "--lr", "0.002", "--threads", "1"});
  // The other one stops on the way; its rate is in its folder then.
  Running run({"train", "--resume", desk / "two", "--lr", "0.002", "--threads", "3", "--pace", "20",
               "--json"});
  REQUIRE(run.says("\"step\":5,"));
  run.signal(SIGINT);
  CHECK(WTERMSIG(run.end()) == SIGINT);
  CHECK_THAT(text_of(desk / "two/config.json"), ContainsSubstring("\"lr\": \"0.002\""));
  trained({"--resume", desk / "two"});
  CHECK((files_in(desk / "one") == files_in(desk / "two")));
  // As if it had begun with this rate.
  const Words rate{"--lr", "0.002", "--clip", "0", "--warmup", "4"};
  trained(Words{desk.poems(), "-o", desk / "never"} + rate);
  CHECK((files_in(desk / "one") == files_in(desk / "never")));
}

TEST_CASE("fledge train --resume --lr: a run that diverged late goes back to its best state") {
  const Desk desk;
  const Words begin{"--lr", "0.01", "--clip", "0", "--eval-every", "5"};
  for (const char* name : {"diverged", "straight"})
    trained(Words{desk.poems(), "-o", desk / name} + begin);
  const auto whole = files_in(desk / "diverged");
  const Result lost =
      fledge_says({"train", "--resume", desk / "diverged", "--lr", "1e6", "--steps", "60", "-q"});
  CHECK(lost.status == 4);
  CHECK_THAT(lost.err,
             EndsWith("; to go on from step 20 with a smaller one: fledge train --resume " +
                      (desk / "diverged") + " --lr 0.004\n"));
  CHECK((files_in(desk / "diverged").at("state.safetensors") == whole.at("state.safetensors")));
  CHECK((files_in(desk / "diverged").at("model.safetensors") == whole.at("model.safetensors")));
  // The bad steps leave no trace; the new rate is saved.
  const auto go_on = [&](const char* name, const Words& more) {
    const Result result = trained(Words{"--resume", desk / name} + more);
    CHECK_THAT(result.err,
               ContainsSubstring("\nContinuing after step 20, from here on with --lr 0.005.\n"));
  };
  go_on("diverged", {"--lr", "0.005", "--threads", "3"});
  go_on("straight", {"--lr", "0.005", "--steps", "60", "--threads", "1"});
  CHECK((files_in(desk / "diverged") == files_in(desk / "straight")));
  CHECK(lines_of(text_of(desk / "diverged/metrics.csv")).size() == 61);
}

TEST_CASE("fledge train --resume --lr: the run's own rate changes no bit") {
  const Desk desk;
  for (const char* name : {"plain", "same"}) trained({desk.poems(), "-o", desk / name});
  trained({"--resume", desk / "plain", "--steps", "30"});
  trained({"--resume", desk / "same", "--steps", "30", "--lr", "0.004"});
  CHECK((files_in(desk / "plain") == files_in(desk / "same")));
  trained({"--resume", desk / "plain", "--steps", "40"});
  trained({"--resume", desk / "same", "--steps", "40", "--lr", "0.0001"});
  CHECK((files_in(desk / "plain").at("model.safetensors") !=
         files_in(desk / "same").at("model.safetensors")));
}

TEST_CASE("fledge train: after a divergence a rate is advised that may work") {
  const Desk desk;
  const auto advised = [&](const Words& more) {
    const Result result =
        fledge_says(Words{"train", "--no-save", "--steps", "200", "-q", "--clip", "0"} + more);
    CHECK(result.status == 4);
    return result.err.substr(result.err.rfind("too large: "));
  };
  // The rate that is chosen for the text, or less than a rate that was tried.
  CHECK(advised({desk.poems(), "--lr", "1000"}) == "too large: try --lr 0.004, or --clip 1\n");
  CHECK(advised({"--lr", "1000"}) == "too large: try --lr 0.02, or --clip 1\n");
  using namespace fledge::train;
  TrainConfig config;
  const fledge::Corpus corpus = fledge::read_corpus(small_text(), {});
  const auto rate_after = [&](double rate) {
    config.training.schedule.rate = rate;
    return rate_after_divergence(config, corpus);
  };
  config.texts = {"poems.txt"};
  CHECK(rate_after(0.01) == 0.004);
  CHECK(rate_after(0.004) == 0.0004);
  CHECK(rate_after(0.0004) == 0.00004);
  config.from = "base";
  CHECK(rate_after(0.004) == 0.0004);
}

TEST_CASE("fledge train: the bar does not end happily, and nothing is claimed to be kept") {
  const Desk desk;
  const Result shown =
      run_on_terminal(with_program(Words{"train", desk.poems(), "--no-save"} + tiny + too_fast));
  CHECK(shown.status == 4);
  const std::string counted = "Counting tables 100%";  // a bar of its own, before the steps
  CHECK(shown.out.rfind("100%") + 4 == shown.out.find(counted) + counted.size());
  CHECK_THAT(shown.out, EndsWith("try --lr 0.004, or --clip 1\n"));
}

TEST_CASE("fledge train: a divergence is status 4 wherever it is met, and no model of it is kept") {
  const Desk desk;
  // The weights stop being finite in the last step: no other step meets them.
  const Words too_late =
      Words(tiny.begin(), tiny.end() - 2) +
      Words{"--steps", "3", "--lr", "1e6", "--warmup", "0", "--min-lr", "1", "--clip", "0"};
  const Words all_meet[] = {{},                                        // the evaluation
                            {"--valid", "0"},                          // the last save
                            {"--valid", "0", "--watch", "s:t"},        // what is watched
                            {"--valid", "0", "--probe", "the lake"},   // the end
                            {"--valid", "0", "--sample-every", "1"}};  // a sample
  for (const Words& meets : all_meet)
    for (const Words& shown : {Words{}, Words{"-q"}, Words{"--json"}, Words{"--json", "-q"}}) {
      CAPTURE(meets, shown);
      const std::string run = desk / "run";
      const Result result = fledge_says(Words{"train", desk.poems()} + too_late + meets + shown +
                                        Words{"-o", run, "--force"});
      REQUIRE(result.status == 4);
      CHECK_THAT(result.err, ContainsSubstring("fledge train: "));
      CHECK_THAT(result.err, EndsWith("to begin again with a smaller one: fledge train --resume " +
                                      run + " --lr 0.004\n"));
      if (shown.size() > 0 && shown[0] == "--json")
        CHECK(json_lines(result.out).back()["status"].string() == "diverged");
      CHECK(fledge_says({"generate", run, "--tokens-out", "3"}).status == 0);
      const Result eval = fledge_says({"eval", run, desk.poems(), "--json"});
      CHECK(eval.status == 0);
      CHECK(strict_json(eval.out)["loss"].number() < 4);  // ln 22 = 3.09 is guessing
      const Result alone =
          fledge_says(Words{"train", desk.poems(), "--no-save"} + too_late + meets + shown);
      CHECK(alone.status == 4);  // where nothing is kept
    }
}

TEST_CASE("fledge train: a run that diverged does not stay on a state that was saved on the way") {
  const Desk desk;
  const Words line = Words{"train", desk.poems(), "-o", desk / "run", "-q"} + tiny;
  const Words saves{"--valid", "0", "--save-every", "0"};
  CHECK(fledge_says(line + saves + Words{"--lr", "1e6", "--clip", "0"}).status == 4);
  // With a rate that is right from the beginning.
  trained({"--resume", desk / "run", "--lr", "0.004"});
  trained(Words{desk.poems(), "-o", desk / "never", "--clip", "0"} + saves);
  CHECK((files_in(desk / "run").at("model.safetensors") ==
         files_in(desk / "never").at("model.safetensors")));
  // A state that beats guessing is one to go back to, also when nothing is held out.
  const auto before = files_in(desk / "run");
  const Result lost =
      fledge_says({"train", "--resume", desk / "run", "--lr", "1e6", "--steps", "60", "-q"});
  CHECK(lost.status == 4);
  CHECK_THAT(lost.err, ContainsSubstring("; to go on from step 20 with a smaller one"));
  CHECK((files_in(desk / "run").at("state.safetensors") == before.at("state.safetensors")));
}
