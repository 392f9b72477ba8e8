// A folder of files. Locked, it has one writer, which replaces a file whole or not at all.
//
// replace() writes the new bytes into the temporary file ".fledge-new", syncs it, and renames it to
// the name of the file: this one call makes the new bytes valid. A reader that opened the old file
// keeps the old bytes. All files are opened relative to the descriptor of the folder, so the folder
// stays the same one even if its path is renamed.
#pragma once

#include <optional>
#include <vector>

#include "nn/io/files.h"

namespace fledge {

/// Makes a folder and syncs its name to the disk. Returns false if the path exists already. Throws
/// WriteError.
bool make_folder(const std::string& path);

/// Gives a file outside a LockedFolder these bytes, as LockedFolder::replace() does, by way of
/// PATH.fledge-new with the number of this process. A link keeps leading to its file, and the rights
/// of the old file stay. Throws WriteError, for a folder, device or pipe too.
void replace_file(const std::string& path, std::string_view bytes);

/// A folder that is only read.
class Folder {
 public:
  /// Throws FileError.
  Folder(std::string path);

  /// Whether a file of this name exists, of any type.
  bool has(const std::string& name) const;
  /// The sorted names of all files and folders but those that a LockedFolder makes for itself.
  /// Throws FileError.
  std::vector<std::string> names() const;
  /// All bytes of a file; nullopt if it does not exist. Throws FileError. A file of more than
  /// `most` bytes is an error, and is not read.
  std::optional<std::string> read(const std::string& name,
                                  std::uint64_t most = most_file_size) const;
  /// A file that is read in parts; nullopt if it does not exist. Throws FileError.
  std::optional<ByteSource> open(const std::string& name) const;
  /// The first `count` bytes of a file; nullopt if it does not exist. Throws FileError.
  std::optional<std::string> beginning(const std::string& name, std::size_t count) const;

  /// Whether the folder was removed.
  bool is_removed() const;

  const std::string& path() const { return path_; }
  /// The path of a file in the folder, for messages.
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  int descriptor() const { return folder_.get(); }

 protected:
  /// The file; nullopt if it does not exist. If it cannot be opened, the descriptor says so.
  std::optional<Descriptor> find(const std::string& name) const;

  std::string path_;
  Descriptor folder_;
};

/// A folder that is locked for writing. Only one process at a time can have a LockedFolder for the
/// same folder. The lock ends with the process.
class LockedFolder : public Folder {
 public:
  /// Throws FileError; its error_number is EWOULDBLOCK if another process has the lock.
  explicit LockedFolder(std::string path);

  /// Gives a file these bytes. After any crash or power cut it has all of them, or is as it was. A
  /// symbolic link is replaced by a file; a second link to the old file keeps the old bytes. Throws
  /// WriteError; then the file is as it was, unless the folder alone could not be synced.
  void replace(const std::string& name, std::string_view bytes) const;

 private:
  std::optional<Descriptor> lock_file_;
};

}  // namespace fledge
