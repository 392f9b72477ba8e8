// A run's folder: the run in one file, and how much of the log belongs to it.
#include "examples/fledge/train/run_folder.h"

#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "examples/support/errors.h"
#include "nn/io/files.h"
#include "nn/text/corpus.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
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

/// The bytes of run.safetensors of a run of a seed that has no step.
std::string run_of(std::uint64_t seed, RunNotes notes = {}) {
  RunConfig config{{}, corpus().tokenizer, 20, 7};
  TrainConfig& plan = config.settings;
  plan.sizes = {.vocabulary = 3, .context = 2, .layers = 1, .heads = 1, .width = 2};
  plan.training.batch = 2;
  plan.training.seed = plan.corpus.seed = seed;
  plan.training.schedule = {.rate = 0.02, .warmup = 0, .steps = 20};
  Rng rng(seed);
  const Trainer trainer(LanguageModel(plan.sizes, rng), corpus().train, plan.training);
  return checkpoint_bytes(trainer, notes, {}, config_text(config));
}

const std::string old_run = run_of(1), new_run = run_of(2);

RunFolder begun(const std::string& path, const std::string& run, bool replaces = false) {
  return RunFolder::begin(path, replaces ? Place::replaceable : Place::empty, run);
}
/// A run whose log has one event.
void begin_old(const std::string& path) {
  RunNotes notes;
  notes.log_bytes = 13;
  RunFolder run = begun(path, old_run);
  run.append("{\"type\":\"a\"}");
  run.sync_log();
  run.save(run_of(1, notes));
}
/// The seed of the run that a reader finds, which must be whole, with its own events.
std::uint64_t seed_in(const std::string& path) {
  const SavedRun run = open_run(fledge::Folder(path));
  const std::uint64_t seed = run.config.settings.training.seed;
  CHECK(saved_events(fledge::Folder(path)) == (seed == 1 ? "{\"type\":\"a\"}\n" : ""));
  return seed;
}

std::string refused_folder(const std::function<void()>& body) {
  return refusal<support::CommandError>(body);
}

}  // namespace

TEST_CASE("run folder: a new run in place of an old one: killed anywhere, one of them is whole") {
  bool finished = false;
  int kept = 0, kills = 0;
  for (int kill = 0; !finished; ++kill) {
    const testing::Folder desk;
    CAPTURE(kill);
    begin_old(desk / "run");
    finished = ends_before(kill, [&] { begun(desk / "run", new_run, true); });
    kept += seed_in(desk / "run") == 1;
    kills += !finished;
    CHECK(RunFolder::resume(desk / "run").saved().checkpoint.notes.step == 0);
  }
  CHECK(kept == 4);   // in front of mkdir, unlink, fsync and rename
  CHECK(kills == 9);  // and then of an fsync, and of the four changes for the log
}

TEST_CASE("run folder: the first run of a folder: killed anywhere, it is there or nothing is") {
  bool finished = false;
  for (int kill = 0; !finished; ++kill) {
    const testing::Folder desk;
    CAPTURE(kill);
    finished = ends_before(kill, [&] { begun(desk / "run", new_run); });
    if (!fs::exists(desk / "run/run.safetensors")) begun(desk / "run", new_run);
    CHECK(seed_in(desk / "run") == 2);
  }
}

TEST_CASE("run folder: any change that fails: the old run or the new one, and a message") {
  for (const int error : {ENOSPC, EIO})
    for (int change = 0; change < 9; ++change) {
      const testing::Folder desk;
      CAPTURE(error, change);
      begin_old(desk / "run");
      const std::string said =
          with_failure(change, error, [&] { begun(desk / "run", new_run, true); });
      CHECK_THAT(said, StartsWith("cannot "));
      CHECK(seed_in(desk / "run") == (change < 4 ? 1 : 2));
      // Where nothing was, nothing stays.
      const std::string first = with_failure(change, error, [&] { begun(desk / "new", new_run); });
      if (!first.empty()) CHECK((!fs::exists(desk / "new") || fs::is_empty(desk / "new")));
    }
}

