// What a run measured, as rows that outlive it: metrics.csv and metrics.jsonl.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fledge::train {

/// One step as it is logged. No times: two runs of the same seed write the same bytes.
struct Metrics {
  std::int64_t step = 0;
  double loss = 0, rate = 0, gradient_norm = 0;
  std::optional<double> validation;
};

std::string csv_header();
std::string as_csv(const Metrics& row);   // with its line end
std::string as_json(const Metrics& row);  // {"type":"step",…}, without one

/// A file that grows by lines and can be cut back to where a checkpoint was made.
class LineFile {
 public:
  /// Opens the file and cuts it to its first `keep` bytes. Throws FileError, also for a shorter one.
  LineFile(std::string path, std::uint64_t keep);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  void append(std::string_view text);
  /// Brings what was appended to the disk and returns the bytes that are there.
  std::uint64_t sync();

 private:
  void write_out();
  [[noreturn]] void fail(const char* what) const;

  std::string path_, waiting_;
  int descriptor_;
  std::uint64_t bytes_;
};

}  // namespace fledge::train
