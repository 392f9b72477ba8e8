// The errors of fledge beside what PyTorch computed: a model, its training, a program (README.md).
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace parity {

/// A quantity and its relative error: max |fledge − PyTorch| / max |PyTorch|.
using Errors = std::vector<std::pair<std::string, double>>;

/// The largest; infinity if one is NaN.
std::pair<std::string, double> largest(const Errors& errors);

/// The steps of AdamW with clipping: the losses, the norms of the gradients and the weights after
/// the last step.
Errors training_errors(const std::string& folder);

struct ProgramErrors {
  Errors values, gradients;
  std::set<std::string> ops;  // the names of its steps
};
ProgramErrors program_errors(const std::string& folder);

}  // namespace parity
