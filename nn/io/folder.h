// A folder whose files belong together: replace() replaces all of them or none.
//
// New files are written into ".fledge-uncommitted". One rename() turns it into ".fledge-committed":
// this is the moment from which the new files are valid. Then each file is moved to its place. A
// reader looks into ".fledge-committed" first. After a crash the next writer moves the files that
// are still in it. All files are opened relative to the descriptor of the folder, so the folder
// stays the same one even if its path is renamed.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "nn/io/byte_source.h"

namespace fledge {

/// Makes a folder and syncs its name to the disk. Returns false if the path exists already. Throws
/// WriteError.
bool make_folder(const std::string& path);

/// Whether a folder is empty but for what an interrupted LockedFolder left in it. The files of
/// ".fledge-committed" are valid: they, and the `names` beside them, count as left behind only if
/// `names` are given, for a writer of these files that writes them again. Throws FileError.
bool has_only_leftovers(const std::string& folder, const std::vector<std::string>& names = {});

/// A folder that is only read.
class Folder {
 public:
  /// `names` are the files that belong together. Files with other names are never touched. Throws
  /// FileError.
  Folder(std::string path, std::vector<std::string> names = {});

  /// Whether a file of this name exists, of any type.
  bool has(const std::string& name) const;
  /// All bytes of a file; nullopt if it does not exist. Throws FileError. A file of more than
  /// `most` bytes is an error, and is not read.
  std::optional<std::string> read(const std::string& name,
                                  std::uint64_t most = most_file_size) const;
  /// A file that is read in parts; nullopt if it does not exist. Throws FileError.
  std::optional<ByteSource> open(const std::string& name) const;
  /// The first `count` bytes of a file; nullopt if it does not exist. Throws FileError.
  std::optional<std::string> beginning(const std::string& name, std::size_t count) const;

  /// Whether the path still leads to this folder.
  bool is_at_its_path() const;
  /// Whether the folder was removed.
  bool is_removed() const;
  /// The path of the folder now, if the system knows it; else the path that it was opened with.
  std::string path_now() const;

  const std::string& path() const { return path_; }
  /// The path of a file in the folder, for messages.
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  int descriptor() const { return folder_.get(); }

 protected:
  /// The file; nullopt if it does not exist. If it cannot be opened, the descriptor says so.
  std::optional<Descriptor> find(const std::string& name) const;

  std::string path_;
  std::string whole_path_;  // from the root, without links
  std::vector<std::string> names_;
  Descriptor folder_;
};

/// The files that replace() writes: name and bytes.
using NewFiles = std::vector<std::pair<std::string, std::string_view>>;

/// A folder that is locked for writing. Only one process at a time can have a LockedFolder for the
/// same folder. The lock ends with the process.
class LockedFolder : public Folder {
 public:
  /// Locks the folder. If an earlier writer crashed, moves its committed files to their places and
  /// removes its uncommitted ones. Throws FileError; its error_number is EWOULDBLOCK if another
  /// process has the lock.
  LockedFolder(std::string path, std::vector<std::string> names);

  /// Writes these files. A symbolic link is replaced by a file. After any crash or power cut either
  /// all files have the new bytes or all have the old ones. Throws WriteError; the message says
  /// whether the new bytes are saved.
  void replace(const NewFiles& files);

 private:
  enum class Contents { move, discard };

  void write_uncommitted(const NewFiles& files) const;
  void remove_folder(const char* name, Contents contents) const;

  std::optional<Descriptor> lock_file_;
};

}  // namespace fledge
