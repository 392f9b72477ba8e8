#include "examples/fledge/against.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

#include "examples/support/run_main.h"
#include "examples/support/text.h"
#include "nn/io/safetensors.h"

extern char** environ;  // NOLINT: POSIX leaves it to the program, glibc declares it as well

namespace fledge {

namespace {

constexpr std::size_t most_answer = std::size_t{1} << 28;  // bytes

/// The program, with a pipe to its standard input and one from its standard output.
class Child {
 public:
  explicit Child(const std::string& command) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) fail(errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    for (const int end : {in[0], in[1], out[0], out[1]})
      posix_spawn_file_actions_addclose(&actions, end);
    posix_spawnattr_t attributes;  // SIGPIPE is ignored here, and not there
    posix_spawnattr_init(&attributes);
    sigset_t reset;
    sigemptyset(&reset);
    sigaddset(&reset, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &reset);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    std::string shell = "sh", option = "-c", line = "exec " + command;
    char* const argv[] = {shell.data(), option.data(), line.data(), nullptr};
    const int error = posix_spawn(&pid_, "/bin/sh", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
    if (error != 0) fail(error);
    fcntl(to_, F_SETFL, O_NONBLOCK);
  }
  ~Child() {
    close_input();
    close(from_);
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Writes and reads in turn, so that neither side waits for the other. Returns false when the time
  /// is over, or the answer too long.
  bool talk(std::string_view request, std::string& answer, int seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    for (;;) {
      if (request.empty()) close_input();
      pollfd ends[] = {{from_, POLLIN, 0}, {to_, POLLOUT, 0}};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      const int ready =
          left.count() <= 0 ? 0 : poll(ends, to_ < 0 ? 1 : 2, static_cast<int>(left.count()));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0 || answer.size() > most_answer) return false;
      if (ends[0].revents != 0) {
        char block[65536];
        const ssize_t count = read(from_, block, sizeof block);
        if (count == 0) return true;
        if (count > 0) answer.append(block, static_cast<std::size_t>(count));
      }
      if (to_ >= 0 && ends[1].revents != 0) {
        const ssize_t count = write(to_, request.data(), request.size());
        if (count >= 0)
          request.remove_prefix(static_cast<std::size_t>(count));
        else if (errno != EAGAIN && errno != EINTR)
          request = {};  // it does not read: what it answers, or its status, says why
      }
    }
  }

  /// The exit status; 128 + the signal's number when one ended it; -1 if it does not end in time.
  int status(int seconds) {
    int status = 0;
    pid_t ended = 0;
    for (int waits = 100 * seconds; (ended = waitpid(pid_, &status, WNOHANG)) == 0; --waits) {
      if (waits == 0) return -1;
      poll(nullptr, 0, 10);  // milliseconds
    }
    if (ended < 0) return -1;
    pid_ = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  [[noreturn]] static void fail(int error) {
    throw std::system_error(error, std::generic_category(), "gradcheck: cannot start a program");
  }
  void close_input() {
    if (to_ >= 0) close(std::exchange(to_, -1));
  }

  pid_t pid_ = 0;
  int to_ = -1, from_ = -1;
};

}  // namespace

void call_program(const std::string& command, const std::string& op,
                  const std::vector<report::Numbers>& inputs, std::vector<report::Numbers>& answer,
                  int seconds) {
  std::signal(SIGPIPE, SIG_IGN);  // the program may end before it has read its input
  const auto refuse = [&](const std::string& what, const std::string& advice) {
    throw support::InputError(support::quoted(command) + " " + what, advice);
  };
  const auto array_of = [](const report::Numbers& x) {
    return Array(Shape(x.shape), std::vector<double>(x.numbers.begin(), x.numbers.end()));
  };
  std::vector<NamedArray> arrays;
  for (const report::Numbers& input : inputs) arrays.push_back({input.name, array_of(input)});
  const std::string protocol =
      "it must read safetensors from its standard input until the end, and write safetensors: "
      "'fledge gradcheck --help' says which";
  Child child(command);
  std::string bytes;
  if (!child.talk(stored_bytes(arrays, {{"op", op}}), bytes, seconds))
    refuse(bytes.size() > most_answer
               ? "gave an answer of more than 256 MiB"
               : "gave no whole answer within " + support::counted(seconds, "second"),
           protocol);
  const int status = child.status(seconds);
  if (status < 0) refuse("closed its output and did not end", protocol);
  if (status == 127) refuse("cannot be started", "give the path of a program, such as ./mine");
  if (status != 0)
    refuse((status > 128 ? "was ended by signal " + std::to_string(status - 128)
                         : "ended with exit status " + std::to_string(status)) +
               " when it was given " + op,
           "what it wrote to its standard error stands above; the exit status must be 0");
  support::with_advice(
      protocol,
      [&] {
        const ByteSource source(bytes);
        const StoredHeader header = stored_header(source);
        for (report::Numbers& wanted : answer) {
          const auto found = std::find_if(header.tensors.begin(), header.tensors.end(),
                                          [&](const auto& t) { return t.name == wanted.name; });
          if (found == header.tensors.end())
            refuse("answers without " + support::quoted(wanted.name), protocol);
          if (found->dtype.find('F') == std::string::npos)  // F32, BF16, …
            refuse("answers with " + wanted.name + " in whole numbers, " + found->dtype,
                   "write it as F32");
          if (found->shape != Shape(wanted.shape))
            refuse("answers with " + wanted.name + " of shape " + to_string(found->shape),
                   "its shape must be " + to_string(Shape(wanted.shape)));
          wanted.numbers.resize(static_cast<std::size_t>(found->shape.size()));
          const Dtype& type = *find_dtype(found->dtype);
          const std::string stored = source.read(found->begin, found->end - found->begin);
          for (std::size_t i = 0; i < wanted.numbers.size(); ++i)  // NaN is wrong, not unreadable
            type.read(&stored[i * type.bytes], 1, infinity, &wanted.numbers[i]);
        }
      },
      "the answer of " + support::quoted(command));
}

}  // namespace fledge
