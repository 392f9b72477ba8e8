// --page: a run as a page (examples/page/). Weights at some steps are events of the run, so a
// resumed run has those from before.
#pragma once

#include <string>
#include <string_view>

#include "examples/fledge/train/train_config.h"
#include "examples/page/page_data.h"

namespace fledge::train {

/// Throws CommandError unless the page of --page, if any, can be written. It may be in the folder
/// of the run, which is made with the run. It is no file of the run, no folder above it, and no
/// text that the run reads.
void require_page_place(const TrainConfig& config);

/// The page of a run. `model` has the weights of `kept_step`, which the page holds exactly; those
/// that `events`, the log, recorded are rounded to bf16. A text that is too long for a page is cut;
/// `why` says why the text is not that of the run, "" if it is. Throws FormatError, which names the
/// line, for an event that fledge does not write, and InputError for a model that is too large for
/// a page.
page::Page recorded_page(const RunConfig& run, const LanguageModel& model, std::string text,
                         const std::string& why, std::int64_t kept_step, std::string_view events);

}  // namespace fledge::train
