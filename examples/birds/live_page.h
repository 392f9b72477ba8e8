// --page: part 3 as a page that trains the same model in front of the reader (examples/page/).
#pragma once

#include "examples/birds/story.h"
#include "examples/page/page_data.h"

namespace fledge::birds {

/// The lessons of a file, a line of JSON each, as --json FILE of a lesson writes it. None if `path` is
/// "". Throws FormatError, which names the file, for a line that is no lesson.
std::vector<std::string> read_book(const std::string& path);
/// The built-in text and the settings of this story, so that the page takes its very steps, and the
/// lessons of a book.
page::Page live_page(const TextStory& story, const std::vector<std::string>& book);

}  // namespace fledge::birds
