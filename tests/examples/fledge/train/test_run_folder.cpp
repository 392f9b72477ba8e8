// A run's folder is whole whatever stops the program: killed in front of any change to it, or any
// change failing.
#include "examples/fledge/train/run_folder.h"

#include <cerrno>
#include <filesystem>

#include "examples/fledge/train/metrics.h"
#include "examples/fledge/train/run_config.h"
#include "examples/support/errors.h"
#include "nn/gpt/weights.h"
#include "nn/io/files.h"
#include "nn/io/safetensors.h"
#include "nn/text/corpus.h"
#include "nn/train/checkpoint.h"
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
using Desk = testing::Folder;
namespace fs = std::filesystem;

namespace {

const Corpus& corpus() {
  static const Corpus read = read_corpus("abcabbcaabcbacbbacab", {});
  return read;
}

/// A run of a seed: the bytes of its files at a step.
struct Made {
  RunConfig config;
  std::string text, model, state;
  std::int64_t step;

  explicit Made(std::uint64_t seed, std::int64_t at = 0)
      : config{plan(seed), corpus().tokenizer, 20, 7}, step(at) {
    config.id = run_id(config);
    text = config_text(config);
    Rng rng(seed);
    const LanguageModel made(config.settings.sizes, rng);
    Trainer trainer(made, corpus().train, config.settings.training);
    while (trainer.steps_done() < step) trainer.step();
    model = weights_bytes(
        made,
        {{"format", "pt"}, {"id", config.id}, {"step", std::to_string(step)}, {"loss", "1.5"}});
    RunNotes notes;
    notes.run_id = config.id;
    state = checkpoint_bytes(trainer, notes);
  }
  static TrainConfig plan(std::uint64_t seed) {
    TrainConfig plan;
    plan.sizes = {.vocabulary = 3, .context = 2, .layers = 1, .heads = 1, .width = 2};
    plan.training.batch = 2;
    plan.training.seed = plan.corpus.seed = seed;
    plan.training.schedule = {.rate = 0.02, .warmup = 0, .steps = 20};
    return plan;
  }
  LockedFolder begin(const std::string& path, bool replaces = false) const {
    return begin_folder(path, replaces,
                        {{config_name, text},
                         {model_name, model},
                         {state_name, state},
                         {csv_name, csv_header},
                         {jsonl_name, ""}});
  }
  /// Saves the checkpoint in the folder of the run.
  void save(LockedFolder& folder) const {
    save_files(folder, {{model_name, model}, {state_name, state}, {csv_name, csv_header}}, step);
  }
  /// Whether a reader finds these files, all of them.
  bool is_in(const std::string& path) const {
    const Folder folder(path, run_files());
    return folder.read(config_name) == text && folder.read(model_name) == model &&
           folder.read(state_name) == state && folder.read(csv_name) == csv_header;
  }
};

std::string refused(const std::function<void()>& body) {
  return refusal<support::CommandError>(body);
}

}  // namespace

TEST_CASE("run folder: a new run in place of an old one: killed anywhere, one of them is whole") {
  const Made old(1), fresh(2);
  bool finished = false;
  int kills = 0, kept = 0;
  for (int kill = 0; !finished; ++kill) {
    const Desk desk;
    CAPTURE(kill);
    old.begin(desk / "run");
    finished = ends_before(kill, [&] { fresh.begin(desk / "run", true); });
    const bool is_old = old.is_in(desk / "run");
    CHECK((is_old || fresh.is_in(desk / "run")));
    const LockedFolder run = resume_folder(desk / "run");
    CHECK(read_run_config(run).id == (is_old ? old : fresh).config.id);
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
    const Desk desk;
    CAPTURE(kill);
    finished = ends_before(kill, [&] { fresh.begin(desk / "run"); });
    if (fs::exists(desk / "run/config.json") || fs::exists(desk / "run/.fledge-committed"))
      CHECK(fresh.is_in(desk / "run"));
    else
      fresh.begin(desk / "run");  // as if nothing had been
    resume_folder(desk / "run");
  }
}

