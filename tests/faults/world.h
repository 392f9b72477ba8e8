// What all cases share: programs with faults, the calls that they made, the files that they leave,
// and what must hold of a folder whatever happened to a run in it.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/faults/record.h"

namespace fledge::faults {

/// Throws std::runtime_error with this text unless a promise holds.
inline void expect(bool holds, const std::string& otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

using Words = std::vector<std::string>;

struct Ending {
  int status = 0;        // the exit status; 128 + the number of the signal that ended it
  std::string out, err;  // what it printed
};

/// A program that the driver starts, stops, lets go on and waits for.
class Process {
 public:
  /// Starts argv[0] with this environment. After two minutes SIGALRM ends it, so that a program
  /// that hangs is a failed case.
  Process(Words argv, Words environment);
  ~Process() { end(true); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits until it is stopped by a signal (true) or has ended (false).
  bool stops();
  void go_on() const;
  /// Waits for its end, which SIGKILL may hasten.
  Ending end(bool is_killed = false);

 private:
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  static std::string contents(std::FILE* file);

  pid_t child_ = 0;
  int status_ = 0;
  File out_{std::tmpfile(), std::fclose}, err_{std::tmpfile(), std::fclose};
};

/// A call that a program made, as the preloaded library recorded it.
struct RecordedCall {
  Record record;
  std::string path, to, data;

  bool creates() const;
};
/// Throws std::runtime_error for a file that ends in the middle of a call.
std::vector<RecordedCall> read_calls(const std::string& log);

/// The bytes of each file of a folder by its path in it; a folder in it has the name "NAME/" and no
/// bytes.
using Tree = std::map<std::string, std::string>;
Tree read_tree(const std::string& folder);
/// What a command printed, with "DIR" for the folder that it was given.
std::string without_folder(std::string out, const std::string& folder);
/// Makes the folder, which must not be there.
void write_tree(const std::string& folder, const Tree& tree);
/// The first difference in words: "events.jsonl is missing"; empty when there is none.
std::string difference(const Tree& expected, const Tree& found);

/// A command on a folder in a known state.
struct Scenario {
  std::string name;
  Words words;              // its arguments; "DIR" stands for the folder
  Tree before;              // the folder's files; without one, there is no folder
  std::vector<Tree> after;  // what the folder may hold in the end; the last: when all went well
  bool writes = true;       // it trains; otherwise it leaves the folder as it is
  std::vector<RecordedCall> calls = {};  // of the undisturbed command
  std::string out = {};                  // what that printed

  /// Puts the folder that it begins from into PLACE/run.
  void set_up(const std::string& place) const;
  /// The folder holds what the undisturbed command leaves.
  void check_finished(const std::string& folder) const;
};

class World {
 public:
  /// Trains the runs that the cases begin from, under `root`, and records each command.
  explicit World(std::string root);

  std::vector<Scenario> scenarios;
  const Scenario& scenario(const std::string& name) const;

  /// Starts a scenario's command on PLACE/run. `failure` is a value of FLEDGE_CALLS_FAIL or empty,
  /// `log` a file for the calls or empty.
  Process start(const Scenario& scenario, const std::string& place, const std::string& failure = "",
                const std::string& log = "") const;
  /// A command whose allocations fail as this variable of the environment says
  /// (failing_malloc.cpp).
  Ending run_with_malloc(const Scenario& scenario, const std::string& place,
                         const std::string& variable) const;
  /// A command without a fault; "DIR" stands for `folder`.
  Ending run(const Words& words, const std::string& folder) const;

  /// The run in `folder` is whole, or none has begun; it is then brought to its end, which must be
  /// an end of the undisturbed scenario to the bit.
  void check_run(const Scenario& scenario, const std::string& folder) const;

  std::string root;

 private:
  void add(Scenario scenario);
};

/// The status is one of these, no signal ended the program, and it explained a failure in one
/// message.
void check_ending(const Ending& ending, const std::vector<int>& statuses);

}  // namespace fledge::faults
