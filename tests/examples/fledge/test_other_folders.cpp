// Folders of other programs: rows without a token, and the tokens that begin, end and fill texts.
// tests/command/other_folder.txt has what the commands say of such folders.
#include "examples/fledge/inspect/what_if.h"
#include "tests/examples/fledge/other_folder.h"

using namespace testing;

namespace {

// The folder of another program with a table of 320 rows and a tokenizer of 265 tokens. The rows that
// have no token, if `draws` is one of them, or else this token, are the likeliest by far.
struct PaddedFolder : OtherFolder {
  explicit PaddedFolder(fledge::Dim draws, fledge::Dim rows = 320) {
    fledge::LanguageModelSizes sizes = other_sizes;
    sizes.vocabulary = rows;
    fledge::Rng rng(1);
    const fledge::LanguageModel model(sizes, rng);
    const fledge::Dim C = sizes.width;
    // The logits of a constant vector (1, 1, ..., 1) are the sums of the rows of the table.
    for (fledge::Dim i = 0; i < C; ++i) {
      model.ln_f.weight.write()[i] = 0;
      model.ln_f.bias.write()[i] = 1;
      for (fledge::Dim id = draws >= 265 ? 265 : draws; id < (draws >= 265 ? rows : draws + 1);
           ++id)
        model.wte.weight.write()[id * C + i] = fledge::Real(id == draws ? 5 : 4);
    }
    write_text(folder() + "/model.safetensors", fledge::stored_bytes(fledge::named_weights(model)));
    set("vocab_size", std::to_string(rows));
    add_tokenizer();
  }
  // Gives a key of config.json a value; the key must be there.
  void set(const std::string& key, const std::string& value) const {
    std::string text = text_of(folder() + "/config.json");
    const std::size_t begin = text.find("\"" + key + "\": ") + key.size() + 4;
    text.replace(begin, text.find_first_of(",}", begin) - begin, value);
    write_text(folder() + "/config.json", text);
  }
};

// fledge train goes on from the folder, into "run".
void continued(const OtherFolder& desk, const Words& how = {}) {
  const Result result = fledge_says(Words{"train", desk.poems(), "--from", desk.folder(), "-o",
                                          desk / "run", "--steps", "2", "--batch", "2", "-q"} +
                                    how);
  CAPTURE(result.err);
  CHECK(result.status == 0);
}

}  // namespace

TEST_CASE("other folders: rows of the table without a token are never drawn") {
  const PaddedFolder desk(300);
  for (const Words& how : {Words{}, Words{"--temperature", "0"}, Words{"--probs"}, Words{"--json"},
                           Words{"--top-k", "5"}}) {
    const Result result = generated(Words{desk.folder(), "birds", "--tokens-out", "40"} + how);
    CAPTURE(how, result.err);
    CHECK(result.status == 0);
    CHECK(result.out.size() > 40);
  }
  const Result run = fledge_says({"train", desk.poems(), "--from", desk.folder(), "-o",
                                  desk / "run", "--steps", "4", "--batch", "2", "--sample-every",
                                  "1", "--lr", "0", "--page", desk / "run.html"});
  CHECK(run.status == 0);
  CHECK(generated({desk / "run", "birds"}).status == 0);
  for (const std::string& folder : {desk.folder(), desk / "run"})
    CHECK(fledge_says({"page", folder, "-o", desk / "page.html"}).status == 0);
  CHECK_THAT(text_of(desk / "page.html"), ContainsSubstring("\"without_text\":[265,266,"));
}

TEST_CASE(
    "other folders: --why, --probs and --what-if share all probability among tokens with text") {
  const PaddedFolder desk(300);
  const Words drawn{desk.folder(), "birds walk", "--tokens-out", "1",     "--temperature", "1",
                    "--seed",      "4",          "--probs",      "--json"};
  const StrictJson step = read_line(text(drawn))["probs"][0];
  const StrictJson why = read_line(text(drawn + Words{"--why", step["token"].string()}))["why"];
  CHECK(why["id"].number() == step["id"].number());
  CHECK(why["probability"].number() == Approx(step["probability"].number()).epsilon(1e-5));
  fledge::TrainedModel trained = fledge::load_trained(desk.folder());
  for (const bool has_names : {false, true}) {  // a tokenizer may also have numbers without text
    if (has_names) trained.run.tokenizer.extend_to(320);
    const fledge::WhatIf found =
        fledge::what_if(trained, "birds walk", fledge::parse_row(" walk=birds:1"), 0, {});
    for (const std::vector<fledge::Choice>& choices : {found.before, found.after}) {
      double sum = 0;
      for (const auto& [token, probability] : choices) {
        sum += probability;
        CHECK_FALSE(trained.tokenizer().decode({token}).empty());
        if (&choices == &found.before && token == static_cast<fledge::Dim>(step["id"].number()))
          CHECK(probability == Approx(step["probability"].number()).epsilon(1e-5));
      }
      CHECK(sum == Approx(1));
    }
  }
}

TEST_CASE("other folders: the tokens of the folder end texts, and a run keeps them") {
  const std::string generation = "/generation_config.json";
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
    desk.set("eos_token_id", in_config);
    if (*in_generation) write_text(desk.folder() + generation, in_generation);
    const Words how{"birds", "--temperature", "0", "--tokens-out", "3"};
    const std::string expected = ends ? "birds\n" : "birdsalalal\n";
    CHECK(text(Words{desk.folder()} + how) == expected);
    continued(desk, {"--lr", "0"});
    CHECK(text(Words{desk / "run"} + how) == expected);
    CHECK(fledge_says({"export", desk / "run", "-o", desk / "out"}).status == 0);
    CHECK(text(Words{desk / "out"} + how) == expected);
  }
}

TEST_CASE("other folders: a run on lines ends a text at the line end, which its lines end with") {
  const PaddedFolder desk(198, 265);  // the number of the line end, which is always drawn
  const Words how{"birds", "--temperature", "0", "--tokens-out", "3"};
  CHECK(text(Words{desk.folder()} + how) == "birds\n\n\n");
  continued(desk, {"--lr", "0", "--lines"});
  CHECK(text(Words{desk / "run"} + how) == "birds\n");
}
