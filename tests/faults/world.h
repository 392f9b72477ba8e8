// What all cases share: programs with faults, the calls that they made, the files that they leave,
// and what must hold of a folder whatever happened to a run in it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/faults/record.h"

namespace fledge::faults {

/// What was promised does not hold; what() says what happened instead.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void expect(bool holds, const std::string& otherwise) {
  if (!holds) throw Broken(otherwise);
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

/// A call that a program made, as the preloaded library recorded it.
struct RecordedCall {
  Record record;
  std::string path, to, data;

  bool creates() const;
  /// "write 3", "rename a to b".
  std::string text() const;
};
/// Throws std::runtime_error for a file that ends in the middle of a call.
std::vector<RecordedCall> read_calls(const std::string& log);

/// What can be made to go wrong at a call: the word for FLEDGE_CALLS_FAIL, its name, and whether
/// the program must go on as if nothing had happened.
struct Failure {
  std::string word, name;
  bool harmless = false;
};
std::vector<Failure> failures_of(const RecordedCall& call);

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
};

class World {
 public:
  /// Trains the runs that the cases begin from, under `root`, and records each command.
  World(std::string program, std::string calls_library, std::string root);

  std::vector<Scenario> scenarios;
  const Scenario& scenario(const std::string& name) const;

  /// Starts a scenario's command on PLACE/run. `failure` is a value of FLEDGE_CALLS_FAIL or empty,
  /// `log` a file for the calls or empty.
  Process start(const Scenario& scenario, const std::string& place, const std::string& failure = "",
                const std::string& log = "") const;
  /// A command with the same environment and no fault; "DIR" stands for `folder`.
  Ending run(Words words, const std::string& folder) const;
  Words with_program(Words words, const std::string& folder) const;

  /// Puts the folder that the scenario begins from into PLACE/run.
  static void set_up(const Scenario& scenario, const std::string& place);

  /// The run in `folder` is whole, or none has begun; it is then brought to its end, which must be
  /// an end of the undisturbed scenario to the bit.
  void check_run(const Scenario& scenario, const std::string& folder) const;
  /// The folder holds what the undisturbed command leaves.
  static void check_finished(const Scenario& scenario, const std::string& folder);

  std::string program, library, root;

 private:
  Words environment(const std::string& failure, const std::string& log) const;
  void add(Scenario scenario);
};

/// The status is one of these, no signal ended the program, and it explained a failure in one
/// message.
void check_ending(const Ending& ending, const std::vector<int>& statuses);

/// One fault, and what must hold after it.
struct Case {
  std::string name;  // "kill/begin/17": a part of it chooses the case again
  /// Runs it in a folder of its own; throws Broken.
  std::function<void(const std::string& place)> check;
};
struct CasesOfKind {
  std::string kind;
  std::vector<Case> cases;
};
/// Each call of each command fails once, in each way that fits; SIGKILL before each call, and before
/// another in the run that goes on; the folders that a power cut after each call can leave; each
/// allocation fails, alone or with all that follow; Ctrl-C at each call, and two commands in one
/// folder, one of them stopped in the middle.
std::vector<CasesOfKind> all_cases(const World& world);

}  // namespace fledge::faults
