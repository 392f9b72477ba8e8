#include "copy.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "patch.h"

namespace planted {

namespace {

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void refresh_file(const fs::path& from, const fs::path& to) {
  const std::string text = contents(from);
  if (!fs::exists(to) || contents(to) != text) write_file(to, text);
}

/// `to` becomes `from`: what is not there any more goes.
void refresh_folder(const fs::path& from, const fs::path& to) {
  for (const auto& entry : fs::recursive_directory_iterator(from))
    if (entry.is_regular_file())
      refresh_file(entry.path(), to / entry.path().lexically_relative(from));
  std::vector<fs::path> gone;
  for (const auto& entry : fs::recursive_directory_iterator(to))
    if (!fs::exists(from / entry.path().lexically_relative(to))) gone.push_back(entry.path());
  for (const fs::path& path : gone) fs::remove_all(path);
}

}  // namespace

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << file.rdbuf()) && fs::file_size(path) > 0)
    throw std::runtime_error("cannot read " + path.string());
  return text.str();
}

Ending run(const Command& argv, const fs::path& log, unsigned seconds) {
  // A soft limit sends SIGXCPU. A bug that never frees must not take the machine: 4 GB.
  const std::string limits = "ulimit -S -c 0; ulimit -S -v 4194304; ulimit -S -t " +
                             std::to_string(seconds) + "; exec timeout -k 10 -s ALRM " +
                             std::to_string(10 * seconds) + " ";
  Command words{"sh", "-c", (seconds > 0 ? limits : "exec ") + R"("$@" >"$0" 2>&1 </dev/null)",
                log};
  words.insert(words.end(), argv.begin(), argv.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  write_file(log, "");

  const pid_t child = fork();
  if (child == 0) {
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  if (WIFSIGNALED(status)) return {-1, WTERMSIG(status) == SIGXCPU};
  return {WEXITSTATUS(status), seconds > 0 && WEXITSTATUS(status) == 124};  // of timeout
}

Copy::Copy(const fs::path& sources, fs::path folder, const std::vector<Bug>& bugs)
    : folder_(std::move(folder)) {
  for (const char* part : {"engine", "nn", "examples", "tests", ".cmake"})
    refresh_folder(sources / part, source() / part);
  refresh_file(sources / "CMakeLists.txt", source() / "CMakeLists.txt");
  std::string faults;
  for (const Bug& bug : bugs) {
    const std::size_t count = occurrences(contents(source() / bug.file), bug.find);
    if (count != 1)
      faults += "\n" + bug.name + ": stands " + std::to_string(count) + " times in " + bug.file +
                ", not once: " + bug.find;
  }
  if (!faults.empty()) throw std::runtime_error("bugs do not apply" + faults);
}

Copy::Copy(const Copy& other, fs::path folder) : folder_(std::move(folder)) {
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

bool Copy::configure(const char* tests, const fs::path& log) const {
  return run({"cmake", "-S", source(), "-B", build(), std::string("-DFLEDGE_TESTS=") + tests,
              "-DFLEDGE_EXAMPLES=ON", "-DFLEDGE_NATIVE=OFF", "-DFLEDGE_WERROR=OFF",
              "-DFLEDGE_PRECOMPILE=ON", "-DFLEDGE_UNITY=OFF", "-DCMAKE_BUILD_TYPE=Release",
              "-DCMAKE_CXX_FLAGS_RELEASE=-O1"},
             log)
             .status == 0;
}

bool Copy::compile(const Command& targets, unsigned jobs, const fs::path& log) const {
  Command words{"cmake", "--build", build(), "--parallel", std::to_string(jobs), "--target"};
  words.insert(words.end(), targets.begin(), targets.end());
  return run(words, log).status == 0;
}

// A header with named callers keeps its time, and the callers alone look new to make.
void Copy::write(const Bug& bug, const std::string& text) const {
  const fs::path path = source() / bug.file;
  const fs::file_time_type before = fs::last_write_time(path);
  write_file(path, text);
  if (!bug.callers.empty()) fs::last_write_time(path, before);
  std::istringstream files(bug.callers.empty() ? bug.file : bug.callers);
  for (std::string file; files >> file;)
    fs::last_write_time(source() / file, fs::file_time_type::clock::now());
}

void Copy::plant(const Bug& bug) {
  const bool is_same_file = planted_.file == bug.file;
  if (!planted_.file.empty() && (!is_same_file || planted_.callers != bug.callers))
    write(planted_, original_);
  if (!is_same_file) original_ = contents(source() / bug.file);
  write(bug, patched(original_, bug.find, bug.replace));
  planted_ = bug;
}

}  // namespace planted
