#include "nn/io/byte_source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fledge {

ByteSource::ByteSource(Descriptor file, std::string path)
    : file_(std::make_shared<const Descriptor>(std::move(file))),
      path_(std::move(path)),
      size_(size_of_file(*file_, path_)) {}

void ByteSource::read(std::uint64_t at, std::size_t count, char* to) const {
  require<ValueError>(at <= size_ && count <= size_ - at, "ByteSource", "has ", size_,
                      " bytes: asked for ", count, " from ", at, " on");
  if (file_ == nullptr) {
    std::memcpy(to, bytes_.data() + at, count);
    return;
  }
  for (std::size_t done = 0; done < count;) {
    const ssize_t got =
        ::pread(file_->get(), to + done, count - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError("read", path_, errno);
    if (got == 0) throw FileError("read", path_, "it has become shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
}

std::string ByteSource::read(std::uint64_t at, std::size_t count) const {
  std::string bytes(count, '\0');
  read(at, count, bytes.data());
  return bytes;
}

}  // namespace fledge
