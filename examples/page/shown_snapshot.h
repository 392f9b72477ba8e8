// What a page shows of a snapshot: the numbers of its event, checked, and as many as there is room for.
#pragma once

#include <string>
#include <string_view>

#include "examples/page/map_axes.h"
#include "examples/page/plan.h"
#include "nn/gpt/language_model.h"
#include "nn/io/json.h"

namespace fledge::page {

/// How much of the snapshots is shown.
struct Detail {
  bool kept_alone = false, even_steps = true, all_vectors = true, first_vectors = true;
  std::size_t sentences = 1000;
};

/// What the events of a run belong to.
struct Recorded {
  const LanguageModel* model;
  const Plan* plan;
  const Axes* axes;  // of the map
};

/// event: as snapshot_event() makes it. `kept_watch` is not null for the model that the run kept: the
/// event that has its watched pairs. Throws FormatError for an event that is not of this model and
/// plan.
Json shown_snapshot(const JsonValue& event, const Recorded& of, const Detail& detail,
                    const JsonValue* kept_watch);

/// The most terminal columns of a token's label.
inline constexpr int most_columns = 40;

/// A text of the model or of the user, at most 200 columns. A line end in front is left out; others
/// are shown.
std::string shown_text(std::string_view text);

}  // namespace fledge::page
