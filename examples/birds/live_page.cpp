#include "examples/birds/live_page.h"

#include "examples/page/engine/settings.h"
#include "examples/support/built_in_text.h"
#include "nn/io/files.h"

namespace fledge::birds {

std::vector<std::string> read_book(const std::string& path) {
  std::vector<std::string> book;
  if (path.empty()) return book;
  const std::string text = read_file(path);
  for (const std::string_view line : lines_of(text)) {
    book.emplace_back(line);
    try {
      const JsonValue lesson = read_json(book.back());
      for (const char* key : {"name", "title", "question"}) lesson[key].string();
    } catch (const FormatError& error) {
      throw FormatError(path + ", lesson " + std::to_string(book.size()) + ": " + error.what());
    }
  }
  return book;
}

page::Page live_page(const TextStory& story, const std::vector<std::string>& book) {
  page::Page page;
  page.title = "Where does \u201cwalk\u201d look?";
  page.text = support::built_in_text();
  page.settings =
      settings_json({reading_options, model_sizes(read_text()), training_options(story.seed)}, "");
  page.story = {
      .title = page.title,
      .lede =
          "Birds walk slowly, cats walk quietly. To guess the next word, a model must look back. "
          "Nobody tells it where. Watch it find out.",
      .sentence = watches()[0].sentence,
      .told =
          "It begins with random numbers, looks everywhere, and says anything at all. After a "
          "hundred small steps it knows which words may follow \u201cwalk\u201d, but not whose "
          "walk it is. Then it turns to the animal.",
      .pairs = {{"birds", "cats"}}};
  page.book = book;
  const TextStory::Completed& said = story.completed.at(1);  // of the same sentence
  page.look = {{"start", "birds", "sometimes", "walk"},
               {story.pattern_after.end() - 4, story.pattern_after.end()},
               said.after.next,
               said.after.probability};
  return page;
}

}  // namespace fledge::birds
