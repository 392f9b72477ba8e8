// A program of another author that computes an op: one call of it, through pipes.
#pragma once

#include <string>
#include <vector>

#include "examples/fledge/gradients/gradients.h"

namespace fledge {

/// Starts `command`, one program, by a shell that runs `exec command`. Writes the inputs to its
/// standard input as safetensors (F32), and reads the answer, which has more than the names wanted or
/// just these, from its standard output. Throws InputError if it cannot be started, ends with another
/// status than 0, takes longer than `seconds`, or answers with anything but safetensors with these
/// names and shapes.
void call_program(const std::string& command, const std::string& op,
                  const std::vector<report::Numbers>& inputs, std::vector<report::Numbers>& answer,
                  int seconds = 60);

}  // namespace fledge
