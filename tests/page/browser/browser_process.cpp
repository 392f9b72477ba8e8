#include "tests/page/browser/browser_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

extern char** environ;  // NOLINT: POSIX leaves it to the program, glibc declares it as well

namespace testing {

namespace {

/// A pipe whose ends have numbers from 10 up: 3 and 4 are the browser's.
struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("chromium: pipe failed");
    reader = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    writer = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[0]);
    close(ends[1]);
  }
  int reader, writer;
};

}  // namespace

double clock_seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

BrowserProcess::BrowserProcess(const std::string& program, const std::string& profile_folder,
                               std::string log_path)
    : log_path_(std::move(log_path)) {
  std::signal(SIGPIPE, SIG_IGN);  // a browser that has ended is an error of write()
  const Pipe to_browser, from_browser;
  commands_ = to_browser.writer;
  answers_ = from_browser.reader;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_browser.reader, 3);
  posix_spawn_file_actions_adddup2(&actions, from_browser.writer, 4);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_path_.c_str(), O_WRONLY | O_CREAT,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;  // a process group of its own, which can be ended as a whole
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> words{program,
                                 "--headless=new",
                                 "--no-sandbox",
                                 "--disable-gpu",
                                 "--disable-dev-shm-usage",
                                 "--no-first-run",
                                 "--disable-background-networking",
                                 "--disable-component-update",
                                 "--disable-extensions",
                                 "--hide-scrollbars",
                                 "--remote-debugging-pipe",
                                 "--user-data-dir=" + profile_folder,
                                 "about:blank"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int error =
      posix_spawnp(&process_, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(to_browser.reader);
  close(from_browser.writer);
  if (error != 0) {
    close(commands_);
    close(answers_);
    throw std::runtime_error("chromium: cannot start " + program);
  }
}

BrowserProcess::~BrowserProcess() {
  close(commands_);
  close(answers_);
  int ended = 0;
  for (const double limit = clock_seconds() + 5; ended == 0 && clock_seconds() < limit;
       sleep_for(0.01))
    ended = waitpid(process_, nullptr, WNOHANG);
  kill(-process_, SIGKILL);  // what is left of the group
  if (ended == 0) waitpid(process_, nullptr, 0);
}

std::string BrowserProcess::log() const {
  std::ifstream file(log_path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void BrowserProcess::write_message(std::string_view text) {
  const std::string bytes = std::string(text) + '\0';
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = write(commands_, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno != EINTR) throw std::runtime_error("chromium: it has ended\n" + log());
    at += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
}

std::string BrowserProcess::read_message(double deadline) {
  std::size_t searched = 0;
  for (;;) {
    if (const std::size_t end = bytes_.find('\0', searched); end != bytes_.npos) {
      std::string text = bytes_.substr(0, end);
      bytes_.erase(0, end + 1);
      return text;
    }
    searched = bytes_.size();
    pollfd ready{answers_, POLLIN, 0};
    const double left = deadline - clock_seconds();
    if (left <= 0) throw std::runtime_error("chromium: no answer in time");
    if (poll(&ready, 1, static_cast<int>(left * 1000) + 1) <= 0) continue;
    char block[1 << 16];
    const ssize_t count = read(answers_, block, sizeof block);
    if (count == 0) throw std::runtime_error("chromium: it has ended\n" + log());
    if (count > 0) bytes_.append(block, static_cast<std::size_t>(count));
  }
}

}  // namespace testing
