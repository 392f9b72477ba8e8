// The message of a wrong use of a program.
#pragma once

#include <string>

#include "examples/support/errors.h"

namespace tests {

/// "PROBLEM | ADVICE" of the UsageError that f throws.
template <class F>
std::string usage_refusal(F f) {
  try {
    f();
  } catch (const support::UsageError& error) {
    return std::string(error.what()) + " | " + error.advice;
  }
  return "<nothing was thrown>";
}

}  // namespace tests
