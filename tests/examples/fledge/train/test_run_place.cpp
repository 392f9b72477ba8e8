// Where a run is saved: the name that it gets from its text, and the folders that are made for it.
#include "examples/fledge/train/run_folder.h"

#include <sys/stat.h>

#include <filesystem>

#include "tests/examples/fledge/training.h"

using namespace testing;
using fledge::train::free_name;
using fledge::train::make_folders;
using fledge::train::remove_folders;
using fledge::train::run_name;
namespace fs = std::filesystem;

namespace {

/// `fledge train` of the tiny model in this folder.
Result trained_in(const Desk& desk, const std::string& arguments) {
  std::string line = "cd '" + desk.path() + "' && exec \"$0\" train " + arguments;
  for (const std::string& word : tiny) line += " " + word;
  return in_shell(line);
}

std::string first_lines(const Result& result) {
  const Words lines = lines_of(result.err);
  return lines.at(0) + "\n" + lines.at(1);
}

}  // namespace

TEST_CASE("run place: the name of a run's folder, from the name of its text") {
  CHECK(run_name("poems.txt") == "poems-run");
  CHECK(run_name("a/b/poems.of.mine.txt") == "poems.of.mine-run");
  CHECK(run_name("./poems") == "poems-run");
  CHECK(run_name("texts/") == "texts-run");
  CHECK(run_name("a/../texts/.") == "texts-run");
  CHECK(run_name("-") == "text-run");
  CHECK(run_name("--force.txt") == "force-run");
  CHECK(run_name(".hidden") == "hidden-run");
  CHECK(run_name("...") == "text-run");
  CHECK(run_name("/") == "text-run");
  CHECK(run_name("a\x1b[31m\nb.txt") == "a_[31m_b-run");
  CHECK(run_name("\xc3\xbc" + std::string(300, 'x')) ==
        "\xc3\xbc" + std::string(198, 'x') + "-run");
  CHECK(run_name(std::string(199, 'x') + "\xc3\xbc.txt") == std::string(199, 'x') + "-run");
}

TEST_CASE("run place: a name that exists gets a number, whatever it names") {
  const testing::Folder desk;
  CHECK(free_name(desk / "run") == desk / "run");
  fs::create_directory(desk / "run");
  write_text(desk / "run-2", "");
  fs::create_symlink(desk / "nowhere", desk / "run-3");
  CHECK(free_name(desk / "run") == desk / "run-4");
}

TEST_CASE("run place: folders above are made, and removed again when one cannot be made") {
  const testing::Folder desk;
  const auto made = make_folders(desk / "a/b/c");
  CHECK(made == Words{desk / "a", desk / "a/b", desk / "a/b/c"});
  CHECK(make_folders(desk / "a/b/c").empty());
  write_text(desk / "a/b/c/text", "kept");
  remove_folders(made);
  CHECK(text_of(desk / "a/b/c/text") == "kept");
  fs::remove(desk / "a/b/c/text");
  remove_folders(made);
  CHECK(fs::is_empty(desk.path()));
  CHECK_THROWS(make_folders(desk / ("a/b/" + std::string(300, 'x'))));
  CHECK(fs::is_empty(desk.path()));
}

TEST_CASE("fledge train: without -o a run goes to a new folder that is named after its text") {
  const Desk desk;
  const Result first = trained_in(desk, "poems.txt");
  CHECK(first.status == 0);
  CHECK(first_lines(first) == "Reading 'poems.txt'.\nThis run is saved in poems-run.");
  CHECK(files_in(desk / "poems-run").size() == 2);
  CHECK_THAT(trained_in(desk, desk.poems()).err, ContainsSubstring("poems-run-2."));
  CHECK((files_in(desk / "poems-run-2") == files_in(desk / "poems-run")));
  CHECK(first_lines(trained_in(desk, "- <poems.txt")) ==
        "Reading standard input.\nThis run is saved in text-run.");
  CHECK(fs::exists(desk / "text-run/run.safetensors"));
  // --force replaces the run in the folder of this name.
  const Result forced = trained_in(desk, "poems.txt --force --seed 2");
  CHECK(first_lines(forced) == "Reading 'poems.txt'.\nThis run is saved in poems-run.");
  CHECK((files_in(desk / "poems-run") != files_in(desk / "poems-run-2")));
  // A text that cannot be used leaves no folder.
  write_text(desk / "short.txt", "abc");
  CHECK(trained_in(desk, "short.txt").status == 3);
  CHECK_FALSE(fs::exists(desk / "short-run"));
}

