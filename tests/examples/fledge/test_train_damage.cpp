// A run's folder that was damaged, changed or made by something else: which file, what it lacks.
#include <sys/stat.h>

#include <filesystem>

#include "tests/examples/fledge/training.h"

using namespace testing;
namespace fs = std::filesystem;

namespace {

/// A run, and what is said of it once its file has other bytes. A command that refuses leaves it so.
struct Damaged : Desk {
  std::string run = *this / "run", path = *this / "run/run.safetensors", good;

  Damaged() {
    trained({poems(), "-o", run});
    good = text_of(path);
  }
  std::string refused(const Words& arguments) const {
    const auto before = files_in(run);
    const Result result = fledge_says(arguments);
    CHECK(result.status == 3);
    CHECK(result.out.empty());
    CHECK((files_in(run) == before));
    return refusal_of(result, Desk::path()).substr(3);
  }
  std::string resuming() const {
    return refused({"train", "--resume", run, "--steps", "30", "-q"});
  }
  std::string refused_bytes(const std::string& bytes) const {
    write_text(path, bytes);
    const std::string said = resuming();
    CHECK_THAT(said, StartsWith("'~/run/run.safetensors': "));
    CHECK_THAT(refused({"eval", run}), StartsWith("'~/run/run.safetensors': "));
    return said;
  }
};

}  // namespace

TEST_CASE("a run with a wrong, missing or unknown setting") {
  const Damaged desk;
  const std::string settings = noted_in(desk.run, "settings");
  const std::vector<std::array<std::string, 3>> rows{
      {"\"version\": 4", "\"version\": 3",
       "fledge.version must be 4: got 3; commit 44c42e9 of fledge reads it"},
      {"\"version\": 4", "\"version\": 5",
       "fledge.version must be 4: got 5; use the fledge that wrote it, or train again"},
      {"\"version\": 4,", "", "fledge must have a key 'version'"},
      {"\"version\": 4,", "\"version\": 4, \"colour\": 1,", "the key 'fledge.colour' is not known"},
      {"\"lr\"", "\"rate\"", "fledge.run.rate is not known"},
      {"\"steps\": \"20\"", "\"steps\": \"-1\"",
       "fledge.run.steps must be a whole number from 1 to "},
      {"\"steps\": \"20\"", "\"steps\": \"2e1\"",
       "fledge.run.steps must be a whole number from 1 to "},
      {"\"steps\": \"20\"", "\"steps\": 20", "fledge.run.steps must be a string"},
      {"\"steps\": \"20\"", "\"steps\": \"1000000001\"",
       "fledge.run.steps must be a whole number from 1 to 1000000000"},
      {"\"accumulate\": \"1\"", "\"accumulate\": \"1000000000000\"",
       "fledge.run.accumulate must be a whole number from 1 to 100000"},
      {"\"batch\": \"2\"", "\"batch\": \"1000001\"",
       "fledge.run.batch must be a whole number from 1 to 1000000"},
      {"\"clip\": \"1\"", "\"clip\": \"1e7\"",
       "fledge.run.clip must be a number from 0 to 1000000"},
      {"\"seed\": \"1\"", "\"seed\": \" 1\"", "fledge.run.seed must be a whole number from 0 to "},
      {"\"n_head\": 1", "\"n_head\": 3", "n_head must divide n_embd, 16: got 3"},
      {"\"n_embd\": 16", "\"n_embd\": 2147483647", "describes too large a model"},
      {"\"n_layer\": 1", "\"n_layer\": 1000", "it has too few bytes for the model of its settings"},
      {"\"vocab_size\": 22", "\"vocab_size\": 21", "has 22 symbols, the model 21"},
      {"\"n_layer\": 1", "\"n_layer\": 1, \"n_layer\": 1", "the key 'n_layer' occurs twice"},
      {"{", "", "its settings: line 2, column 15: nothing may follow the value"},
      {"{", "\xef\xbb\xbf{", "the text begins with a byte order mark"}};
  for (const auto& [from, to, said] : rows) {
    CAPTURE(from, to);
    CHECK_THAT(desk.refused_bytes(
                   tests::with_metadata(desk.good, "settings", replaced(settings, from, to))),
               ContainsSubstring(said) && EndsWith(" | restore the file, or begin a new run"));
  }
  CHECK_THAT(desk.refused_bytes(tests::with_metadata(
                 desk.good, "notes", replaced(noted_in(desk / "run", "notes"), "{", "["))),
             ContainsSubstring("line 1, column "));
}

TEST_CASE("a run's file that is cut, changed or of another model") {
  const Damaged desk;
  trained({desk.poems(), "-o", desk / "words", "--tokens", "word"});
  const std::string& good = desk.good;
  for (const std::size_t bytes : {0U, 7U, 8U, 9U, 500U, 20000U})
    desk.refused_bytes(good.substr(0, bytes));
  desk.refused_bytes(good.substr(0, good.size() - 1));
  desk.refused_bytes(good + "x");
  desk.refused_bytes("hello, I am a text\n");
  for (std::size_t at = good.size() - 1; at > 8000; at -= good.size() / 8) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK_THAT(desk.refused_bytes(changed),
               ContainsSubstring("it is damaged: its checksum does not match"));
  }
  CHECK(
      desk.refused_bytes(tests::with_metadata(good, "format", "pt")) ==
      "'~/run/run.safetensors': the checkpoint must be written by fledge train | restore the file, "
      "or begin a new run");
  CHECK_THAT(desk.refused_bytes(tests::with_metadata(text_of(desk / "words/run.safetensors"),
                                                     "settings", noted_in(desk.run, "settings"))),
             ContainsSubstring("'wte.weight' must have shape (22, 16): the file has (14, 16)"));
  fs::remove(desk.path);
  fs::create_directory(desk.path);
  CHECK(
      desk.resuming() ==
      "cannot read '~/run/run.safetensors': it is a folder | restore the file, or begin a new run");
  fs::remove(desk.path);
  CHECK(
      desk.resuming() ==
      "there is no run in '~/run': it has no run.safetensors | begin one: fledge train FILE -o DIR");
  write_text(desk.path, good);
  trained({"--resume", desk.run, "--steps", "30"});
}

