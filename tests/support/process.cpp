#include "tests/support/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>

extern char** environ;  // NOLINT: POSIX leaves it to the program, glibc declares it as well

namespace testing {

namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::system_error(error, std::generic_category(), "process: " + what);
}

/// A nameless file. Output goes to files, not to pipes: a pipe must be read while it is written.
File nameless() {
  File file(std::tmpfile());
  if (!file) fail("tmpfile", errno);
  fcntl(fileno(file.get()), F_SETFD, FD_CLOEXEC);
  return file;
}

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char block[4096];
  for (std::size_t count = 0; (count = std::fread(block, 1, sizeof block, file)) > 0;)
    text.append(block, count);
  return text;
}

/// The exit status, and what the program cost.
Result wait_for_cost(pid_t child) {
  int status = 0;
  rusage cost{};
  while (wait4(child, &status, 0, &cost) < 0)
    if (errno != EINTR) fail("wait4", errno);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  Result result;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.seconds = seconds(cost.ru_utime) + seconds(cost.ru_stime);
  result.megabytes = static_cast<double>(cost.ru_maxrss) * 1024 / 1e6;  // Linux counts kilobytes
  return result;
}

std::vector<std::string> environment_with(const Environment& extra) {
  static const std::set<std::string> dropped{"NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS",
                                             "TERM",     "LC_ALL",      "LC_CTYPE",       "LANG"};
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('='));
    if (!dropped.contains(name) && !extra.contains(name)) variables.push_back(text);
  }
  for (const auto& [name, value] : extra)
    variables.push_back(std::string(name).append("=").append(value));
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// What the child does before the program begins.
class Start {
 public:
  Start() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~Start() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  pid_t operator()(std::vector<std::string> argv, const Environment& extra) const {
    if (argv.empty()) throw std::invalid_argument("process: no program");
    std::vector<std::string> variables = environment_with(extra);
    pid_t child = 0;
    const int error = posix_spawnp(&child, argv[0].c_str(), &actions, &attributes,
                                   pointers(argv).data(), pointers(variables).data());
    if (error != 0) fail("cannot start " + argv[0], error);
    return child;
  }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

}  // namespace

Result run(const std::vector<std::string>& argv, const Environment& extra,
           std::string_view standard_input) {
  const File in = nameless(), out = nameless(), err = nameless();
  std::fwrite(standard_input.data(), 1, standard_input.size(), in.get());
  std::rewind(in.get());
  Start start;
  posix_spawn_file_actions_adddup2(&start.actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&start.actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&start.actions, fileno(err.get()), STDERR_FILENO);
  Result result = wait_for_cost(start(argv, extra));
  result.out = contents(out.get());
  result.err = contents(err.get());
  return result;
}

Result run_on_terminal(const std::vector<std::string>& argv, const Environment& extra, int columns,
                       int rows, std::string_view typed) {
  const int reader = posix_openpt(O_RDWR | O_NOCTTY);
  if (reader < 0 || grantpt(reader) != 0 || unlockpt(reader) != 0) fail("posix_openpt", errno);
  fcntl(reader, F_SETFD, FD_CLOEXEC);
  const std::string name = ptsname(reader);
  const int terminal = open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios modes{};
  tcgetattr(terminal, &modes);
  modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  modes.c_lflag &= ~static_cast<tcflag_t>(ECHO);  // it comes when the kernel has time
  tcsetattr(terminal, TCSANOW, &modes);
  winsize size{};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  ioctl(terminal, TIOCSWINSZ, &size);
  if (write(reader, typed.data(), typed.size()) < 0) fail("write", errno);

  Start start;  // not as the leader of a session: Linux throws away unread output when one ends
  posix_spawn_file_actions_addopen(&start.actions, STDIN_FILENO, name.c_str(), O_RDWR | O_NOCTTY,
                                   0);
  posix_spawn_file_actions_adddup2(&start.actions, STDIN_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&start.actions, STDIN_FILENO, STDERR_FILENO);
  Environment variables{{"TERM", "xterm-256color"}};
  for (const auto& [variable, value] : extra) variables[variable] = value;
  const pid_t child = start(argv, variables);

  // A terminal hands its output over in its own time, so that an empty read proves nothing. The
  // last word is this function's: what comes before it is all that the program wrote.
  static const std::string last_word("\0<the program has ended>\0", 25);
  Result result;
  std::jthread end([&] {
    result.status = wait_for_cost(child).status;
    if (write(terminal, last_word.data(), last_word.size()) < 0) std::abort();
  });
  char block[4096];
  while (!result.out.ends_with(last_word)) {
    const ssize_t count = read(reader, block, sizeof block);
    if (count > 0) result.out.append(block, static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) fail("read", errno);
  }
  end.join();
  result.out.resize(result.out.size() - last_word.size());
  close(terminal);
  close(reader);
  return result;
}

Result run_here(const std::function<int()>& body, const char* out_path) {
  const File out(out_path ? std::fopen(out_path, "w") : nameless().release());
  const File err = nameless();
  if (!out) fail("fopen", errno);
  std::fflush(nullptr);  // or the copy would write it once more
  const pid_t child = fork();
  if (child < 0) fail("fork", errno);
  if (child == 0) {
    dup2(fileno(out.get()), STDOUT_FILENO);
    dup2(fileno(err.get()), STDERR_FILENO);
    const int status = body();
    std::fflush(nullptr);
    _exit(status);
  }
  Result result = wait_for_cost(child);
  if (out_path == nullptr) result.out = contents(out.get());
  result.err = contents(err.get());
  return result;
}

}  // namespace testing
