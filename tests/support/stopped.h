// A program that is killed in front of one of its changes to files. The calls that change a folder
// (mkdir, rename, unlink, and their kin that take a descriptor, fsync) are counted.
#pragma once

#include <functional>
#include <string>

namespace testing {

/// Runs `body` in a copy of this process that ends in front of its change number `changes` (from
/// 0). True when the body came to its end before.
bool ends_before(int changes, const std::function<void()>& body);

/// Runs `body`, in which change number `change` fails with this error.
/// Returns the text of the exception that it throws; "" for none.
std::string with_failure(int change, int error, const std::function<void()>& body);

}  // namespace testing
