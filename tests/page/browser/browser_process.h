// The browser's process and the two pipes of its debugging protocol.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace testing {

/// A program that reads messages from its file descriptor 3 and writes messages to 4, each followed by
/// a NUL. The destructor closes the pipes, waits a while and then kills the whole process group.
class BrowserProcess {
 public:
  /// Starts `program`. stdout and stderr go to `log_path`, a profile to `profile_folder`. Throws
  /// std::runtime_error when it does not start.
  BrowserProcess(const std::string& program, const std::string& profile_folder,
                 std::string log_path);
  ~BrowserProcess();
  BrowserProcess(const BrowserProcess&) = delete;
  BrowserProcess& operator=(const BrowserProcess&) = delete;

  /// Throws std::runtime_error, with what the program printed, when it has ended.
  void write_message(std::string_view text);
  /// The next message. Throws when it does not come before `deadline`, a time of clock_seconds().
  std::string read_message(double deadline);
  /// What the program printed.
  std::string log() const;

 private:
  std::string log_path_;
  pid_t process_ = 0;
  int commands_ = -1, answers_ = -1;
  std::string bytes_;  // what is read and is not yet a whole message
};

/// Seconds of a clock that never goes back.
double clock_seconds();
void sleep_for(double seconds);

}  // namespace testing
