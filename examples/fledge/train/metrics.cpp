#include "examples/fledge/train/metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "nn/io/json.h"

namespace fledge::train {

std::string csv_header() { return "step,loss,held_out_loss,lr,grad_norm\n"; }

std::string as_csv(const Metrics& row) {
  const auto number = [](double x) {
    return x != x ? "nan" : x > 1e308 ? "inf" : json_number(static_cast<float>(x));
  };
  return std::to_string(row.step) + "," + number(row.loss) + "," +
         (row.validation ? number(*row.validation) : "") + "," + number(row.rate) + "," +
         number(row.gradient_norm) + "\n";
}

std::string as_json(const Metrics& row) {
  Json::Members members{
      {"type", "step"}, {"step", row.step}, {"loss", static_cast<float>(row.loss)}};
  if (row.validation) members.emplace_back("held_out_loss", static_cast<float>(*row.validation));
  members.emplace_back("lr", static_cast<float>(row.rate));
  members.emplace_back("grad_norm", static_cast<float>(row.gradient_norm));
  return Json::object(members).text();
}

LineFile::LineFile(LockedFolder& folder, std::string name)
    : folder_(&folder), name_(std::move(name)) {
  open();
}

void LineFile::open() {
  file_.emplace(folder_->descriptor(), name_, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (!file_->exists() || ::fstat(file_->get(), &status) != 0)
    throw WriteError("write", folder_->file(name_), errno);
  if (!S_ISREG(status.st_mode))
    throw WriteError("write", folder_->file(name_), "it is not a regular file");
  bytes_ = static_cast<std::uint64_t>(status.st_size);
}

LineFile::~LineFile() {
  try {
    write_out();
  } catch (const FileError&) {  // the run has reported it, or ends because of another error
  }
}

void LineFile::append(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() > 4096) write_out();
}

// If the path no longer names this file, or the file has a second link, writes a copy to the path
// and opens it.
void LineFile::ensure_own_file() {
  struct stat mine {
  }, named{};
  const bool is_named =
      ::fstat(file_->get(), &mine) == 0 &&
      ::fstatat(folder_->descriptor(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
      mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
  if (is_named && mine.st_nlink == 1) return;
  if (::lseek(file_->get(), 0, SEEK_SET) != 0)
    throw WriteError("write", folder_->file(name_), errno);
  const std::string bytes = read_whole(*file_, folder_->file(name_), most_file_size);
  folder_->replace({{name_, bytes}});
  open();
}

void LineFile::write_out() {
  if (waiting_.empty()) return;
  ensure_own_file();
  if (!write_all(*file_, waiting_)) {
    const int error = errno;
    // A part of a row could be read as a row. If it cannot be cut here, --resume cuts it.
    (void)!::ftruncate(file_->get(), static_cast<off_t>(bytes_));
    throw WriteError("write", folder_->file(name_), error);
  }
  bytes_ += waiting_.size();
  waiting_.clear();
}

std::int64_t LineFile::sync() {
  write_out();
  if (!sync_file(*file_)) throw WriteError("sync", folder_->file(name_), errno);
  return static_cast<std::int64_t>(bytes_);
}

}  // namespace fledge::train
