#include "examples/support/picture_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "examples/support/errors.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"

using namespace support;
namespace fs = std::filesystem;

TEST_CASE("a picture's place: what is there, and what to do") {
  const testing::Folder folder;
  testing::write_file(folder / "notes.txt", "mine");
  fs::create_directory(folder / "shown");
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string a_file = "name a file, such as picture.svg",
                    device = "it is a device or a pipe";
  struct Place {
    std::string path, problem, advice;
  };
  for (const auto& [path, problem, advice] : std::vector<Place>{
           {folder / "none/a.svg", "the folder '" + (folder / "none") + "' does not exist",
            "make it first: mkdir -p " + (folder / "none")},
           {folder / "notes.txt/a.svg", "'" + (folder / "notes.txt") + "' is no folder", a_file},
           {folder / "notes.txt/b/a.svg", "'" + (folder / "notes.txt/b") + "' is no folder",
            a_file},
           {folder / "shown", "it is a folder", a_file},
           {folder / "new/", "it ends with '/', as a folder does", a_file},
           {folder / "notes.txt", "it exists and was not written by fledge",
            "name another file, or remove this one"},
           {pipe, device, a_file},
           {"/dev/null", device, a_file},
           {"/dev/full", device, a_file}}) {
    CAPTURE(path);
    std::string said;
    try {
      require_picture_place(path);
    } catch (const CommandError& error) {
      said = std::string(error.what()) + " | " + error.advice;
      CHECK(error.status == Exit::failed);
    }
    CHECK(said == "the picture '" + path + "' cannot be written: " + problem + " | " + advice);
  }
  // What only trying shows.
  CHECK_THROWS_WITH(require_picture_place(folder / (std::string(300, 'x') + ".svg")),
                    EndsWith("cannot make a file in '" + folder.path() + "': file name too long"));
}
