// What a page shows of a snapshot: the numbers of its event, checked, and as many as there is room for.
#pragma once

#include <string>
#include <string_view>

#include "examples/page/map_axes.h"
#include "nn/io/json.h"
#include "nn/io/json_reader.h"

namespace fledge::page {

/// How much of the snapshots is shown.
struct Detail {
  bool even_steps = true, all_vectors = true, first_vectors = true;
  std::size_t sentences = 1000;
};

/// event: as snapshot_event() makes it. The vectors of the map are shown along the axes. Throws
/// FormatError for an event of another form.
Json shown_snapshot(const JsonValue& event, const Axes& axes, const Detail& detail, bool is_last);

/// A line end in front is left out; others are shown.
std::string visible_line_ends(std::string_view text);

}  // namespace fledge::page
