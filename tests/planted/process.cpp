#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace planted {

namespace {

constexpr rlim_t most_memory = rlim_t{4} << 30;  // a bug that never frees must not take the machine
constexpr unsigned patience = 10;  // waiting costs nothing, and a busy machine makes everyone wait

void limit(int resource, rlim_t most) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) return;
  now.rlim_cur = now.rlim_max == RLIM_INFINITY ? most : std::min(most, now.rlim_max);
  setrlimit(resource, &now);
}

[[noreturn]] void become(std::vector<char*>& argv, int log, unsigned seconds) {
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  if (seconds > 0) {
    limit(RLIMIT_AS, most_memory);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, seconds);
    alarm(patience * seconds);  // outlives exec
  }
  execvp(argv[0], argv.data());
  _exit(127);
}

}  // namespace

pid_t start(const Command& argv, const std::filesystem::path& log, unsigned seconds) {
  Command words = argv;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (output < 0) throw std::system_error(errno, std::generic_category(), log.string());
  const pid_t child = fork();
  if (child == 0) become(pointers, output, seconds);
  const int error = errno;
  close(output);
  if (child < 0) throw std::system_error(error, std::generic_category(), argv[0]);
  return child;
}

Ended wait_for_any() {
  int status = 0;
  pid_t child = 0;
  while ((child = waitpid(-1, &status, 0)) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  Ended ended{child, {}};
  if (WIFEXITED(status)) ended.ending.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status))
    ended.ending.timed_out = WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM;
  return ended;
}

}  // namespace planted
