// --page: part 3 as a page that trains the same model in front of the reader (examples/page/).
#pragma once

#include "examples/birds/story.h"
#include "examples/page/page_data.h"

namespace fledge::birds {

/// The built-in text and the settings of this story, so that the page takes its very steps.
page::Page live_page(const TextStory& story);

}  // namespace fledge::birds
