// How many processors this process may use.
//
// Not here: how many threads share work (thread_pool.h).                     Next: processors.cpp.
#pragma once

#include <string>

#include "engine/base/dim.h"

namespace fledge {

/// The smaller one of two numbers: the processors that the system lets this process run on, and the
/// quota of its control groups. At least 1. It is found out once, at the first call.
int available_processors();

/// The quota of control groups in processors, rounded up; 0 when there is none. The quota of a
/// group holds for the groups inside it as well. `groups` is the text of /proc/self/cgroup, `mount`
/// the folder that holds all groups: /sys/fs/cgroup. Only version 2 of control groups is read,
/// which keeps a quota in cpu.max. With version 1, call set_threads().
int processors_of_quota(const std::string& groups, const std::string& mount);

}  // namespace fledge
