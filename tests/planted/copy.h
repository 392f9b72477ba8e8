// A copy of the sources in which bugs are planted, one at a time, and the programs that run there.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bugs.h"

namespace planted {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

/// The whole file. Throws std::runtime_error when it cannot be read.
inline std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  if (!(std::ofstream(path, std::ios::binary) << text).flush())
    throw std::runtime_error("cannot write " + path.string());
}

/// Runs argv[0] (found along PATH) to its end; what it prints goes to `log`. When it has computed
/// for `seconds` or waited for ten times as many (0: no limit) it is killed, in the latter case
/// with the programs that it started, also when this program is gone by then.
inline Ending run(const Command& argv, const fs::path& log, unsigned seconds = 0) {
  // A soft limit sends SIGXCPU. A bug that never frees must not take the machine: 4 GB.
  std::string line = "exec";
  if (seconds > 0)
    line = "ulimit -S -c 0; ulimit -S -v 4194304; ulimit -S -t " + std::to_string(seconds) +
           "; exec timeout -k 10 -s ALRM " + std::to_string(10 * seconds);
  for (const std::string& word : argv) line += " '" + word + "'";
  write_file(log, "");
  line += " >'" + log.string() + "' 2>&1 </dev/null";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error("cannot run " + argv[0]);
  if (WIFSIGNALED(status)) return {-1, WTERMSIG(status) == SIGXCPU};
  return {WEXITSTATUS(status), seconds > 0 && WEXITSTATUS(status) == 124};  // of timeout
}

class Copy {
 public:
  /// Makes `folder`/source equal to what is built of `sources`. Files that are equal already keep
  /// their times, so that a second run compiles little. Throws std::runtime_error unless the `find`
  /// of each bug stands in its file exactly once.
  Copy(const fs::path& sources, fs::path folder, const std::vector<Bug>& bugs)
      : folder_(std::move(folder)) {
    std::vector<fs::path> gone;
    for (const char* part : {"engine", "nn", "examples", "tests", ".cmake"}) {
      for (const auto& entry : fs::recursive_directory_iterator(sources / part))
        if (entry.is_regular_file()) refresh(sources, entry.path().lexically_relative(sources));
      for (const auto& entry : fs::recursive_directory_iterator(source() / part))
        if (!fs::exists(sources / entry.path().lexically_relative(source())))
          gone.push_back(entry.path());
    }
    for (const fs::path& path : gone) fs::remove_all(path);
    refresh(sources, "CMakeLists.txt");
    std::string faults;
    for (const Bug& bug : bugs)
      if (const auto count = occurrences(contents(source() / bug.file), bug.find); count != 1)
        faults += "\n" + bug.name + ": stands " + std::to_string(count) + " times in " + bug.file +
                  ", not once: " + bug.find;
    if (!faults.empty()) throw std::runtime_error("bugs do not apply" + faults);
  }

  /// Copies `other` with all that it has built. `folder` must have a name as long as that of
  /// `other`, because files of all kinds contain it.
  Copy(const Copy& other, fs::path folder) : folder_(std::move(folder)) {
    const std::string here = folder_.string(), there = other.folder_.string();
    if (here.size() != there.size())
      throw std::logic_error(here + " and " + there + " are not of one length");
    fs::remove_all(folder_);
    // make compares times, and GCC takes two headers for one only when theirs are equal.
    if (run({"cp", "-a", there, here}, folder_.parent_path() / "logs/cp").status != 0)
      throw std::runtime_error("cannot copy " + there + " to " + here);
    bool renamed = false;
    for (const auto& entry : fs::recursive_directory_iterator(build())) {
      // A precompiled header is found by its place; what else it holds is not for us to change.
      const fs::path& path = entry.path();
      if (!entry.is_regular_file() || entry.is_symlink() || path.extension() == ".gch") continue;
      std::string text = contents(path);
      if (text.find(there) == text.npos) continue;
      for (std::size_t at = 0; (at = text.find(there, at)) != text.npos;)
        text.replace(at, there.size(), here);
      const fs::file_time_type time = fs::last_write_time(path);
      write_file(path, text);
      fs::last_write_time(path, time);
      renamed = true;
    }
    if (!renamed) throw std::runtime_error("nothing in " + there + " names that folder");
  }

  fs::path source() const { return folder_ / "source"; }
  fs::path build() const { return folder_ / "build"; }

  /// Both run cmake and say whether it succeeded.
  bool configure(const std::string& tests, const fs::path& log) const {
    return run({"cmake", "-S", source(), "-B", build(), "-DFLEDGE_TESTS=" + tests,
                "-DFLEDGE_EXAMPLES=ON", "-DFLEDGE_NATIVE=OFF", "-DFLEDGE_WERROR=OFF",
                "-DFLEDGE_PRECOMPILE=ON", "-DFLEDGE_UNITY=OFF", "-DCMAKE_BUILD_TYPE=Release",
                "-DCMAKE_CXX_FLAGS_RELEASE=-O1"},
               log)
               .status == 0;
  }
  bool compile(const Command& targets, unsigned jobs, const fs::path& log) const {
    Command words{"cmake", "--build", build(), "--parallel", std::to_string(jobs), "--target"};
    words.insert(words.end(), targets.begin(), targets.end());
    return run(words, log).status == 0;
  }

  /// Takes out the bug that is in and puts this one in.
  void plant(const Bug& bug) {
    const bool is_same_file = planted_.file == bug.file;
    if (!planted_.file.empty() && (!is_same_file || planted_.callers != bug.callers))
      write(planted_, original_);
    if (!is_same_file) original_ = contents(source() / bug.file);
    write(bug, patched(original_, bug.find, bug.replace));
    planted_ = bug;
  }
  /// The bug that is in; one without a name when there is none.
  const Bug& planted() const { return planted_; }

 private:
  void refresh(const fs::path& sources, const fs::path& file) const {
    const std::string text = contents(sources / file);
    const fs::path to = source() / file;
    if (!fs::exists(to) || contents(to) != text) write_file(to, text);
  }
  /// A header with named callers keeps its time, and the callers alone look new to make.
  void write(const Bug& bug, const std::string& text) const {
    const fs::path path = source() / bug.file;
    const fs::file_time_type before = fs::last_write_time(path);
    write_file(path, text);
    if (!bug.callers.empty()) fs::last_write_time(path, before);
    std::istringstream files(bug.callers.empty() ? bug.file : bug.callers);
    for (std::string file; files >> file;)
      fs::last_write_time(source() / file, fs::file_time_type::clock::now());
  }

  fs::path folder_;
  Bug planted_;
  std::string original_;  // of the file that the planted bug changes
};

}  // namespace planted
