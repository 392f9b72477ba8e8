// A folder whose files belong together: all of them are replaced, or none is.
//
// Not here: what the files hold. Key idea: an open folder stays the same folder when its path is
// renamed or given to another one, so every file is reached through the descriptor. New files are
// written into ".fledge-uncommitted", which one rename turns into ".fledge-committed": from that
// moment on they count. Then each is moved to its place. A reader looks into ".fledge-committed"
// first; the next writer moves what a crash left there.
//                                                                                 Next: folder.cpp.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "nn/io/descriptor.h"

namespace fledge {

/// Makes a folder and brings its name to the disk. False when something of this name exists. Throws
/// WriteError.
bool make_folder(const std::string& path);

/// A folder to read from. It changes nothing.
class Folder {
 public:
  /// `names` are the files that belong to it; files of other names are never touched. Throws
  /// FileError.
  Folder(std::string path, std::vector<std::string> names);

  /// Whether there is a file of this name, whatever it is.
  bool has(const std::string& name) const;
  /// All bytes of a file; none when there is no file of this name. Throws FileError, also for a
  /// file of more than `most` bytes, which is not read.
  std::optional<std::string> read(const std::string& name,
                                  std::uint64_t most = std::uint64_t{1} << 40) const;
  /// Up to `count` bytes of its beginning. Throws FileError.
  std::string beginning(const std::string& name, std::size_t count) const;
  /// Whether it holds anything but a file ".lock" and what an earlier writer did not commit.
  bool is_empty() const;

  /// Whether the path still leads to this folder.
  bool is_at_its_path() const;
  /// Whether it was removed.
  bool is_removed() const;
  /// Where it is now, as far as the system says; else its path.
  std::string path_now() const;

  const std::string& path() const { return path_; }
  /// The path of a file in it, for messages.
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  int descriptor() const { return folder_.get(); }

 protected:
  static constexpr const char* uncommitted = ".fledge-uncommitted";  // may be removed at any time
  static constexpr const char* committed = ".fledge-committed";      // counts already
  static constexpr const char* lock_name = ".lock";  // what versions before this one locked

  /// The entries of an open folder but "." and "..", in no order. Throws FileError naming `path`.
  static std::vector<std::string> names_in(int folder, const std::string& path);
  Descriptor open_file(const std::string& name) const;
  bool is_ours(const std::string& name) const;

  std::string path_;
  std::string whole_path_;  // from the root, without links
  std::vector<std::string> names_;
  Descriptor folder_;
};

/// A folder that another process has locked.
struct LockHeld : FileError {
  using FileError::FileError;
};

/// The files that replace() writes: name and bytes.
using NewFiles = std::vector<std::pair<std::string, std::string_view>>;

/// A folder to write to. While it lives no other process has one for the same folder; the lock ends
/// with the process.
class LockedFolder : public Folder {
 public:
  /// Locks it, moves what was committed to its place, and removes what was not. Throws LockHeld
  /// when another process has it, naming the process where the system tells it; else FileError.
  LockedFolder(std::string path, std::vector<std::string> names);

  /// Gives these files these bytes; a symbolic link becomes a file of its own. After any
  /// crash or power cut all of them have the new bytes, or all have the old. Throws
  /// WriteError; what it says tells whether the new bytes count.
  void replace(const NewFiles& files);

 private:
  void lock();
  void write_uncommitted(const NewFiles& files) const;
  std::vector<std::string> own_names_in(int folder, const std::string& path) const;
  void discard_uncommitted() const;
  void move_committed() const;

  Descriptor old_lock_;  // of a file ".lock"
};

}  // namespace fledge
