// --page: a run as a page (examples/page/). Weights at some steps are events of the run, so a
// resumed run has those from before.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "examples/fledge/train/events.h"
#include "examples/page/page_data.h"

namespace fledge::train {

/// Throws CommandError unless the page of --page, if any, can be written. It may be in the folder
/// of the run, which is made with the run. It is no file of the run, no folder above it, and no
/// text that the run reads.
void require_page_place(const TrainConfig& config);

/// Whether a run records its weights: its events have some.
bool has_snapshots(std::string_view events);

/// The page of a run. `model` has the weights of `kept_step`, which the page holds exactly; those
/// that `events`, the log, recorded are rounded to bf16. A text that is too long for a page is cut;
/// `why` says why the text is not that of the run, "" if it is. Throws FormatError, which names the
/// line, for an event that fledge does not write, and InputError for a model that is too large for
/// a page.
page::Page recorded_page(const RunConfig& run, const LanguageModel& model, std::string text,
                         const std::string& why, std::int64_t kept_step, std::string_view events);

class PageRecorder {
 public:
  /// Throws CommandError if the page cannot be written. `model` must outlive it.
  PageRecorder(RunConfig run, const LanguageModel& model, std::string text);

  /// The weights after this step, as an event of the run. None at most steps.
  std::vector<Event> look(std::int64_t step) const;
  /// recorded_page() of this run.
  page::Page page(std::int64_t kept_step, std::string_view events) const {
    return recorded_page(run_, *model_, text_, "", kept_step, events);
  }
  /// Writes this page. Returns what is to be said about it.
  std::string write(std::int64_t kept_step, std::string_view events) const;

 private:
  RunConfig run_;
  const LanguageModel* model_;
  std::string text_;
  std::vector<std::int64_t> steps_;
};

}  // namespace fledge::train
