#include "tests/faults/world.h"

#include <fcntl.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>

namespace fledge::faults {

bool RecordedCall::creates() const {
  return record.kind == Kind::open && (record.flags & O_CREAT) != 0;
}

std::string RecordedCall::text() const {
  std::string text = kind_names[static_cast<std::size_t>(record.kind)];
  if (record.descriptor >= 0) text += " " + std::to_string(record.descriptor);
  if (!path.empty()) text += " " + path.substr(path.rfind('/') + 1);
  if (!to.empty()) text += " to " + to.substr(to.rfind('/') + 1);
  return text;
}

std::vector<RecordedCall> read_calls(const std::string& log) {
  std::ifstream file(log, std::ios::binary);
  std::vector<RecordedCall> calls;
  const auto text = [&](std::size_t size) {
    std::string bytes(size, '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(size)))
      throw std::runtime_error(log + " ends in the middle of a call");
    return bytes;
  };
  RecordedCall call;
  while (file.read(reinterpret_cast<char*>(&call.record), sizeof call.record)) {
    call.path = text(call.record.path_bytes);
    call.to = text(call.record.to_bytes);
    call.data = text(call.record.data_bytes);
    calls.push_back(call);
  }
  return calls;
}

std::vector<Failure> failures_of(const RecordedCall& call) {
  const auto error = [](int number, const char* name) {
    return Failure{std::to_string(number), name, false};
  };
  const Failure full = error(ENOSPC, "ENOSPC"), broken = error(EIO, "EIO"),
                forbidden = error(EACCES, "EACCES"), no_more = error(EMFILE, "EMFILE"),
                full_from_now_on{std::to_string(ENOSPC) + "+", "ENOSPC+", false},
                broken_from_now_on{std::to_string(EIO) + "+", "EIO+", false},
                interrupted{std::to_string(EINTR), "EINTR", true};
  const Failure half{"short", "short", true};
  switch (call.record.kind) {
    case Kind::open:
      if (call.creates()) return {full, full_from_now_on, no_more, forbidden, interrupted};
      return {broken, no_more, forbidden, interrupted};
    case Kind::write:
      return {full, full_from_now_on,       broken, broken_from_now_on, interrupted,
              half, {"zero", "zero", false}};
    case Kind::read:
      return {broken, interrupted, half};
    case Kind::sync:
      return {broken, broken_from_now_on, full, interrupted};
    case Kind::close:
      return {broken, interrupted};
    case Kind::rename:
      return {full, broken, forbidden, full_from_now_on};
    case Kind::make_folder:
      return {full, forbidden, broken};
    case Kind::lock:
      return {error(ENOLCK, "ENOLCK"), interrupted};
    case Kind::thread:
      return {error(EAGAIN, "EAGAIN")};
    case Kind::list:
      return {broken, no_more};
    case Kind::status:
      return {broken, forbidden};
    case Kind::unlink:
    case Kind::remove_folder:
      return {broken, forbidden};
    case Kind::seek:
      return {broken};
  }
  return {};
}

}  // namespace fledge::faults
