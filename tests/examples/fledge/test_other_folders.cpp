// Folders that Hugging Face's libraries saved: generate, eval, inspect and train read them.
#include "examples/fledge/inspect/what_if.h"
#include "tests/examples/fledge/other_folder.h"

using namespace testing;

TEST_CASE("other folders: --tokens-in works without a tokenizer") {
  const OtherFolder desk;
  const Words prompt{"15 7 3", "--tokens-in", "--temperature", "0", "--tokens-out", "5"};
  const std::string continued = text(Words{desk.folder()} + prompt);
  CHECK_THAT(continued, StartsWith("15 7 3 "));
  const auto numbers = lines_of(continued).at(0);
  CHECK(std::count(numbers.begin(), numbers.end(), ' ') == 7);
  CHECK(
      refusal_of(fledge_says({"generate", desk.folder()}), desk.path()) ==
      "3: '~/gpt2' has no tokenizer: neither tokenizer.json nor vocab.json and merges.txt | bring "
      "them; without them a text is token numbers: fledge generate DIR --tokens-in \"15 7\"");
  const auto refused = [&](const Words& more) {
    return refusal_of(fledge_says(Words{"generate", desk.folder(), "--tokens-in"} + more),
                      desk.path());
  };
  for (const std::string wrong : {"265", "x", "-1", "07"})
    CHECK(refused({"15 " + wrong}) == "3: the prompt must have token numbers from 0 to 264: got '" +
                                          wrong +
                                          "' | write them with blanks between, such as \"15 7\"");
  CHECK(refused({}) ==
        "3: --tokens-in needs a prompt: got none | write token numbers, such as \"15 7\"");
  write_text(desk / "numbers", "1 2 3 4 5 6 7\r\n8 9 10 11 12 13 14 15\n");
  const Result loss = fledge_says({"eval", desk.folder(), desk / "numbers", "--tokens-in"});
  CHECK(loss.status == 0);
  CHECK_THAT(loss.out, ContainsSubstring("14 words"));
}

TEST_CASE("other folders: the tokenizer of vocab.json and merges.txt is used, and its end") {
  const OtherFolder desk;
  desk.add_tokenizer();
  const Result result = generated({desk.folder(), "birds walk", "--tokens-out", "3", "--json"});
  REQUIRE(result.status == 0);
  CHECK_THAT(text({desk.folder(), "birds walk", "--temperature", "0"}), StartsWith("birds walk"));
  const Result judged = fledge_says({"eval", desk.folder(), desk.poems()});
  CHECK(judged.status == 0);
  CHECK_THAT(judged.out, StartsWith("Loss "));
  CHECK(refusal_of(fledge_says({"eval", desk.folder()}), desk.path()) ==
        "3: this model has no run of fledge train, so no text was held out | name a text: fledge "
        "eval DIR FILE");
  CHECK_THAT(fledge_says({"inspect", desk.folder()}).out, ContainsSubstring("265 tokens (bpe)"));
}

TEST_CASE("other folders: fledge train goes on from such a model") {
  const OtherFolder desk;
  desk.add_tokenizer();
  const std::string run = desk / "run";
  const Words call{"train",   desk.poems(), "--from",  desk.folder(), "-o", run,
                   "--steps", "20",         "--batch", "2",           "-q"};
  CHECK(fledge_says(call).status == 0);
  const double
      before = read_line(fledge_says({"eval", desk.folder(), desk.poems(), "--json"}).out)["loss"]
                   .number(),
      after = read_line(fledge_says({"eval", run, desk.poems(), "--json"}).out)["loss"].number();
  CHECK(after < before);
  // The run has all that it needs: the folder may go.
  std::filesystem::rename(desk.folder(), desk / "gone");
  CHECK(fledge_says({"train", "--resume", run, "--steps", "25", "-q"}).status == 0);
  CHECK(refusal_of(fledge_says({"train", "--resume", run, "--from", desk / "gone"}), desk.path()) ==
        "2: --from belongs to the run since it began | leave it out, or begin a new run in another "
        "folder with -o");
}

