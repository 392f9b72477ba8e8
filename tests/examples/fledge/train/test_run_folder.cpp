// A run's folder is whole whatever stops the program: killed in front of any change to it, or any
// change failing.
#include "examples/fledge/train/run_folder.h"

#include <cerrno>
#include <filesystem>

#include "examples/support/errors.h"
#include "nn/io/files.h"
#include "nn/io/safetensors.h"
#include "nn/text/corpus.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refusal.h"
#include "tests/support/stopped.h"

using namespace fledge;
using namespace fledge::train;
using testing::ends_before;
using testing::with_failure;
using testing::write_file;
using tests::refusal;
namespace fs = std::filesystem;

namespace {

const Corpus& corpus() {
  static const Corpus read = read_corpus("abcabbcaabcbacbbacab", {});
  return read;
}

/// A run of a seed: its config.json, and its checkpoint at a step.
struct Made {
  RunConfig config;
  Checkpoint checkpoint;

  explicit Made(std::uint64_t seed, std::int64_t step = 0)
      : config{plan(seed), corpus().tokenizer, 20, 7} {
    config.id = run_id(config);
    Rng rng(seed);
    const LanguageModel model(config.settings.sizes, rng);
    Trainer trainer(model, corpus().train, config.settings.training);
    while (trainer.steps_done() < step) trainer.step();
    checkpoint.model = model_file(model, config.id, step, 1.5);
    RunNotes notes;
    notes.run_id = config.id;
    notes.model_checksum = checkpoint.model.checksum;
    notes.csv_bytes = std::ssize(csv_header());
    checkpoint.state = checkpoint_bytes(trainer, notes);
    checkpoint.step = step;
  }
  static TrainConfig plan(std::uint64_t seed) {
    TrainConfig plan;
    plan.sizes = {.vocabulary = 3, .context = 2, .layers = 1, .heads = 1, .width = 2};
    plan.training.batch = 2;
    plan.training.seed = plan.corpus.seed = seed;
    plan.training.schedule = {.rate = 0.02, .warmup = 0, .steps = 20};
    return plan;
  }
  RunFolder begin(const std::string& path, bool replaces = false) const {
    return RunFolder::begin(path, config, replaces ? Place::replaceable : Place::empty, checkpoint);
  }
  /// Whether a reader finds these files, all of them.
  bool is_in(const std::string& path) const {
    const fledge::Folder folder(path, run_files());
    return folder.read("config.json") == config_text(config) &&
           folder.read("model.safetensors") == checkpoint.model.bytes &&
           folder.read("state.safetensors") == checkpoint.state &&
           folder.read("metrics.csv")->starts_with("step,");
  }
};

std::string refused_folder(const std::function<void()>& body) {
  return refusal<support::CommandError>(body);
}
void no_warning(const std::string& text) { FAIL(text); }

}  // namespace

TEST_CASE("run folder: a new run in place of an old one: killed anywhere, one of them is whole") {
  const Made old(1), fresh(2);
  bool finished = false;
  int kills = 0, kept = 0;
  for (int kill = 0; !finished; ++kill) {
    const testing::Folder desk;
    CAPTURE(kill);
    old.begin(desk / "run");
    finished = ends_before(kill, [&] { fresh.begin(desk / "run", true); });
    const bool is_old = old.is_in(desk / "run");
    CHECK((is_old || fresh.is_in(desk / "run")));
    RunFolder run = RunFolder::resume(desk / "run");
    CHECK(run.config().id == (is_old ? old : fresh).config.id);
    RunNotes notes;
    notes.csv_bytes = std::ssize(csv_header());
    run.open_metrics(notes, false, no_warning);
    kills += !finished;
    kept += is_old;
  }
  CHECK(kills > 15);
  CHECK(kept > 8);
  CHECK(kept < kills);
}

TEST_CASE("run folder: the first run of a folder: killed anywhere, it is there or nothing is") {
  const Made fresh(2);
  bool finished = false;
  for (int kill = 0; !finished; ++kill) {
    const testing::Folder desk;
    CAPTURE(kill);
    finished = ends_before(kill, [&] { fresh.begin(desk / "run"); });
    if (fs::exists(desk / "run/config.json") || fs::exists(desk / "run/.fledge-committed"))
      CHECK(fresh.is_in(desk / "run"));
    else
      fresh.begin(desk / "run");  // as if nothing had been
    RunFolder::resume(desk / "run");
  }
}

TEST_CASE("run folder: model and checkpoint are saved together: killed anywhere, both are of one") {
  const Made first(1), later(1, 3);
  CHECK(first.config.id == later.config.id);
  bool finished = false;
  for (int kill = 0; !finished; ++kill) {
    const testing::Folder desk;
    CAPTURE(kill);
    RunFolder run = first.begin(desk / "run");
    finished = ends_before(kill, [&] { run.write(later.checkpoint); });
    CHECK((first.is_in(desk / "run") || later.is_in(desk / "run")));
  }
}

