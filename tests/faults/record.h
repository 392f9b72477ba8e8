// What the preloaded library (failing_calls.cpp) writes of each call, and the driver reads.
//
//   FLEDGE_CALLS_LOG=FILE   appends a Record with its texts for each call that was made
//   FLEDGE_CALLS_FAIL=N:X   does X to call N (the first is 1):
//                             a number    the call is not made and fails with this errno
//                             a number+   so do all later calls of the same kind
//                             short       a read or write of half of the bytes
//                             zero        a write of no byte, which is no error
//                             kill, stop, interrupt    the process gets this signal before the call
#pragma once

#include <cstdint>

namespace fledge::faults {

enum class Kind : std::uint32_t {
  open,
  close,
  read,
  write,
  sync,
  rename,
  unlink,
  make_folder,
  remove_folder,
  status,  // stat and its kin
  seek,
  lock,
  list,  // opendir, readdir
  thread
};

/// Followed in the file by the bytes of the path, of the second path of a rename, and the data of a
/// write.
struct Record {
  std::uint32_t index = 0;  // from 1
  Kind kind{};
  std::int32_t descriptor = -1, error = 0;
  std::int64_t result = 0;
  std::uint32_t flags = 0;   // of open
  std::uint64_t offset = 0;  // where the write began
  std::uint32_t path_bytes = 0, to_bytes = 0;
  std::uint64_t data_bytes = 0;
};

}  // namespace fledge::faults
