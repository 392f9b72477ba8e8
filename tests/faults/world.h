// What all cases share: the program, a text, the runs that nothing disturbed, and what must hold of
// a folder whatever happened to a run in it.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/faults/calls.h"
#include "tests/faults/process.h"
#include "tests/faults/tree.h"

namespace fledge::faults {

/// What was promised does not hold; what() says what happened instead.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void expect(bool holds, const std::string& otherwise) {
  if (!holds) throw Broken(otherwise);
}

/// A command on a folder in a known state.
struct Scenario {
  std::string name;
  Words words;              // its arguments; "DIR" stands for the folder
  Tree before;              // the folder's files; without one, there is no folder
  std::vector<Tree> after;  // what the folder may hold in the end; the last: when all went well
  bool writes = true;       // it trains; otherwise it leaves the folder as it is
  std::vector<RecordedCall> calls;  // of the undisturbed command
  std::string out;                  // what that printed
};

class World {
 public:
  /// Trains the runs that the cases begin from, under `root`, and records each command.
  World(std::string program, std::string calls_library, std::string root);

  std::vector<Scenario> scenarios;
  Scenario other;  // a run of the same shape on another text
  const Scenario& scenario(const std::string& name) const;

  /// Starts a scenario's command on PLACE/run. `failure` is a value of FLEDGE_CALLS_FAIL or empty,
  /// `log` a file for the calls or empty.
  Process start(const Scenario& scenario, const std::string& place, const std::string& failure = "",
                const std::string& log = "") const;
  /// A command with the same environment and no fault; "DIR" stands for `folder`.
  Ending run(Words words, const std::string& folder) const;
  /// The environment of every command, the preloaded library included.
  Words environment(const std::string& failure, const std::string& log) const;
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
  void finish(const Scenario& scenario, const std::string& folder, bool has_run) const;
  void add(Scenario scenario);
};

/// The status is one of these, no signal ended the program, and it explained a failure in one
/// message.
void check_ending(const Ending& ending, const std::vector<int>& statuses);

}  // namespace fledge::faults
