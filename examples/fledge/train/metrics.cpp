#include "examples/fledge/train/metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "nn/io/files.h"
#include "nn/io/json.h"

namespace fledge::train {

std::string csv_header() { return "step,loss,val_loss,lr,grad_norm\n"; }

std::string as_csv(const Metrics& row) {
  const auto number = [](double x) {
    return x != x ? "nan" : x > 1e308 ? "inf" : json_number(static_cast<float>(x));
  };
  return std::to_string(row.step) + "," + number(row.loss) + "," +
         (row.validation ? number(*row.validation) : "") + "," + number(row.rate) + "," +
         number(row.gradient_norm) + "\n";
}

std::string as_json(const Metrics& row) {
  JsonWriter json;
  json.begin_object().field("type", "step").field("step", row.step);
  json.field("loss", static_cast<float>(row.loss));
  if (row.validation) json.field("val_loss", static_cast<float>(*row.validation));
  json.field("lr", static_cast<float>(row.rate));
  json.field("grad_norm", static_cast<float>(row.gradient_norm));
  return json.end_object().text();
}

LineFile::LineFile(std::string path, std::uint64_t keep)
    : path_(std::move(path)),
      descriptor_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)),
      bytes_(keep) {
  if (descriptor_ < 0) fail("cannot write");
  struct stat status {};
  if (fstat(descriptor_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) < keep)
    throw FileError("'" + path_ + "' is shorter than when the checkpoint was made: it was changed");
  if (ftruncate(descriptor_, static_cast<off_t>(keep)) != 0 || lseek(descriptor_, 0, SEEK_END) < 0)
    fail("cannot cut");
}

LineFile::~LineFile() {
  try {
    write_out();
  } catch (const FileError&) {  // the run has said so, or ends for a worse reason
  }
  close(descriptor_);
}

void LineFile::append(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() > 4096) write_out();
}

void LineFile::write_out() {
  std::size_t written = 0;
  while (written < waiting_.size()) {
    const ssize_t count = write(descriptor_, waiting_.data() + written, waiting_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      waiting_.erase(0, written);
      fail("cannot write");
    }
    written += static_cast<std::size_t>(count);
    bytes_ += static_cast<std::uint64_t>(count);
  }
  waiting_.clear();
}

std::uint64_t LineFile::sync() {
  write_out();
  if (fsync(descriptor_) != 0) fail("cannot bring to the disk");
  return bytes_;
}

void LineFile::fail(const char* what) const {
  throw FileError(std::string(what) + " '" + path_ +
                  "': " + std::generic_category().message(errno));
}

}  // namespace fledge::train