TEST_CASE("a run whose weights overflow is refused and stays as it is") {
  const Damaged desk;
  const std::size_t data = desk.good.size() - numbers_in(desk.run).size();
  const fledge::StoredHeader header = fledge::stored_header(desk.good);
  const auto last = tests::find(header, "wte.weight");
  REQUIRE(last != nullptr);
  std::string bytes = desk.good;
  REQUIRE(last->begin >= data);
  for (std::uint64_t at = last->begin; at < last->end; at += 4)
    bytes.replace(static_cast<std::size_t>(at), 4, "\xff\xff\x7f\x7f");  // 3.4e38
  write_text(desk.path, tests::with_metadata(bytes, "", ""));
  const std::string said = desk.resuming();
  CHECK_THAT(said,
             StartsWith("'~/run/run.safetensors': its weights are of a run that diverged: ") &&
                 EndsWith(" | begin a new run in another folder with -o, or here with --force"));
  CHECK_THAT(desk.refused({"eval", desk.run}),
             StartsWith("'~/run/run.safetensors': its scores must be numbers"));
}

TEST_CASE("a folder that was written before a run was one file names the commit that reads it") {
  const Desk desk;
  fs::create_directory(desk / "old");
  for (const char* name : {"config.json", "model.safetensors", "state.safetensors"})
    write_text(desk / ("old/" + std::string(name)), "{}");
  for (const Words& words : {Words{"train", "--resume", desk / "old"},
                             {"eval", desk / "old"},
                             {"plot", desk / "old"},
                             {"page", desk / "old"}})
    CHECK(refusal_of(fledge_says(words), desk.path()) ==
          "3: the run in '~/old' is of an older fledge | commit 44c42e9 of fledge reads it");
}

TEST_CASE("a log that is no regular file, is missing or is short") {
  const Desk desk;
  for (const char* name : {"plain", "run"}) trained({desk.poems(), "-o", desk / name});
  const std::string run = desk / "run", log = run + "/events.jsonl", whole = text_of(log);
  const Words more{"train", "--resume", run, "--steps", "30", "-q"};
  for (const bool is_folder : {true, false}) {
    fs::remove(log);
    is_folder ? fs::create_directory(log) : mkfifo(log.c_str(), 0600) == 0;
    for (const Words& words : {more, {"plot", run}, {"page", run}})
      CHECK_THAT(refusal_of(fledge_says(words), desk.path()),
                 StartsWith("3: cannot read '~/run/events.jsonl': it is "));
  }
  fs::remove(log);
  CHECK(refusal_of(fledge_says({"plot", run}), desk.path()) ==
        "3: there is no loss in '~/run': its events.jsonl has no step of the run | name the folder "
        "of a run: fledge train FILE -o DIR");
  // The run goes on all the same, to the same numbers.
  write_text(log, whole.substr(0, whole.find("\"step\":9")));  // half a line
  const Result result = fledge_says(more);
  CHECK(result.status == 0);
  CHECK_THAT(result.err, ContainsSubstring(
                             "events.jsonl' lacks events of the run, and goes on without them\n"));
  CHECK(json_lines(text_of(log)).back()["type"].string() == "end");
  trained({"--resume", desk / "plain", "--steps", "30"});
  CHECK((numbers_in(run) == numbers_in(desk / "plain")));
  const std::string plain = log_of(desk / "plain");
  CHECK(log_of(run).ends_with(plain.substr(plain.find("\"step\":21"))));
}

TEST_CASE("fledge train: what is said on a closed stream does not end up in the run's files") {
  const Desk desk;
  std::string line = "\"$0\" train " + desk.poems() + " -o " + (desk / "run");
  for (const std::string& word : tiny) line += " " + word;
  trained({desk.poems(), "-o", desk / "open"});
  const Result closed = in_shell(line + " --json 2>&- >&-");
  CHECK(closed.status == 1);
  CHECK((files_in(desk / "run") == files_in(desk / "open")));
}

TEST_CASE("fledge train: a full disk is status 1 in two lines that say what to do") {
  const Desk desk;
  const auto limited = [&](const std::string& blocks, const Words& words) {
    std::string line = "ulimit -f " + blocks + "; \"$0\" train -q";
    for (const std::string& word : words) line += " " + word;
    const Result result = in_shell(line);
    INFO(result.err);
    CHECK(result.status == 1);
    CHECK_THAT(result.err, ContainsSubstring(": file too large\n"));
    CHECK(lines_of(result.err).size() == 2);
    return result.err;
  };
  const Words begin = Words{desk.poems(), "-o", desk / "run"} + tiny;
  limited("1", begin);
  CHECK_FALSE(fs::exists(desk / "run"));
  trained({desk.poems(), "-o", desk / "run"});
  const auto before = files_in(desk / "run");
  limited("4", begin + Words{"--force"});
  CHECK((files_in(desk / "run") == before));
  CHECK_THAT(limited("20", {"--steps", "30", "--resume", desk / "run"}),
             ContainsSubstring("make room on the disk; then "));
  CHECK(files_in(desk / "run").at("run.safetensors") == before.at("run.safetensors"));
  trained({"--resume", desk / "run", "--steps", "30"});
}
