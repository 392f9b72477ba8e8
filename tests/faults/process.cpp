#include "tests/faults/world.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace fledge::faults {

namespace {

constexpr unsigned most_seconds = 120;

std::vector<char*> pointers(const Words& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

int nameless_file() {
  const int file = memfd_create("output", MFD_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  return file;
}

std::string contents(int file) {
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got =
        pread(file, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (got <= 0) throw std::system_error(errno, std::generic_category(), "pread");
    done += static_cast<std::size_t>(got);
  }
  return text;
}

}  // namespace

Process::Process(const Words& argv, const Words& environment)
    : out_(nameless_file()), err_(nameless_file()) {
  const std::vector<char*> words = pointers(argv), variables = pointers(environment);
  child_ = fork();
  if (child_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child_ > 0) return;
  // Only calls that are safe after fork() in a program with threads.
  dup2(out_, STDOUT_FILENO);
  dup2(err_, STDERR_FILENO);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGALRM}) signal(number, SIG_DFL);
  alarm(most_seconds);  // outlives exec
  execve(words[0], words.data(), variables.data());
  _exit(127);
}

Process::~Process() {
  if (child_ > 0) {
    send(SIGKILL);
    end();
  }
  close(out_);
  close(err_);
}

bool Process::stops() {
  while (waitpid(child_, &status_, WUNTRACED) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  if (WIFSTOPPED(status_)) return true;
  child_ = 0;
  return false;
}

void Process::send(int signal) const {
  if (child_ > 0) kill(child_, signal);
}

Ending Process::end() {
  while (child_ > 0 && stops()) send(SIGCONT);
  const int status = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return {status, contents(out_), contents(err_)};
}

}  // namespace fledge::faults
