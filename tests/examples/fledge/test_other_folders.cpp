// Folders of other programs: rows of the table without a token, and the tokens that end texts.
// tests/command/other_folder.txt has what the commands say of such folders.
#include "nn/gpt/weights.h"
#include "tests/examples/fledge/training.h"
#include "tests/nn/modules.h"

using namespace testing;
using fledge::Dim;

namespace {

/// A folder as Hugging Face's libraries save it, with a table of `table` rows and a tokenizer of
/// 265 tokens. The rows that have no token, if `draws` is one of them, or else this token, are the
/// likeliest by far.
struct PaddedFolder : Desk {
  std::string folder = *this / "gpt2", config = folder + "/config.json";

  explicit PaddedFolder(Dim draws, Dim table = 320) {
    const fledge::LanguageModel model =
        tests::new_model({.vocabulary = table, .context = 12, .layers = 1, .heads = 2, .width = 8});
    // The logits of a constant vector (1, 1, ..., 1) are the sums of the rows of the table.
    for (Dim i = 0; i < 8; ++i) {
      model.ln_f.weight.write()[i] = 0;
      model.ln_f.bias.write()[i] = 1;
      for (Dim id = std::min<Dim>(draws, 265); id < (draws >= 265 ? table : draws + 1); ++id)
        model.wte.weight.write()[id * 8 + i] = fledge::Real(id == draws ? 5 : 4);
    }
    fs::create_directory(folder);
    for (const char* name : {"/config.json", "/vocab.json", "/merges.txt"})
      fs::copy_file(FLEDGE_SOURCE_DIR "/tests/command/texts/gpt2" + std::string(name),
                    folder + name);
    write_file(folder + "/model.safetensors", fledge::stored_bytes(fledge::named_weights(model)));
    set("\"vocab_size\": 265", "\"vocab_size\": " + std::to_string(table));
  }
  void set(const std::string& from, const std::string& to) const {
    write_file(config, replaced(text_of(config), from, to));
  }
  /// fledge train goes on from the folder, into "run".
  std::string continued(const Words& how) const {
    done(Words{"train", poems(), "--from", folder, "-o", *this / "run"} +
         words("--steps 2 --batch 2 --lr 0") + how);
    return *this / "run";
  }
};

std::string text(const std::string& folder, const Words& how) {
  return done(Words{"generate", folder, "--seed", "1"} + how).out;
}

}  // namespace

TEST_CASE("other folders: rows without a token are never drawn and have no probability") {
  const PaddedFolder desk(300);
  const std::string run = desk.continued({"--page", desk / "run.html", "--force"});
  for (const std::string& folder : {desk.folder, run}) {
    for (const Words& how : {Words{}, Words{"--temperature", "0"}, Words{"--probs"},
                             Words{"--json"}, Words{"--top-k", "5"}})
      CHECK(text(folder, Words{"birds", "--tokens-out", "40"} + how).size() > 40);
    done({"page", folder, "-o", desk / "page.html"});
    CHECK_THAT(text_of(desk / "page.html"), ContainsSubstring("\"kept\":[{\"step\":"));
  }
  // --why and --probs share all probability among tokens with text.
  const Words drawn{"birds walk", "--tokens-out", "1", "--temperature", "1", "--probs", "--json"};
  const StrictJson step = strict_json(text(desk.folder, drawn))["probs"][0],
                   why = strict_json(
                       text(desk.folder, drawn + Words{"--why", step["token"].string()}))["why"];
  CHECK(why["id"].number() == step["id"].number());
  CHECK(why["probability"].number() == Approx(step["probability"].number()).epsilon(1e-5));
}

TEST_CASE("other folders: the tokens of the folder end texts, and a run keeps them") {
  const Words how{"birds", "--temperature", "0", "--tokens-out", "3"};
  // "al" is token 261. The model draws it always.
  for (const auto& [in_config, in_generation, ends] :
       {std::tuple{"264", "", false},
        {"261", "", true},
        {"[7, 261]", "", true},
        {"264", R"({"eos_token_id": [264, 261]})", true},
        {"261", R"({"eos_token_id": 264})", false},
        {"261", R"({"temperature": 1})", true}}) {
    const PaddedFolder desk(261, 265);
    CAPTURE(in_config, in_generation);
    desk.set("\"eos_token_id\": 264", "\"eos_token_id\": " + std::string(in_config));
    if (*in_generation) write_file(desk.folder + "/generation_config.json", in_generation);
    const std::string run = desk.continued({"-q"}), out = desk / "out";
    done({"export", run, "-o", out});
    for (const std::string& folder : {desk.folder, run, out})
      CHECK(text(folder, how) == (ends ? "birds\n" : "birdsalalal\n"));
  }
  // A run on lines ends a text at the line end, which its lines end with: here it is always drawn.
  const PaddedFolder desk(198, 265);
  CHECK(text(desk.folder, how) == "birds\n\n\n");
  CHECK(text(desk.continued({"-q", "--lines"}), how) == "birds\n");
}
