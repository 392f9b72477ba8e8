#include "examples/fledge/picture_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "examples/support/errors.h"
#include "examples/support/text.h"
#include "nn/io/files.h"

namespace fledge {

namespace {

// An empty file may be replaced: a shell makes one for mktemp.
void require_picture(const std::string& path) {
  const Descriptor old(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
  if (!old.exists()) return;
  const std::string beginning = read_beginning(old, path, 4);
  if (!beginning.empty() && beginning != "<svg")
    throw support::CommandError(
        support::Exit::failed,
        "--svg " + support::quoted(path) + " exists and was not written by fledge",
        "name another file, or remove this one");
}

}  // namespace

void write_picture(const std::string& path, const support::Svg& picture) {
  require_picture(path);
  const std::string beside = path + ".part";
  const auto failed = [&] { throw WriteError("write", path, errno); };
  {
    const Descriptor file(AT_FDCWD, beside, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file.exists() || !write_all(file, picture.file()) || !sync_file(file)) failed();
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) failed();
  const std::string folder = std::filesystem::path(path).parent_path().string();
  sync_folder(Descriptor(AT_FDCWD, folder.empty() ? "." : folder, O_RDONLY));
}

}  // namespace fledge
