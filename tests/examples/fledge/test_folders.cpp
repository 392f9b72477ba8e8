// A run's file with one change: a refusal names the file and what is wrong, and nothing is lost.
// tests/command/folders.txt and interrupts.txt have the rest of the folder, make faults what a disk
// or a kill may do. Folders of other programs: rows of the table without a token, and the tokens that
// end texts; tests/command/other_folder.txt has what the commands say of such folders.
#include "examples/fledge/train/screen.h"
#include "nn/gpt/weights.h"
#include "tests/examples/fledge/training.h"
#include "tests/nn/modules.h"
#include "tests/support/given.h"

using namespace testing;
using fledge::Dim;

namespace {

/// A run, and what is said of it once its file has other bytes.
struct Damaged : Desk {
  std::string folder = run("run"), path = folder + "/run.safetensors", good = text_of(path);
  fledge::StoredHeader header = fledge::stored_header(good);

  /// "what came | what to do"; a command that refuses leaves the folder as it is.
  std::string refused(const Words& arguments) const {
    const auto before = files_in(folder);
    const Result result = fledge_says(arguments);
    CHECK(result.status == 3);
    CHECK(result.out.empty());
    CHECK((files_in(folder) == before));
    return refusal_of(result, Desk::path()).substr(3);
  }
  std::string refused_bytes(const std::string& bytes) const {
    write_file(path, bytes);
    CHECK_THAT(refused({"eval", folder}), StartsWith("'~/run/run.safetensors': "));
    return refused({"train", "--resume", folder, "--steps", "30", "-q"});
  }
};

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

std::string generated(const std::string& folder, const Words& how) {
  return done(Words{"generate", folder, "--seed", "1"} + how).out;
}

}  // namespace

TEST_CASE("a run's file with one change: the sentence names it and what is wrong") {
  const Damaged desk;
  const std::string settings = desk.header.text("settings"), notes = desk.header.text("notes"),
                    restore = " | restore the file, or begin a new run";
  const std::string words = text_of(desk.run("words", {"--tokens", "word"}) + "/run.safetensors");
  for (const Given& one : given_in(FLEDGE_SOURCE_DIR "/tests/examples/fledge/run_settings.txt")) {
    CAPTURE(one.given);
    const std::size_t arrow = one.given.find(" => ");
    const std::string changed =
        replaced(settings, one.given.substr(0, arrow), one.given.substr(arrow + 4));
    CHECK_THAT(desk.refused_bytes(tests::with_metadata(desk.good, "settings", changed)),
               ContainsSubstring(one.result) && EndsWith(restore));
  }
  std::vector<std::pair<std::string, std::string>> files{
      {tests::with_metadata(desk.good, "notes", replaced(notes, "{", "[")), "line 1, column "},
      {tests::with_metadata(desk.good, "format", "pt"), "must be written by fledge train"},
      {tests::with_metadata(words, "settings", settings),
       "'wte.weight' must have shape (22, 16): the file has (14, 16)"},
      {desk.good.substr(0, desk.good.size() - 1), "bytes of numbers"},
      {desk.good + "x", "bytes of numbers"},
      {"hello, I am a text\n", "the length of a header"}};
  for (const std::size_t bytes : {0U, 7U, 8U, 9U, 500U, 20000U})
    files.emplace_back(desk.good.substr(0, bytes), "header");
  for (std::size_t eighths = 2; eighths <= 8; ++eighths) {  // in the first is the header
    files.emplace_back(desk.good, "it is damaged: its checksum does not match");
    files.back().first[desk.good.size() / 8 * eighths - 1] ^= 1;
  }
  for (const auto& [bytes, said] : files)
    CHECK_THAT(desk.refused_bytes(bytes),
               ContainsSubstring(said) &&
                   (EndsWith(restore) || ContainsSubstring("' must have shape (22, 16): ")));
  // Weights that overflow, or an average of them, are those of a run that diverged.
  for (const std::string last : {"", "last."}) {
    std::string bytes = desk.good;
    const auto table = tests::find(desk.header, last + "wte.weight");
    REQUIRE(table != nullptr);
    for (std::uint64_t at = table->begin; at < table->end; at += 4)
      bytes.replace(static_cast<std::size_t>(at), 4, "\xff\xff\x7f\x7f");  // 3.4e38
    write_file(desk.path, tests::with_metadata(bytes, "", ""));
    CHECK_THAT(desk.refused({"train", "--resume", desk.folder, "--steps", "30", "-q"}),
               StartsWith("'~/run/run.safetensors': its weights are of a run that diverged: ") &&
                   EndsWith(" | begin a new run in another folder with -o, or here with --force"));
    if (last.empty())
      CHECK_THAT(desk.refused({"eval", desk.folder}), StartsWith("'~/run/run.safetensors': "));
  }
  fs::remove(desk.path);
  fs::create_directory(desk.path);
  CHECK(desk.refused({"train", "--resume", desk.folder}) ==
        "cannot read '~/run/run.safetensors': it is a folder" + restore);
  fs::remove(desk.path);
  write_file(desk.path, desk.good);
  trained({"--resume", desk.folder, "--steps", "30"});
}

TEST_CASE("fledge train: after a divergence a smaller rate is advised") {
  fledge::train::TrainConfig config;
  config.texts = {"text"};
  const fledge::Corpus corpus = fledge::read_corpus(std::string(300, 'a') + "bcd", {});
  const auto advised = [&](double rate) {
    config.training.schedule.rate = rate;
    return rate_after_divergence(config, corpus);
  };
  const double chosen = advised(1000);
  for (const double rate : {1000.0, chosen, chosen / 2}) CHECK(advised(rate) < rate);
}

TEST_CASE("fledge train: a time is minutes and seconds, or hours too") {
  for (const auto& [seconds, text] : {std::pair{0.0, "0:00"},
                                      {59.6, "1:00"},
                                      {3599.0, "59:59"},
                                      {3725.0, "1:02:05"},
                                      {1e9 + 1, "-"},
                                      {-1.0, "-"}})
    CHECK(fledge::train::clock_text(seconds) == text);
}

TEST_CASE("other folders: rows without a token are never drawn and have no probability") {
  const PaddedFolder desk(300);
  const std::string run = desk.continued({"--page", desk / "run.html", "--force"});
  for (const std::string& folder : {desk.folder, run}) {
    for (const Words& how : {Words{}, Words{"--temperature", "0"}, Words{"--probs"},
                             Words{"--json"}, Words{"--top-k", "5"}})
      CHECK(generated(folder, Words{"birds", "--tokens-out", "40"} + how).size() > 40);
    done({"page", folder, "-o", desk / "page.html"});
    CHECK_THAT(text_of(desk / "page.html"), ContainsSubstring("\"kept\":[{\"step\":"));
  }
  // --why and --probs share all probability among tokens with text.
  const Words drawn{"birds walk", "--tokens-out", "1", "--temperature", "1", "--probs", "--json"};
  const StrictJson step = strict_json(generated(desk.folder, drawn))["probs"][0],
                   why = strict_json(generated(
                       desk.folder, drawn + Words{"--why", step["token"].string()}))["why"];
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
      CHECK(generated(folder, how) == (ends ? "birds\n" : "birdsalalal\n"));
  }
  // A run on lines ends a text at the line end, which its lines end with: here it is always drawn.
  const PaddedFolder desk(198, 265);
  CHECK(generated(desk.folder, how) == "birds\n\n\n");
  CHECK(generated(desk.continued({"-q", "--lines"}), how) == "birds\n");
}
