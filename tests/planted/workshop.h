// A copy of the sources in which bugs are planted, one at a time.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bug.h"

namespace planted {

/// The whole file. Throws std::runtime_error when it cannot be read.
std::string contents(const std::filesystem::path& path);

/// Every file that the bugs change, as it was when the program began. The sources may be edited while
/// bugs are planted.
std::map<std::string, std::string> originals_of(const std::filesystem::path& sources,
                                                const std::vector<Bug>& bugs);

/// What is wrong with the entries, a line each; "" when every one applies.
std::string entries_that_do_not_apply(const std::vector<Bug>& bugs,
                                      const std::map<std::string, std::string>& originals);

class Workshop {
 public:
  using Path = std::filesystem::path;

  /// Makes `folder`/source equal to what is built of `sources`; files that are equal already keep
  /// their times, so that a second run compiles little.
  Workshop(const Path& sources, const Path& folder,
           const std::map<std::string, std::string>& originals);

  Path source() const { return folder_ / "source"; }
  Path build() const { return folder_ / "build"; }

  /// Takes over what another workshop has built of the same sources. Its folder must have a name as
  /// long as this one's: files of all kinds name it.
  void take_over_build(const Workshop& other) const;

  /// Takes out the bug that is in and puts this one in.
  void plant(const Bug& bug);
  /// The file that is not as it was; "" when all are.
  const std::string& changed() const { return changed_; }

 private:
  void write(const Bug& bug, const std::string& text) const;

  Path folder_;
  const std::map<std::string, std::string>& originals_;
  std::string changed_;
  Bug planted_{};
};

}  // namespace planted
