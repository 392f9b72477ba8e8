// Several files and folders as one text: which files, in which order, and how they are joined.
#include "examples/fledge/train/text_files.h"

#include <filesystem>

#include "examples/support/errors.h"
#include "tests/examples/fledge/training.h"
#include "tests/support/refusal.h"

using namespace testing;
using fledge::train::joined_text;
using fledge::train::name_of_files;
using fledge::train::names_of_files;
using fledge::train::text_files;
using tests::refusal;
namespace fs = std::filesystem;

namespace {

/// A folder of texts, hidden files, a binary file, a run and a folder below.
struct Texts : testing::Folder {
  Texts() {
    for (const char* folder : {"texts", "texts/below", "texts/.git", "texts/run"})
      fs::create_directory(*this / folder);
    write_text(*this / "texts/b.txt", "two");
    write_text(*this / "texts/a.txt", "one\n");
    write_text(*this / "texts/below/c", "three\n");
    write_text(*this / "texts/.hidden", "hidden");
    write_text(*this / "texts/.git/config", "hidden");
    write_text(*this / "texts/picture", std::string("\x89PNG\0", 5));
    for (const char* name : {"config.json", "model.safetensors", "metrics.csv"})
      write_text(*this / (std::string("texts/run/") + name), "{}");
  }
  std::string texts() const { return *this / "texts"; }
};

std::string refused_input(const std::vector<std::string>& names) {
  return refusal<support::InputError>([&] { text_files(names); });
}

}  // namespace

TEST_CASE("text files: of a folder all text files, sorted; no hidden ones, no pictures, no runs") {
  const Texts desk;
  CHECK(text_files({desk.texts()}) ==
        Words{desk / "texts/a.txt", desk / "texts/b.txt", desk / "texts/below/c"});
  CHECK(text_files({desk / "texts/below/c", desk / "texts/a.txt"}) ==
        Words{desk / "texts/a.txt", desk / "texts/below/c"});
  // Each file once.
  CHECK(text_files({desk.texts() + "/", desk / "texts/./a.txt"}).size() == 3);
  CHECK(text_files({"-"}) == Words{"-"});
  CHECK(text_files({}).empty());
  CHECK(text_files({"any/../name"}) == Words{"any/../name"});
}

TEST_CASE("text files: a folder without a text is refused") {
  const Texts desk;
  fs::create_directory(desk / "empty");
  CHECK(refused_input({desk / "empty"}) ==
        "there is no text file in the folder '" + (desk / "empty") + "'");
}

TEST_CASE("text files: the folder of a model is no text, alone or beside texts") {
  const Texts desk;
  const std::string run = desk / "texts/run";
  for (const Words& names : {Words{run}, Words{desk / "texts/a.txt", run}}) {
    CHECK(refusal<support::UsageError>([&] { text_files(names); }) ==
          "'" + run + "' is the folder of a model, not of texts");
  }
  // A run that was killed before it had a model, and a model in shards.
  for (const char* other : {"state.safetensors", "model.safetensors.index.json"}) {
    fs::rename(run + "/model.safetensors", run + "/" + other);
    CHECK_THROWS_AS(text_files({run}), support::UsageError);
    CHECK(text_files({desk.texts()}).size() == 3);
    fs::rename(run + "/" + other, run + "/model.safetensors");
  }
}

TEST_CASE("text files: a line end stands between two texts") {
  const Texts desk;
  const Words files = text_files({desk.texts()});
  CHECK(joined_text(files, true, "") == "one\ntwo\nthree\n");
  write_text(desk / "texts/b.txt", "");
  CHECK(joined_text(files, true, "") == "one\nthree\n");
  write_text(desk / "texts/b.txt", "t\xffo");
  CHECK(joined_text(files, false, "") == "one\nt\xffo\nthree\n");
  CHECK(refusal<support::InputError>([&] { joined_text(files, true, ""); }) ==
        "'" + (desk / "texts/b.txt") + "' is not UTF-8 at byte 1");
}

TEST_CASE("text files: their names in messages") {
  CHECK(name_of_files({}) == "the built-in text");
  CHECK(name_of_files({"-"}) == "standard input");
  CHECK(name_of_files({"a.txt"}) == "'a.txt'");
  CHECK(name_of_files({"a.txt", "b.txt"}) == "'a.txt' and 1 other file");
  CHECK(names_of_files({"a.txt", "b.txt"}) == "2 files: 'a.txt', 'b.txt'");
  CHECK(names_of_files({"a", "b", "c", "d", "e", "f", "g", "h"}) ==
        "8 files: 'a', 'b', 'c', 'd', 'e', 'f' and 2 more");
}

TEST_CASE("fledge train: several files and a folder are one text, which --resume and eval find") {
  const Desk desk;
  fs::create_directory(desk / "more");
  write_text(desk / "more/1.txt", small_text(30));
  write_text(desk / "more/2.txt", small_text(20));
  const Result several = trained({desk.poems(), desk / "more", "-o", desk / "several"});
  CHECK_THAT(several.err, StartsWith("Reading 3 files: "));
  CHECK_THAT(several.err, ContainsSubstring("\nThe 3 files have "));
  write_text(desk / "joined.txt", small_text(30) + small_text(20) + small_text());
  trained({desk / "joined.txt", "-o", desk / "joined"});
  CHECK(
      (text_of(desk / "several/state.safetensors") == text_of(desk / "joined/state.safetensors")));
  // A file that is added later does not belong to the run.
  write_text(desk / "more/3.txt", "another text");
  trained({"--resume", desk / "several", "--steps", "22"});
  CHECK(fledge_says({"eval", desk / "several"}).status == 0);
  fs::rename(desk / "more/2.txt", desk / "moved.txt");
  CHECK(fledge_says({"train", "--resume", desk / "several", "--steps", "24"}).status == 3);
  trained({"--resume", desk / "several", desk.poems(), desk / "more/1.txt", desk / "moved.txt",
           "--steps", "24"});
}

TEST_CASE("fledge train: a run of a folder has the folder's name") {
  const Desk desk;
  fs::create_directory(desk / "verses.v2");
  write_text(desk / "verses.v2/1.txt", small_text(30));
  std::string line = "cd '" + desk.path() + "' && exec \"$0\" train verses.v2 -q";
  for (const std::string& word : tiny) line += " " + word;
  CHECK(in_shell(line).status == 0);
  CHECK(files_in(desk / "verses.v2-run").size() == 8);
}
