// Programs that the driver starts, stops, lets go on and waits for.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace fledge::faults {

using Words = std::vector<std::string>;

struct Ending {
  int status = 0;        // the exit status; 128 + the number of the signal that ended it
  std::string out, err;  // what it printed
};

class Process {
 public:
  /// Starts argv[0] with this environment. After two minutes SIGALRM ends it, so that a program
  /// that hangs is a failed case.
  Process(const Words& argv, const Words& environment);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits until it is stopped by a signal (true) or has ended (false).
  bool stops();
  void send(int signal) const;
  /// Waits for its end.
  Ending end();

 private:
  pid_t child_ = 0;
  int out_ = -1, err_ = -1, status_ = 0;
};

inline Ending run(const Words& argv, const Words& environment) {
  return Process(argv, environment).end();
}

}  // namespace fledge::faults