TEST_CASE("run folder: only what fledge wrote is replaced") {
  const std::vector<std::array<const char*, 3>> rows{
      {"run.safetensors", "my notes on runs", "was not written by fledge train"},
      {"events.jsonl", "{\"day\":1}\n", "was not written by fledge train"},
      {"config.json", "{}", "is in the way: it is of a model, not of a run"},
      {"model.safetensors", "", "is in the way: it is of a model, not of a run"}};
  for (const auto& [name, bytes, said] : rows) {
    const testing::Folder desk;
    CAPTURE(name);
    begun(desk / "run", old_run);
    const std::string path = desk / (std::string("run/") + name);
    write_file(path, bytes);
    CHECK(refused_folder([&] { begun(desk / "run", new_run, true); }) == "'" + path + "' " + said);
    CHECK(read_file(path) == bytes);
    fs::remove(path);
    write_file(desk / "run/events.jsonl", "");  // nothing to lose
    begun(desk / "run", new_run, true);
    CHECK(seed_in(desk / "run") == 2);
  }
  const testing::Folder desk;
  fs::create_directory(desk / "run");
  write_file(desk / "run/thesis", "text");
  CHECK(refused_folder([&] { begun(desk / "run", new_run); }) ==
        "the folder '" + (desk / "run") + "' is not empty");
  CHECK(refused_folder([&] { begun(desk / "run/thesis", new_run); }) ==
        "'" + (desk / "run/thesis") + "' is a file, not a folder");
  fs::create_directory(desk / "run/events.jsonl");
  CHECK(refused_folder([&] { begun(desk / "run", new_run, true); }) ==
        "cannot read '" + (desk / "run/events.jsonl") + "': it is a folder");
  CHECK(!fs::exists(desk / "run/run.safetensors"));
}

TEST_CASE("run folder: what a log has of the saved run") {
  RunNotes notes;
  notes.log_bytes = 13;
  const std::string log = "{\"type\":\"a\"}\n{\"type\":\"b\"}\n{\"type\"";
  CHECK(saved_events(log, notes, false) == "{\"type\":\"a\"}\n");
  CHECK(saved_events(log, notes, true) ==
        "{\"type\":\"a\"}\n{\"type\":\"b\"}\n");           // the final report
  CHECK(saved_events("{\"type\"", notes, false).empty());  // lines were lost
  CHECK(saved_events("", notes, true).empty());
}

TEST_CASE("run folder: a log is appended to, and a backup of it stays") {
  const testing::Folder desk;
  const std::string path = desk / "run/events.jsonl";
  begin_old(desk / "run");
  fs::create_hard_link(path, desk / "backup");
  RunFolder run = RunFolder::resume(desk / "run");
  run.open_log("");
  run.append("two");
  CHECK(run.sync_log() == 4);
  run.append(std::string(10'000, 'x'));  // too long to wait
  CHECK(read_file(path).size() == 4 + 10'001);
  CHECK(run.sync_log() == 4 + 10'001);
  CHECK(read_file(desk / "backup") == "{\"type\":\"a\"}\n");
}

TEST_CASE("run folder: a full disk is said, and what waits is written when there is room") {
  const testing::Folder desk;
  const auto result = testing::run_here([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    RunFolder run = begun(desk / "run", new_run);
    run.open_log("one\n");
    const auto limit = [](rlim_t bytes) {
      const rlimit most{bytes, RLIM_INFINITY};
      setrlimit(RLIMIT_FSIZE, &most);
    };
    limit(1000);
    const std::string said = refusal<WriteError>([&] { run.append(std::string(5000, 'x')); });
    limit(RLIM_INFINITY);
    const bool is_written = run.sync_log() == 5005;
    return is_written &&
                   said == "cannot write '" + (desk / "run/events.jsonl") + "': file too large"
               ? 0
               : 1;
  });
  CHECK(result.status == 0);
  CHECK(read_file(desk / "run/events.jsonl") == "one\n" + std::string(5000, 'x') + "\n");
}

TEST_CASE("run folder: moved, it is written to where it is; removed, that is said") {
  const testing::Folder desk;
  RunFolder run = begun(desk / "run", old_run);
  fs::rename(desk / "run", desk / "moved");
  begun(desk / "run", new_run);
  run.append("{}");
  run.sync_log();
  run.save(old_run);
  CHECK(read_file(desk / "moved/run.safetensors") == old_run);
  CHECK(read_file(desk / "moved/events.jsonl") == "{}\n");
  CHECK(seed_in(desk / "run") == 2);
  fs::remove_all(desk / "moved");
  CHECK(refused_folder([&] { run.save(old_run); }) ==
        "the folder '" + (desk / "run") +
            "' was removed while the run was in it: nothing of the run is left");
}
