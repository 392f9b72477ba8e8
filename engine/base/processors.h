// How many processors this process may use.                                Next: thread_pool.h.
#pragma once

namespace fledge {

/// The processors that the system lets this process run on, or the quota of its container if that
/// is less. At least 1. It is found out once, at the first call.
int available_processors();

/// The quota of a control group (cgroup v2) in processors, rounded up, from the text of its file
/// cpu.max, "QUOTA PERIOD" in microseconds; 0 when it has none.
int processors_of_quota(const char* cpu_max);

}  // namespace fledge