TEST_CASE("run folder: model and checkpoint are saved together: killed anywhere, both are of one") {
  const Made first(1), later(1, 3);
  CHECK(first.config.id == later.config.id);
  bool finished = false;
  for (int kill = 0; !finished; ++kill) {
    const Desk desk;
    CAPTURE(kill);
    LockedFolder run = first.begin(desk / "run");
    finished = ends_before(kill, [&] { later.save(run); });
    CHECK((first.is_in(desk / "run") || later.is_in(desk / "run")));
  }
}

TEST_CASE("run folder: any change that fails: the old run or the new one, and a message") {
  const Made old(1), fresh(2);
  for (const int error : {ENOSPC, EIO}) {
    bool failed = true;
    for (int change = 0; failed; ++change) {
      const Desk desk;
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
    const Desk desk;  // where nothing was, nothing stays
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
    const Desk desk;
    CAPTURE(name);
    old.begin(desk / "run");
    const std::string path = desk / (std::string("run/") + name);
    write_file(path, bytes);
    CHECK(refused([&] { fresh.begin(desk / "run", true); }) ==
          "'" + path + "' was not written by fledge train");
    CHECK(read_file(path) == bytes);
    write_file(path, "");  // nothing to lose
    fresh.begin(desk / "run", true);
    CHECK(fresh.is_in(desk / "run"));
  }
  const Desk desk;
  fs::create_directory(desk / "run");
  write_file(desk / "run/thesis", "text");
  CHECK(refused([&] { fresh.begin(desk / "run"); }) ==
        "the folder '" + (desk / "run") + "' is not empty");
  CHECK(refused([&] { fresh.begin(desk / "run/thesis"); }) ==
        "'" + (desk / "run/thesis") + "' is a file, not a folder");
}

TEST_CASE("run folder: moved, it is written to where it is; removed, that is said") {
  const Made first(1), later(1, 3), other(2);
  const Desk desk;
  LockedFolder run = first.begin(desk / "run");
  fs::rename(desk / "run", desk / "moved");
  other.begin(desk / "run");
  CHECK_THAT(refused([&] { later.save(run); }),
             StartsWith("the folder '" + (desk / "run") + "' was moved to '"));
  CHECK(later.is_in(desk / "moved"));
  CHECK(other.is_in(desk / "run"));
  fs::remove_all(desk / "moved");
  const std::string removed = "the folder '" + (desk / "run") +
                              "' was removed while the run was in it: nothing of the run is left";
  CHECK(refused([&] { first.save(run); }) == removed);
  CHECK(refused([&] { require_not_removed(run); }) == removed);
  CHECK(refused([&] { read_file_of(run, state_name); }) == removed);
}

TEST_CASE("run folder: rows of metrics up to a checkpoint; missing ones are said") {
  const Desk desk;
  const LockedFolder run = Made(1).begin(desk / "run");
  std::vector<std::string> warnings;
  const auto rows = [&](const char* name, std::int64_t size) {
    return rows_of(run, name, size, [&](const std::string& text) { warnings.push_back(text); });
  };
  const std::string kept = csv_header + std::string("1,2,,0.1,1\n");
  const auto size = static_cast<std::int64_t>(kept.size());
  write_file(desk / "run/metrics.csv", kept + "2,2,,0.1,1\n3,2,");
  CHECK(rows(csv_name, size) == kept);  // rows of steps after the checkpoint do not count
  CHECK(rows(jsonl_name, 0).empty());
  CHECK(warnings.empty());
  write_file(desk / "run/metrics.csv", kept + "2,2,,");  // half a row
  CHECK(rows(csv_name, size + 20) == kept);
  fs::remove(desk / "run/metrics.jsonl");
  CHECK(rows(jsonl_name, 30).empty());
  CHECK(warnings == std::vector<std::string>{
                        "'" + (desk / "run/metrics.csv") +
                            "' is shorter than when the checkpoint was made: rows are missing "
                            "from it",
                        "'" + (desk / "run/metrics.jsonl") +
                            "' is missing: it begins again with the next step"});
}
