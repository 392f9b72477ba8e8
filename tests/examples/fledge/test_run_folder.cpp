// A run's file with one change: a refusal names the file and what is wrong, and nothing is lost.
// tests/command/folders.txt and interrupts.txt have the rest of the folder, make faults what a disk
// or a kill may do.
#include "examples/fledge/train/screen.h"
#include "tests/examples/fledge/training.h"
#include "tests/support/given.h"

using namespace testing;

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
