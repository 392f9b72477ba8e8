// The calls that a program made, as the preloaded library recorded them.
#pragma once

#include <string>
#include <vector>

#include "tests/faults/record.h"

namespace fledge::faults {

struct RecordedCall {
  Record record;
  std::string path, to, data;

  bool creates() const;
  /// "write 3", "rename /run/a to /run/b".
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

}  // namespace fledge::faults
