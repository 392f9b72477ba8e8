// --page: a run as a page (examples/page/). Snapshots are events of the run, so a resumed run has
// those from before.
#pragma once

#include <string>
#include <vector>

#include "examples/fledge/train/train_config.h"
#include "examples/fledge/train/watched_words.h"
#include "examples/page/page_data.h"

namespace fledge::train {

/// Throws CommandError unless the page of --page, if any, can be written. It may be in the folder of
/// the run, which is made with the run. It is no file of the run, no folder above it, and no text that
/// the run reads.
void require_page_place(const TrainConfig& config);

class PageRecorder {
 public:
  /// Follows the sentences of --probe and the pairs of --watch, or what page::default_plan() chooses.
  /// `events`: those of a run that is resumed, as its log has them; the first "page" among them
  /// has the plan. A run that is resumed without --page goes on recording. Throws CommandError if the
  /// page cannot be written, InputError for a vocabulary that is too large, and FormatError for a plan
  /// that fledge does not write.
  PageRecorder(const TrainConfig& config, const Corpus& corpus, const std::vector<WordPair>& pairs,
               const std::vector<Probe>& sentences, std::string_view events);

  /// Whether a run records snapshots: its events have a plan.
  static bool is_recorded(std::string_view events);

  bool has_snapshot(std::int64_t step) const { return steps_.has(step); }
  /// The events of this step: the plan if the run has none yet, and a snapshot.
  std::vector<Json::Members> events(const LanguageModel& model, std::int64_t step);
  /// An event of a run without a folder.
  void keep(const std::string& line) { lines_.push_back(line); }

  /// The data of the page of a run that kept the model of `kept_step`. `events`: of a run with a
  /// folder. Throws FormatError, which names the line, for an event that fledge does not write.
  page::Thinned data(const LanguageModel& model, std::int64_t done_steps, std::int64_t kept_step,
                     std::string_view events) const;
  /// Writes this page.
  /// Returns what is to be said about it.
  std::string write(const LanguageModel& model, std::int64_t done_steps, std::int64_t kept_step,
                    std::string_view events) const;

 private:
  std::string title() const;

  const TrainConfig* config_;
  const Corpus* corpus_;
  const std::vector<Probe>* sentences_;
  page::Plan plan_;
  page::SnapshotSteps steps_;
  bool has_plan_event_ = false;
  std::vector<std::string> lines_;
};

/// The lines of a log. The last is left out if it has no end: the run was killed while it wrote
/// it.
std::vector<std::string> event_lines(std::string_view text);

}  // namespace fledge::train
