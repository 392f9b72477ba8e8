// Several files and folders as one text: which files, in which order, and how they are joined.
#include "examples/fledge/train/source.h"

#include <filesystem>

#include "examples/support/errors.h"
#include "nn/io/utf8.h"
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
    for (const char* name : {"config.json", "model.safetensors", "notes.txt"})
      write_text(*this / (std::string("texts/run/") + name), "{}");
  }
  std::string texts() const { return *this / "texts"; }
};

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

TEST_CASE("text files: the folder of a model is no text, alone or beside texts") {
  const Texts desk;
  const std::string run = desk / "texts/run";
  for (const Words& names : {Words{run}, Words{desk / "texts/a.txt", run}}) {
    CHECK(refusal<support::UsageError>([&] { text_files(names); }) ==
          "'" + run + "' is the folder of a model, not of texts");
  }
  // A run, too.
  fs::rename(run + "/model.safetensors", run + "/run.safetensors");
  CHECK_THROWS_AS(text_files({run}), support::UsageError);
  CHECK(text_files({desk.texts()}).size() == 3);
}

TEST_CASE("text files: a line end stands between two texts") {
  const Texts desk;
  const Words files = text_files({desk.texts()});
  CHECK(joined_text(files, {}).text == "one\ntwo\nthree\n");
  write_text(desk / "texts/b.txt", "");
  CHECK(joined_text(files, {}).text == "one\nthree\n");
  write_text(desk / "texts/b.txt", "t\xffo");
  CHECK(joined_text(files, {.needs_utf8 = false}).text == "one\nt\xffo\nthree\n");
  CHECK(refusal<support::InputError>([&] { joined_text(files, {}); }) ==
        "'" + (desk / "texts/b.txt") + "' is not UTF-8 at byte 1");
}

TEST_CASE("text files: byte order marks and the \\r of Windows are left out, and counted") {
  const testing::Folder desk;
  struct Case {
    std::string first, second, text, kept;  // kept: with --keep-cr
    std::int64_t marks, returns;
  };
  const std::string mark = "\xEF\xBB\xBF";
  for (const Case& c : std::vector<Case>{
           {"a\r\n\r\nb", "c\r\n", "a\n\nb\nc\n", "a\r\n\r\nb\nc\r\n", 0, 3},
           {mark + "a", mark + "b", "a\nb", "a\nb", 2, 0},
           {mark, mark, "", "", 2, 0},
           {mark + mark + "a", "b\r", mark + "a\nb\n", mark + "a\nb\r", 1, 0},  // only the first
           {"a\rb\r\r\n\n\r", "\r\nc", "a\rb\r\n\n\r\n\nc", "a\rb\r\r\n\n\r\n\r\nc", 0, 2},
           {"a", "b", "a\nb", "a\nb", 0, 0}}) {
    const Words files{desk / "1.txt", desk / "2.txt"};
    write_text(files[0], c.first);
    write_text(files[1], c.second);
    const auto read = joined_text(files, {}), kept = joined_text(files, {.keep_cr = true});
    CHECK(read.text == c.text);
    CHECK(kept.text == c.kept);
    CHECK(read.marks == c.marks);
    CHECK(read.returns == c.returns);
    CHECK(kept.marks == c.marks);
    CHECK(kept.returns == 0);
    CHECK(read.report().empty() == (c.marks + c.returns == 0));
  }
}

TEST_CASE("text files: UTF-16 and UTF-32 are named, with the command that converts them") {
  const testing::Folder desk;
  const std::string file = desk / "u.txt";
  const std::string birds = "birds walk\n", chinese = "鳥は歩く";
  // Each code unit as two or four bytes; these texts have no surrogates.
  const auto encoded = [](const std::string& text, int width, bool is_big) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size();) {
      const fledge::CodePoint point = fledge::code_point_at(text, at);
      for (int i = 0; i < width; ++i)
        bytes += static_cast<char>(point.value >> (8 * (is_big ? width - 1 - i : i)) & 0xFF);
      at += point.bytes;
    }
    return bytes;
  };
  const auto refused = [&](const std::string& bytes) {
    write_text(file, bytes);
    return refusal<support::InputError>([&] { joined_text({file}, {}); });
  };
  for (const bool is_big : {false, true}) {
    for (const std::string& text : {birds, chinese}) {
      CHECK(refused(encoded("\uFEFF" + text, 2, is_big)) == "'" + file + "' is UTF-16, not UTF-8");
      CHECK(refused(encoded("\uFEFF" + text, 4, is_big)) == "'" + file + "' is UTF-32, not UTF-8");
    }
    CHECK(refused(encoded(birds, 2, is_big)) ==
          "'" + file + "' is UTF-16" + (is_big ? "BE" : "LE") + ", not UTF-8");
  }
  // Bytes are taken as they are.
  const std::string bytes = encoded("\uFEFF" + birds, 2, false);
  write_text(file, bytes);
  CHECK(joined_text({file}, {.needs_utf8 = false}).text == bytes);
  // A zero here and there is a character of UTF-8.
  write_text(file, std::string("a\0bc\0d", 6));
  CHECK(joined_text({file}, {}).text.size() == 6);
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
