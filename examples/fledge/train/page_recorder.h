// --page: a run as a page (examples/page/). Snapshots are events of the run, so a resumed run has
// those from before.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "examples/fledge/train/events.h"
#include "examples/page/page_data.h"

namespace fledge::train {

/// Throws CommandError unless the page of --page, if any, can be written. It may be in the folder of
/// the run, which is made with the run. It is no file of the run, no folder above it, and no text that
/// the run reads.
void require_page_place(const TrainConfig& config);

/// Whether a run records snapshots: its events have a plan.
bool has_snapshots(std::string_view events);

class PageRecorder {
 public:
  /// Follows the sentences of --probe and the pairs of --watch, or what page::default_plan() chooses.
  /// `events`: those of a run that is resumed, as its log has them; the first "page" among them
  /// has the plan. A run that is resumed without --page goes on recording. Throws CommandError if the
  /// page cannot be written, InputError for a vocabulary that is too large, and FormatError for a plan
  /// that fledge does not write. The arguments but `events` must outlive it.
  PageRecorder(const TrainConfig& config, const Corpus& corpus, const LanguageModel& model,
               const std::vector<WordPair>& pairs, const std::vector<Probe>& sentences,
               std::string_view events);

  /// The events of this step: the plan if the run has none yet, and a snapshot. None at most steps.
  std::vector<Event> look(std::int64_t step);

  /// The data of the page of a run that has these events and kept the model of `kept_step`. Throws
  /// FormatError, which names the line, for an event that fledge does not write.
  page::Thinned data(std::int64_t done_steps, std::int64_t kept_step,
                     std::string_view events) const;
  /// Writes this page. Returns what is to be said about it.
  std::string write(std::int64_t done_steps, std::int64_t kept_step, std::string_view events) const;

 private:
  std::string title() const;

  const TrainConfig* config_;
  const Corpus* corpus_;
  const LanguageModel* model_;
  const std::vector<Probe>* sentences_;
  page::Plan plan_;
  page::SnapshotSteps steps_;
  bool has_plan_event_ = false;
};

}  // namespace fledge::train
