// A copy of the sources in which bugs are planted, one at a time, and the programs that run there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bugs.h"
#include "verdict.h"

namespace planted {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

/// The whole file. Throws std::runtime_error when it cannot be read.
std::string contents(const fs::path& path);

/// Runs argv[0] (found along PATH) to its end; what it prints goes to `log`. When it has computed for
/// `seconds` or waited for ten times as many (0: no limit) it is killed, in the latter case with the
/// programs that it started, also when this program is gone by then.
Ending run(const Command& argv, const fs::path& log, unsigned seconds = 0);

class Copy {
 public:
  /// Makes `folder`/source equal to what is built of `sources`. Files that are equal already keep their
  /// times, so that a second run compiles little. Throws std::runtime_error unless the `find` of each
  /// bug stands in its file exactly once.
  Copy(const fs::path& sources, fs::path folder, const std::vector<Bug>& bugs);

  /// Copies `other` with all that it has built. `folder` must have a name as long as that of `other`,
  /// because files of all kinds contain it.
  Copy(const Copy& other, fs::path folder);

  fs::path source() const { return folder_ / "source"; }
  fs::path build() const { return folder_ / "build"; }

  /// Both run cmake and say whether it succeeded.
  bool configure(const char* tests, const fs::path& log) const;
  bool compile(const Command& targets, unsigned jobs, const fs::path& log) const;

  /// Takes out the bug that is in and puts this one in.
  void plant(const Bug& bug);
  /// The bug that is in; one without a name when there is none.
  const Bug& planted() const { return planted_; }

 private:
  void write(const Bug& bug, const std::string& text) const;

  fs::path folder_;
  Bug planted_;
  std::string original_;  // of the file that the planted bug changes
};

}  // namespace planted
