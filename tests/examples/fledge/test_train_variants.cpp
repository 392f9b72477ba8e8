// fledge train --without, --tie-qk and --freeze: what a run says, keeps and resumes, and what the
// other commands do with its model.
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

constexpr const char* cheating = "This model can cheat: its loss is not a prediction.";

std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Result trained_with(const Desk& desk, const std::string& folder, const Words& switches) {
  const Result result =
      fledge_says(Words{"train", desk.poems(), "-o", desk / folder} + tiny + switches);
  INFO(result.err);
  CHECK(result.status == 0);
  return result;
}

}  // namespace

TEST_CASE(
    "fledge train --without mask: a warning in place of the check, and all commands read it") {
  const Desk desk;
  const Result run = trained_with(desk, "run", {"--without", "mask", "--probe", "birds walk"});
  CHECK_THAT(run.err, ContainsSubstring("\nHeld-out loss "));
  for (const char* rival : {"beaten", "counting table", "Losses to beat"})
    CHECK_THAT(run.err, !ContainsSubstring(rival));
  CHECK_THAT(in_one_line(run.err), ContainsSubstring(cheating));
  CHECK_THAT(run.err, !ContainsSubstring("Causality"));
  CHECK_THAT(text_of(desk / "run/config.json"), ContainsSubstring("\"model_type\": \"fledge\""));
  const Result eval = fledge_says({"eval", desk / "run"});
  CHECK(eval.status == 0);
  CHECK_THAT(in_one_line(eval.out), ContainsSubstring(cheating));
  const Result inspected = fledge_says({"inspect", desk / "run"});
  CHECK_THAT(inspected.out, ContainsSubstring("\nLeft out: mask.\n"));
  const Result table =
      fledge_says({"generate", desk / "run", "bi", "--attention", "--csv", "--tokens-out", "1"});
  CHECK(table.status == 0);
  CHECK_THAT(table.out, ContainsSubstring("\n0,0,0,3,b,1,9,i,"));  // 'b' sees the 'i' after it
  const Result changed =
      fledge_says({"inspect", desk / "run", "--what-if", "bi", "--row", "i=b:1"});
  CHECK(changed.status == 3);
  CHECK_THAT(changed.err, ContainsSubstring("--what-if needs a model with the causal mask"));
}

TEST_CASE("fledge train: where no later token is seen the check is made, whatever is left out") {
  const Desk desk;
  // Without attention no position sees another, with the mask or without it.
  for (const char* word :
       {"positions", "scale", "mlp", "value", "attention", "residual", "norm", "mask,attention"}) {
    CAPTURE(word);
    const Result run = trained_with(desk, word, {"--without", word});
    std::string list = word;
    if (const std::size_t comma = list.find(','); comma != list.npos) list.insert(comma + 1, " ");
    CHECK_THAT(run.err, ContainsSubstring("Left out: " + list + ".\n"));
    CHECK_THAT(run.err, ContainsSubstring("Causality"));
    CHECK_THAT(run.err, !ContainsSubstring("cheat"));
    CHECK(fledge_says({"generate", desk / word, "bi", "--attention", "--seed", "1"}).status == 0);
    const Result eval = fledge_says({"eval", desk / word});
    CHECK(eval.status == 0);
    CHECK_THAT(eval.out, !ContainsSubstring("cheat"));
  }
}

TEST_CASE("fledge train --resume: a variant goes on with the same bytes, without its options") {
  const Desk desk;
  const std::vector<Words> variants{{"--tie-qk", "--freeze", "v"},
                                    {"--without", "positions,value,mask", "--dropout", "0.1"}};
  for (const Words& switches : variants) {
    CAPTURE(switches);
    const Words all = switches + Words{"--valid", "0", "--warmup", "5", "--force"};
    trained_with(desk, "whole", all + Words{"--accumulate", "2"});
    const Words half = Words{"train", desk.poems(), "-o", desk / "half"} + tiny + all +
                       Words{"--accumulate", "2", "--json", "--pace", "20"};
    Running run(half, desk / "half.err");
    REQUIRE(run.says("\"step\":7,"));
    run.signal(SIGINT);
    run.end();
    CHECK(fledge_says({"train", "--resume", desk / "half"}).status == 0);
    CHECK((text_of(desk / "half/model.safetensors") == text_of(desk / "whole/model.safetensors")));
    CHECK((text_of(desk / "half/state.safetensors") == text_of(desk / "whole/state.safetensors")));
    const Result again = fledge_says(Words{"train", "--resume", desk / "half"} + switches);
    CHECK(again.status == 2);
    CHECK_THAT(again.err, ContainsSubstring("belongs to the run since it began"));
  }
}

TEST_CASE("fledge train --find-lr: the rates are tried on the variant") {
  const Desk desk;
  const Words find = Words{"train", desk.poems(), "--find-lr"} + tiny;
  const std::string plain = fledge_says(find).out;
  for (const Words& switches : {Words{"--without", "mlp"}, {"--freeze", "q,k,v"}, {"--tie-qk"}}) {
    const Result found = fledge_says(find + switches);
    CHECK(found.status == 0);
    CHECK(found.out != plain);
  }
}

TEST_CASE("fledge train: unknown parts are refused with a suggestion") {
  const Desk desk;
  const auto refused = [&](const Words& words) {
    return refusal_of(fledge_says(Words{"train", desk.poems()} + words), desk.path());
  };
  CHECK(
      refused({"--without", "mask,positons"}) ==
      "2: --without must be one or more of mask|positions|scale|mlp|value|attention|residual|norm, "
      "with commas between them: got 'mask,positons' | did you mean 'positions'? all options: "
      "fledge train --help");
  CHECK(refused({"--freeze", "w"}) ==
        "2: --freeze must be one or more of q|k|v, with commas between them: got 'w' | write "
        "--freeze q|k|v,...; all options: fledge train --help");
}
