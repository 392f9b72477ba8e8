// The measurements of a run: metrics.csv has a row for each logged step, metrics.jsonl has all
// events of the run, a JSON object a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nn/io/folder.h"

namespace fledge::train {

/// One step as it is logged. No times: two runs of the same seed write the same bytes.
struct Metrics {
  std::int64_t step = 0;
  double loss = 0, rate = 0, gradient_norm = 0;
  std::optional<double> validation;
  double training = 0;  // beside `validation`: of the same model; not in the row of metrics.csv
};

std::string csv_header();
std::string as_csv(const Metrics& row);   // ends with \n
std::string as_json(const Metrics& row);  // {"type":"step",…}, has no \n at the end
/// The beginning of the last event of a run that was not stopped.
inline constexpr std::string_view end_of_run = R"({"type":"end","status":"ok",)";

/// A file of a run's folder that grows by lines. Writing does not change a hard link that was
/// made as a backup: a file with a second link is first replaced by a copy. A power cut or a kill
/// loses at most the row that is being written and the rows since the last sync().
class LineFile {
 public:
  /// Opens an existing file to append to it. The folder must outlive it. Throws FileError.
  LineFile(LockedFolder& folder, std::string name);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// Buffers the text. A failed write throws WriteError from this call, a later append(), or
  /// sync().
  void append(std::string_view text);
  /// Writes all appended rows to disk. Returns the size of the file in bytes. Throws
  /// WriteError.
  std::int64_t sync();

 private:
  void open();
  void ensure_own_file();
  void write_out();

  LockedFolder* folder_;
  std::string name_, waiting_;
  std::optional<Descriptor> file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace fledge::train