TEST_CASE(
    "other folders: with --from the first loss is that of the model, also in a shorter context") {
  const OtherFolder desk;
  desk.add_tokenizer();
  for (const char* context : {"12", "7"}) {
    const std::string run = desk / ("run" + std::string(context));
    const Result result = fledge_says({"train", desk.poems(), "--from", desk.folder(), "-o", run,
                                       "--context", context, "--steps", "1", "--lr", "0", "-q"});
    REQUIRE(result.status == 0);
    const Words eval{"eval", run, desk.poems(), "--json"};
    if (std::string(context) == "12")
      CHECK(fledge_says(eval).out ==
            fledge_says({"eval", desk.folder(), desk.poems(), "--json"}).out);
    CHECK_THAT(text_of(run + "/config.json"),
               ContainsSubstring("\"n_positions\": " + std::string(context)));
  }
  const auto refused = [&](const Words& more) {
    return refusal_of(fledge_says(Words{"train", desk.poems(), "--from", desk.folder()} + more),
                      desk.path());
  };
  CHECK(
      refused({"--context", "13"}) ==
      "3: --context 13 is longer than that of the model of --from, 12 | use --context 12 or less");
  CHECK(refused({"--layers", "3"}) ==
        "2: --layers is decided by the model of --from | leave it out");
  CHECK(refusal_of(fledge_says({"train", "--from", desk.folder()}), desk.path()) ==
        "2: --from needs a text to train on | write fledge train FILE --from DIR");
}

TEST_CASE(
    "other folders: what transformers made of a folder of fledge train is still such a folder") {
  const Desk desk;
  const std::string folder = desk / "saved";
  std::filesystem::copy(models().words(), folder);
  std::filesystem::remove(folder + "/state.safetensors");
  // save_pretrained() keeps unknown keys, adds its version, and writes numbers and line ends anew.
  std::string config = text_of(folder + "/config.json");
  config.replace(config.find('{'), 1, "{\n\n  \"transformers_version\": \"4.40.0\",");
  write_text(folder + "/config.json", config);
  CHECK(fledge_says({"eval", folder, "--json"}).out ==
        fledge_says({"eval", models().words(), "--json"}).out);
  config.replace(config.find("transformers_version"), 20, "_name_or_path\": \"\", \"prefix");
  write_text(folder + "/config.json", config);
  CHECK_THAT(fledge_says({"eval", folder}).err, ContainsSubstring("does not fit the contents"));
}

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
    write_text(folder() + "/model.safetensors", fledge::weights_bytes(model));
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
    CHECK(text_of(desk / ("run" + generation)) == text_of(desk / ("out" + generation)));
  }
}

TEST_CASE("other folders: a run on lines ends a text at the line end, which its lines end with") {
  const PaddedFolder desk(198, 265);  // the number of the line end, which is always drawn
  const Words how{"birds", "--temperature", "0", "--tokens-out", "3"};
  CHECK(text(Words{desk.folder()} + how) == "birds\n\n\n");
  continued(desk, {"--lr", "0", "--lines"});
  CHECK(text(Words{desk / "run"} + how) == "birds\n");
}

TEST_CASE("other folders: bos, eos and pad of the folder are kept") {
  const PaddedFolder desk(40);
  desk.set("bos_token_id", "262");
  desk.set("eos_token_id", "[263, 264]");
  desk.set("n_inner", "null, \"pad_token_id\": 319");
  continued(desk);
  for (const char* from : {"gpt2", "run"}) {
    const std::string out = desk / ("out-" + std::string(from));
    CHECK(fledge_says({"export", desk / from, "-o", out}).status == 0);
    const StrictJson config = strict_json(text_of(out + "/config.json"));
    CHECK(config["bos_token_id"].number() == 262);
    CHECK(config["eos_token_id"].array().size() == 2);
    CHECK(config["pad_token_id"].number() == 319);
  }
  desk.set("bos_token_id", "null");  // without it 50256, as of GPT-2
  CHECK(fledge_says({"export", desk.folder(), "-o", desk / "out"}).status == 0);
  CHECK(strict_json(text_of(desk / "out/config.json"))["bos_token_id"].is_null());
}