TEST_CASE("run folder: any change that fails: the old run or the new one, and a message") {
  const Made old(1), fresh(2);
  for (const int error : {ENOSPC, EIO}) {
    bool failed = true;
    for (int change = 0; failed; ++change) {
      const testing::Folder desk;
      CAPTURE(error, change);
      old.begin(desk / "run");
      const std::string said = with_failure(change, error, [&] {
        try {
          fresh.begin(desk / "run", true);
        } catch (const support::CommandError& refused) {
          throw std::runtime_error(refused.what() + (" | " + refused.advice));
        }
      });
      failed = !said.empty();
      if (failed) CHECK_THAT(said, ContainsSubstring(" | name a"));
      CHECK((old.is_in(desk / "run") || fresh.is_in(desk / "run")));
    }
    const testing::Folder desk;  // where nothing was, nothing stays
    CHECK(!with_failure(2, error, [&] { fresh.begin(desk / "run"); }).empty());
    CHECK(!fs::exists(desk / "run"));
  }
}

TEST_CASE("run folder: only what fledge wrote is replaced") {
  const Made old(1), fresh(2);
  const std::vector<std::pair<const char*, const char*>> rows{
      {"config.json", "{\"model_type\": \"gpt2\"}"},
      {"model.safetensors", "my notes on models"},
      {"state.safetensors", "my notes on the state"},
      {"metrics.csv", "day,metres\n"},
      {"metrics.jsonl", "{\"day\":1}\n"}};
  for (const auto& [name, bytes] : rows) {
    const testing::Folder desk;
    CAPTURE(name);
    old.begin(desk / "run");
    const std::string path = desk / (std::string("run/") + name);
    write_file(path, bytes);
    CHECK(refused_folder([&] { fresh.begin(desk / "run", true); }) ==
          "'" + path + "' was not written by fledge train");
    CHECK(read_file(path) == bytes);
    write_file(path, "");  // nothing to lose
    fresh.begin(desk / "run", true);
    CHECK(fresh.is_in(desk / "run"));
  }
  const testing::Folder desk;
  fs::create_directory(desk / "run");
  write_file(desk / "run/thesis", "text");
  CHECK(refused_folder([&] { fresh.begin(desk / "run"); }) ==
        "the folder '" + (desk / "run") + "' is not empty");
  CHECK(refused_folder([&] { fresh.begin(desk / "run/thesis"); }) ==
        "'" + (desk / "run/thesis") + "' is a file, not a folder");
}

TEST_CASE("run folder: files that were removed come back with the next checkpoint") {
  const Made first(1), later(1, 3);
  const testing::Folder desk;
  RunFolder run = first.begin(desk / "run");
  RunNotes notes;
  notes.csv_bytes = std::ssize(csv_header());
  run.open_metrics(notes, false, no_warning);
  for (const auto& entry : fs::directory_iterator(desk / "run")) fs::remove(entry);
  run.append({1, 1.5, 0.1, 0.1, {}});
  run.sync_metrics(notes);
  run.write({first.checkpoint.model, later.checkpoint.state, 3});
  const fledge::Folder seen(desk / "run", run_files());
  CHECK(seen.read("config.json") == config_text(first.config));
  CHECK(seen.read("model.safetensors") == first.checkpoint.model.bytes);
  CHECK(seen.read("state.safetensors") == later.checkpoint.state);
  CHECK(seen.read("metrics.csv") == csv_header() + "1,1.5,,0.1,0.1\n");
}

TEST_CASE("run folder: moved, it is written to where it is; removed, that is said") {
  const Made first(1), later(1, 3), other(2);
  const testing::Folder desk;
  RunFolder run = first.begin(desk / "run");
  fs::rename(desk / "run", desk / "moved");
  other.begin(desk / "run");
  CHECK_THAT(refused_folder([&] { run.write(later.checkpoint); }),
             StartsWith("the folder '" + (desk / "run") + "' was moved to '"));
  CHECK(later.is_in(desk / "moved"));
  CHECK(other.is_in(desk / "run"));
  fs::remove_all(desk / "moved");
  CHECK_THAT(
      refused_folder([&] { run.write(first.checkpoint); }),
      ContainsSubstring("' was removed while the run was in it: nothing of the run is left"));
}

TEST_CASE("run folder: removed before its metrics are opened, that is said, and nothing else") {
  const testing::Folder desk;
  RunFolder run = Made(1).begin(desk / "run");
  fs::remove_all(desk / "run");
  RunNotes notes;
  notes.csv_bytes = notes.jsonl_bytes = 30;
  CHECK_THAT(
      refused_folder([&] { run.open_metrics(notes, false, no_warning); }),
      ContainsSubstring("' was removed while the run was in it: nothing of the run is left"));
}

TEST_CASE("run folder: metrics that are shorter or missing are mended, with a warning") {
  const testing::Folder desk;
  Made(1).begin(desk / "run");
  RunFolder run = RunFolder::resume(desk / "run");
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& text) { warnings.push_back(text); };
  RunNotes notes;
  notes.csv_bytes = 60;
  notes.jsonl_bytes = 30;
  write_file(desk / "run/metrics.csv", csv_header() + "1,2,,0.1,1\n2,2,,");  // half a row
  fs::remove(desk / "run/metrics.jsonl");
  run.open_metrics(notes, false, warn);
  CHECK(warnings == std::vector<std::string>{
                        "'" + (desk / "run/metrics.csv") +
                            "' is shorter than when the checkpoint was made: rows are missing "
                            "from it",
                        "'" + (desk / "run/metrics.jsonl") +
                            "' is missing: it begins again with the next step"});
  CHECK(read_file(desk / "run/metrics.csv") == csv_header() + "1,2,,0.1,1\n");
  CHECK(notes.csv_bytes == static_cast<std::int64_t>(csv_header().size()) + 11);
  CHECK(notes.jsonl_bytes == 0);
}
