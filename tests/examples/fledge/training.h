// Small texts, tiny models and their folders.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>

#include "tests/examples/fledge/command.h"
#include "tests/support/sanitized.h"
#include "tests/support/stored_file.h"

namespace testing {

namespace fs = std::filesystem;

/// So small a model, and so few steps, that a run takes some hundredths of a second.
inline const std::string tiny_model = "--layers 1 --width 16 --heads 1 --context 16 --batch 2 ";
inline const Words tiny = words(tiny_model + "--steps 20 --recipe gpt2 --optimizer adamw");

/// Sentences of thirteen words, drawn from a seed.
inline std::string small_text(int lines = 60) {
  static constexpr std::array words{"the",  "small", "birds", "sometimes", "walk", "over", "blue",
                                    "lake", "and",   "often", "fly",       "at",   "good"};
  std::mt19937 draw(3);
  std::string text;
  for (int line = 0; line < lines; ++line)
    for (int word = 0; word < 7; ++word)
      text += std::string(words[draw() % words.size()]) + (word < 6 ? " " : "\n");
  return text;
}

/// The text with the first `from` in it replaced.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("no " + from);
  return text.replace(at, from.size(), to);
}

/// The bytes of all files below a folder, by path; of what is no regular file its kind.
using Files = std::map<std::string, std::string>;
inline Files files_in(const std::string& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    files[entry.path().lexically_relative(folder).string()] =
        entry.is_regular_file() ? text_of(entry.path().string()) : "no regular file";
  return files;
}

/// A command that must succeed.
inline Result done(const Words& arguments) {
  Result result = fledge_says(arguments);
  CAPTURE(arguments, result.err);
  CHECK(result.status == 0);
  return result;
}
/// A run of the tiny model, or one that goes on.
inline Result trained(const Words& arguments) {
  return done(Words{"train"} + arguments + (arguments[0] == "--resume" ? Words{} : tiny));
}

/// A folder with the text "poems.txt".
struct Desk : Folder {
  Desk() { write_file(poems(), small_text()); }
  std::string poems() const { return *this / "poems.txt"; }
  /// A run of the tiny model in a folder of this name.
  std::string run(const std::string& name, const Words& how = {}) const {
    trained(Words{poems(), "-o", *this / name} + how);
    return *this / name;
  }
};

/// The tiny model in a run that its reader paces: the pipe of `Running` holds some forty rows of
/// --json, so that the run waits in its first hundred steps until they are read.
inline const Words paced = words(tiny_model + "--steps 150 --json");

/// The program while it runs, its standard output in a pipe as small as can be.
class Running {
 public:
  explicit Running(const Words& arguments, const std::string& errors = "/dev/null") {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
#ifdef F_SETPIPE_SZ
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
#endif
    Words words = with_program(arguments);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    child_ = fork();
    if (child_ < 0) throw std::runtime_error("fork");
    if (child_ == 0) {
      // The parent may ignore these signals: a shell with jobs, nohup, Python. The run would too.
      for (const int number : {SIGINT, SIGHUP, SIGPIPE}) std::signal(number, SIG_DFL);
      dup2(ends[1], STDOUT_FILENO);
      if (std::freopen(errors.c_str(), "w", stderr) == nullptr) _exit(126);
      close(ends[0]);
      close(ends[1]);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    out_ = ends[0];
  }
  ~Running() {
    if (child_ > 0) end(SIGKILL);
    close(out_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  /// Reads until the output has this text; false when it ends without.
  bool says(const std::string& text) {
    char c = 0;
    while (said_.find(text) == std::string::npos) {
      if (read(out_, &c, 1) != 1) return false;
      said_ += c;
    }
    return true;
  }
  void signal(int number) const { kill(child_, number); }
  /// Reads what is left, after this signal. The exit status, or 128 and the signal that ended it.
  int end(int number = 0) {
    int status = 0;
    if (number != 0) signal(number);
    for (std::array<char, 4096> rest; read(out_, rest.data(), rest.size()) > 0;) continue;
    rusage used{};
    wait4(child_, &status, 0, &used);
    child_ = 0;
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    processor_seconds_ = seconds(used.ru_utime) + seconds(used.ru_stime);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  /// What it has used of the processors, all threads together; of one that has ended, in all.
  double processor_seconds() const {
    clockid_t clock{};
    timespec now{};
    if (child_ == 0 || clock_getcpuclockid(child_, &clock) != 0) return processor_seconds_;
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

 private:
  pid_t child_ = 0;
  double processor_seconds_ = 0;
  int out_ = -1;
  std::string said_;
};

}  // namespace testing
