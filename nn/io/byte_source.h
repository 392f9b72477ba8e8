// Bytes that are read in parts: those of a string or of an open file.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "nn/io/files.h"

namespace fledge {

class ByteSource {
 public:
  /// The bytes of a string, which must outlive the source.
  template <std::convertible_to<std::string_view> Text>
  ByteSource(const Text& text) : bytes_(text), size_(bytes_.size()) {}
  /// The bytes of an open regular file, which has this path. Throws FileError as read_whole() does.
  ByteSource(Descriptor file, std::string path);

  std::uint64_t size() const { return size_; }
  /// Copies the bytes at … at + count − 1. Throws FileError if the file has become shorter. The file
  /// is read, not mapped: a mapped file that becomes shorter ends the program with a signal.
  void read(std::uint64_t at, std::size_t count, char* to) const;
  /// The same as a string.
  std::string read(std::uint64_t at, std::size_t count) const;

 private:
  std::string_view bytes_;
  std::shared_ptr<const Descriptor> file_;  // null: a string
  std::string path_;
  std::uint64_t size_ = 0;
};

}  // namespace fledge
