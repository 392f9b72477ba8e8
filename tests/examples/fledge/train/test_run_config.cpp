// config.json of a run: what it keeps, its identity and its checksum.
#include "examples/fledge/train/run_config.h"

#include "nn/io/files.h"
#include "nn/text/corpus.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refusal.h"

using namespace fledge;
using namespace fledge::train;
using testing::write_file;
using tests::refusal;

namespace {

RunConfig made() {
  static const Corpus corpus = read_corpus("abcabbcaabcbacbbacab", {});
  RunConfig config{{}, corpus.tokenizer, 20, 7};
  config.settings.sizes = {.vocabulary = 3, .context = 2, .layers = 1, .heads = 1, .width = 2};
  config.settings.training.schedule = {.rate = 0.02, .warmup = 1, .steps = 20};
  config.settings.texts = {"/somewhere/poems.txt"};
  config.id = run_id(config);
  return config;
}

}  // namespace

TEST_CASE("run config: what is written is read again, with its identity") {
  const RunConfig config = made();
  const RunConfig read = run_config(config_text(config));
  CHECK(config_text(read) == config_text(config));
  CHECK(read.id == config.id);
  CHECK(run_id(read) == config.id);
}

TEST_CASE("run config: the tokens that begin, end and fill texts are kept") {
  RunConfig config = made();
  for (const MarkTokens& marks :
       {MarkTokens{}, MarkTokens{1, {2}, 0}, MarkTokens{{}, {2, 0}, 50'256}}) {
    config.tokenizer.set_marks(marks);
    const RunConfig read = run_config(config_text(config));
    CHECK(read.tokenizer.marks() == marks);
    CHECK(config_text(read) == config_text(config));
  }
}

TEST_CASE("run config: the identity depends on what never changes in a run, and on nothing else") {
  const std::string id = made().id;
  CHECK(id.size() == 16);
  const auto changed = [](auto change) {
    RunConfig config = made();
    change(config);
    return run_id(config);
  };
  CHECK(changed([](RunConfig& c) { c.settings.training.schedule.steps = 40; }) == id);
  CHECK(changed([](RunConfig& c) { c.settings.training.schedule.rate = 0.5; }) == id);
  CHECK(changed([](RunConfig& c) { c.settings.texts = {"elsewhere"}; }) == id);
  CHECK(changed([](RunConfig& c) { c.id = "another"; }) == id);
  CHECK(changed([](RunConfig& c) { c.settings.training.seed = 2; }) != id);
  CHECK(changed([](RunConfig& c) { c.settings.training.batch = 3; }) != id);
  CHECK(changed([](RunConfig& c) { c.settings.sizes.layers = 2; }) != id);
  CHECK(changed([](RunConfig& c) { c.text_hash = 8; }) != id);
  CHECK(changed([](RunConfig& c) { c.tokenizer = read_corpus("xyzxyzxyz", {}).tokenizer; }) != id);
}

TEST_CASE("run config: no letter of it can be changed without being refused") {
  const std::string good = config_text(made());
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string text = good;
    text[at] = static_cast<char>(text[at] == '1' ? '2' : '1');
    CAPTURE(at);
    CHECK_THROWS(run_config(text));
  }
  std::string text = good;
  const std::size_t at = text.find("\"steps\": \"20\"");
  REQUIRE(at != text.npos);
  CHECK_THAT(refusal<FormatError>([&] { run_config(text.replace(at, 13, "\"steps\": \"30\"")); }),
             ContainsSubstring("does not fit the contents: something in the file was changed"));
}

TEST_CASE("run config: another version is refused in one sentence") {
  for (const char* version : {"1", "2", "4"}) {
    std::string text = config_text(made());
    text.replace(text.find("\"version\": 3"), 12, "\"version\": " + std::string(version));
    CHECK_THAT(refusal<FormatError>([&] { run_config(text); }),
               EndsWith("fledge.version must be 3: got " + std::string(version) +
                        "; use the fledge that wrote it, or train again"));
  }
}

TEST_CASE("run config: the path of a text may have any bytes") {
  RunConfig config = made();
  for (const std::string path : {"/a b/\xff\xfe%41.txt", "/100%", "/Vögel/鳥.txt"}) {
    config.settings.texts = {path};
    CHECK(run_config(config_text(config)).settings.texts == std::vector<std::string>{path});
  }
  for (const std::vector<std::string>& paths :
       {std::vector<std::string>{}, {"/a.txt", "/100%", "/\xff"}}) {
    config.settings.texts = paths;
    CHECK(run_config(config_text(config)).settings.texts == paths);
  }
}

TEST_CASE("run config: a resumed run of the built-in text watches the same words") {
  const auto config_of = [](std::vector<const char*> words) {
    words.insert(words.begin(), "train");
    return train_config(static_cast<int>(words.size()), words.data());
  };
  const TrainConfig begun = config_of({"-o", "run"});
  CHECK(begun.watch == "walk:birds");
  TrainConfig saved = begun;
  saved.watch = "";
  CHECK(resumed_config(saved, config_of({"--resume", "run"})).watch == begun.watch);
  CHECK(resumed_config(saved, config_of({"--resume", "run", "--watch", "at:good"})).watch ==
        "at:good");
  saved.texts = {"/somewhere/poems.txt"};
  CHECK(resumed_config(saved, config_of({"--resume", "run"})).watch.empty());
}

TEST_CASE("run config: a folder without one says so") {
  const testing::Folder desk;
  const fledge::Folder folder(desk.path(), {"config.json"});
  CHECK(refusal<FileError>([&] { read_run_config(folder); }) ==
        "cannot read '" + (desk / "config.json") + "': no such file or directory");
  write_file(desk / "config.json", config_text(made()));
  CHECK(read_run_config(folder).text_hash == 7);
}