TEST_CASE(
    "fledge train: a run that yields to another's folder looks at the place of its page again") {
  const Desk desk;
  std::string line = "cd '" + desk.path() + "'; mkfifo text; \"$0\" train - --page text-run-2";
  for (const std::string& word : tiny) line += " " + word;
  // The other run begins after this one has chosen the name text-run.
  const Result late =
      in_shell(line +
               " <text 2>err & exec 3>text; until grep -q Reading err; do sleep 0.05; "
               "done; mkdir text-run; cat poems.txt >&3; exec 3>&-; wait $!; "
               "status=$?; cat err >&2; exit $status");
  CHECK(late.status == 1);
  CHECK_THAT(late.err, ContainsSubstring("Another run has begun in text-run.\n"));
  CHECK_THAT(late.err, EndsWith("name another file, such as --page page.html\n"));
  CHECK_FALSE(fs::exists(desk / "text-run-2"));
}

TEST_CASE("fledge train: --no-save and the built-in text write no files") {
  const Desk desk;
  CHECK(first_lines(trained_in(desk, "poems.txt --no-save")) ==
        "Reading 'poems.txt'.\nNothing is saved (--no-save).");
  CHECK(first_lines(trained_in(desk, "")) ==
        "Reading the built-in text.\nNothing is saved: add -o DIR.");
  CHECK(files_in(desk.path()).size() == 1);
  CHECK(std::distance(fs::directory_iterator(desk.path()), {}) == 1);
}

TEST_CASE("fledge train: runs of one text that begin together have a folder each") {
  const Desk desk;
  const int runs = 6;
  std::string line = "cd '" + desk.path() + "'; for i in 1 2 3 4 5 6; do \"$0\" train poems.txt -q";
  for (const std::string& word : tiny) line += " " + word;
  CHECK(in_shell(line + " & done; wait").status == 0);
  const Files one = files_in(desk / "poems-run");
  for (int run = 2; run <= runs; ++run)
    CHECK((files_in(desk / ("poems-run-" + std::to_string(run))) == one));
  CHECK_FALSE(fs::exists(desk / ("poems-run-" + std::to_string(runs + 1))));
}

TEST_CASE("fledge train -o: a folder in folders that do not exist yet") {
  const Desk desk;
  CHECK(trained_in(desk, "poems.txt -o a/b/run").status == 0);
  CHECK(files_in(desk / "a/b/run").size() == 2);
  CHECK(trained_in(desk, "--resume a/b/run poems.txt --no-save").status == 2);
}

TEST_CASE("fledge train: Ctrl-C without -o loses nothing") {
  const Desk desk;
  std::string line = "cd '" + desk.path() + "'; \"$0\" train poems.txt --json --accumulate 1000";
  for (const std::string& word : tiny) line += " " + word;
  line += " >events 2>errors & run=$!; until grep -q '\"step\":3,' events; do sleep 0.1; done";
  const Result result = in_shell(line + "; kill -TERM $run; wait $run");
  CHECK(result.status == 143);
  CHECK_THAT(text_of(desk / "errors"), EndsWith("fledge train --resume poems-run\n"));
  CHECK(fledge_says({"train", "--resume", desk / "poems-run", "-q"}).status == 0);
}
