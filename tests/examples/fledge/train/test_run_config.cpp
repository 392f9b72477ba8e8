// The settings of a run as a config.json: what they keep.
#include "examples/fledge/train/train_config.h"

#include "nn/text/corpus.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::train;

namespace {

RunConfig made() {
  static const Corpus corpus = read_corpus("abcabbcaabcbacbbacab", {});
  RunConfig config{{}, corpus.tokenizer, 20, 7};
  config.settings.sizes = {.vocabulary = 3, .context = 2, .layers = 1, .heads = 1, .width = 2};
  config.settings.training.schedule = {.rate = 0.02, .warmup = 1, .steps = 20};
  config.settings.texts = {"/somewhere/poems.txt"};
  return config;
}

}  // namespace

TEST_CASE("run config: what is written is read again") {
  const RunConfig config = made();
  const RunConfig read = run_config(config_text(config));
  CHECK(config_text(read) == config_text(config));
  CHECK(read.text_bytes == 20);
  CHECK(read.text_hash == 7);
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