TEST_CASE("other folders: what changes no number is read, and what is not known is named") {
  OtherFolder desk;
  desk.add_tokenizer();
  const Words how{"generate", desk.folder(), "birds", "--temperature", "0", "--tokens-out", "5"};
  const std::string expected = fledge_says(how).out;
  const auto config = [&](const std::string& from, const std::string& to) {
    write_text(desk.folder() + "/config.json", replaced(gpt2_config, from, to));
    return fledge_says(how);
  };
  for (const auto& [from, to] : {std::pair{R"("model_type": "gpt2", )", ""},
                                 {R"("embd_pdrop": 0.1)", R"("embd_pdrop": 0)"},
                                 {R"("resid_pdrop": 0.1,)", ""},
                                 {R"("n_ctx": 12)", R"("n_ctx": 11, "hidden_size": 8)"}}) {
    const Result result = config(from, to);
    CAPTURE(to, result.err);
    CHECK(result.status == 0);
    CHECK(result.out == expected);
    CHECK(result.err.empty());
  }
  const Result warned = config(R"("n_ctx": 12)", R"("afn": "gelu", "transformers.js_config": {})");
  CHECK(warned.out == expected);
  CHECK_THAT(warned.err, ContainsSubstring("'afn', 'transformers.js_config'."));
  const Result refused = config(R"("n_ctx": 12)", R"("hidden_size": 9)");
  CHECK(
      refusal_of(refused, desk.path()) ==
      "3: cannot read '~/gpt2/config.json': line 2, column 18: hidden_size must be n_embd, 8: got "
      "9 | fledge reads models of GPT-2's form, as transformers saves them");
  const Result strange = config(R"("eos_token_id": 264)", R"("eos_token_id": ["end", 7, 9999])");
  CHECK(strange.out == expected);
  std::string warning = strange.err;
  std::replace(warning.begin(), warning.end(), '\n', ' ');
  CHECK_THAT(warning,
             ContainsSubstring("ignores: 'eos_token_id[0] \"end\"', 'eos_token_id[2] 9999'."));
  write_text(desk.folder() + "/config.json", gpt2_config);
  write_text(desk.folder() + "/model.safetensors", "version https://git-lfs.github.com/spec/v1\n");
  CHECK_THAT(fledge_says(how).err, ContainsSubstring("git lfs pull"));
}

TEST_CASE("other folders: a token beyond the table is refused where it stands, not the folder") {
  const OtherFolder desk;
  desk.add_tokenizer();
  write_text(desk.folder() + "/special_tokens_map.json", R"({"pad_token": "<pad>"})");
  const Result fine = fledge_says({"generate", desk.folder(), "birds", "--temperature", "0"});
  CHECK(fine.status == 0);
  CHECK_THAT(fine.err, ContainsSubstring("has 266 tokens, the model 265"));
  CHECK(fledge_says({"inspect", desk.folder()}).status == 0);
  write_text(desk / "padded", "birds walk<pad>\nbirds walk\n");
  for (const Words& call :
       {Words{"generate", desk.folder(), "birds walk<pad>"},
        Words{"eval", desk.folder(), desk / "padded"},
        Words{"train", desk / "padded", "--from", desk.folder(), "--no-save", "-q"}}) {
    const Result result = fledge_says(call);
    CAPTURE(call, result.err);
    CHECK(result.status == 3);
    CHECK_THAT(result.err, ContainsSubstring("'<pad>' at byte 10"));
  }
  // Behind the warning about the tokenizer.
  const auto refused = [&](const Words& call) {
    const std::string errors = fledge_says(call).err;
    return two_lines(errors.substr(errors.find("\nfledge ") + 1));
  };
  CHECK_THAT(
      refused({"generate", desk.folder(), "birds walk<pad>"}),
      EndsWith(": the token '<pad>' at byte 10 of the prompt is not among the model's tokens | "
               "--skip-unknown leaves it out; the model knows 265 tokens"));
  CHECK_THAT(
      refused({"generate", desk.folder(), "<pad>birds<pad> walk"}),
      EndsWith(": the token '<pad>' at byte 0 of the prompt is not among the model's tokens; it "
               "occurs there 2 times, 50.0 % of the text | --skip-unknown leaves it out; the "
               "model knows 265 tokens"));
  CHECK_THAT(refused({"generate", desk.folder(), "<pad>", "--skip-unknown"}),
             EndsWith(": the model knows no token of the prompt | use another text"));
  const Words greedy{"generate", desk.folder(), "--temperature", "0"};
  const Result skipped = fledge_says(greedy + Words{"birds walk<pad>", "--skip-unknown"});
  CHECK(skipped.status == 0);
  CHECK(skipped.out == fledge_says(greedy + Words{"birds walk"}).out);
  CHECK_THAT(skipped.err, ContainsSubstring("Left out of the prompt: '<pad>', which is not among "
                                            "the model's tokens, 33.3 %"));
  CHECK(fledge_says({"eval", desk.folder(), desk / "padded", "--skip-unknown"}).status == 0);
  continued(desk);
  CHECK(fledge_says({"generate", desk / "run", "birds"}).status == 0);
}

TEST_CASE("other folders: an export has all files of special tokens") {
  const OtherFolder desk;
  desk.add_tokenizer();
  write_text(desk.folder() + "/special_tokens_map.json", R"({"bos_token": "walk"})");
  write_text(desk.folder() + "/added_tokens.json", R"({"bird": 258})");
  CHECK(fledge_says({"export", desk.folder(), "-o", desk / "out"}).status == 0);
  for (const char* name : {"/special_tokens_map.json", "/added_tokens.json"})
    CHECK(text_of(desk / "out" + name) == text_of(desk.folder() + name));
}
