// The names that other tools have for options: each gets the name that fledge has for it.
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"

using namespace testing;

namespace {

/// The advice for an option of a command that does not know it.
std::string advice_for(const std::string& command, const std::string& option) {
  CAPTURE(command, option);
  const Result result = fledge_says({command, "run", option, "5"});
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  const std::string message = two_lines(result.err), between = "'" + option + "' | ";
  REQUIRE_THAT(message, StartsWith("fledge " + command + ": unknown option " + between));
  return message.substr(message.find(between) + between.size());
}

}  // namespace

TEST_CASE("known names: train") {
  CHECK(advice_for("train", "--epochs") == "fledge counts steps; use --steps N");
  CHECK(advice_for("train", "--batch-size") == "use --batch N");
  CHECK(advice_for("train", "--learning-rate") == "use --lr X");
  CHECK(advice_for("train", "--block-size") == "use --context N");
  for (const char* name : {"--n_layer", "--n-layer", "--num_layers"})
    CHECK(advice_for("train", name) == "use --layers N");
  CHECK(advice_for("train", "--n_head") == "use --heads N");
  CHECK(advice_for("train", "--n_embd") == "use --width N");
  CHECK(advice_for("train", "--weight_decay") == "use --decay X");
  CHECK(advice_for("train", "--out_dir") == "use --out DIR");
  CHECK_THAT(advice_for("train", "--device"), ContainsSubstring("leave it out"));
  CHECK_THAT(advice_for("train", "--dataset"), ContainsSubstring("fledge train FILE"));
}

TEST_CASE("known names: generate, eval and bench know those that they have an option for") {
  CHECK(advice_for("generate", "--length") == "use --tokens-out N");
  CHECK(advice_for("generate", "--max_new_tokens") == "use --tokens-out N");
  CHECK(advice_for("generate", "--num-samples") == "use --samples N");
  CHECK(advice_for("generate", "--prompt") == "the prompt stands behind DIR");
  CHECK(advice_for("eval", "--batch_size") == "use --batch N");
  CHECK(advice_for("bench", "--vocab_size") == "use --vocab N");
  CHECK(advice_for("train", "--init_from") == "use --from DIR");
  CHECK(advice_for("generate", "--model") == "use --from DIR");
  CHECK(advice_for("export", "--dtype") == "use --to f32|f16|bf16");
  CHECK(advice_for("eval", "--epochs") == "see 'fledge eval --help'");
}
