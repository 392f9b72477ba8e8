// The main job: in "birds sometimes walk", Q, K and V learn to make 'walk' look at 'birds'.
//
// Not here: the four parts, which are in examples/birds/. Reading order: by_hand.cpp, learning.cpp,
// text_model.cpp, check/check.cpp; story.cpp prints their results.
#include <cstdio>

#include "examples/birds/live_page.h"
#include "examples/birds/story.h"
#include "examples/page/engine/settings.h"
#include "examples/page/page_file.h"
#include "examples/support/options.h"

namespace {

namespace birds = fledge::birds;

void print(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  std::string page, book;
  std::uint64_t seed = 1;
  support::Options options("birds",
                           "Makes 'walk' look at 'birds': by hand, by learning, in a text.");
  options.add("--seed", "N", seed, "of the text model's weights and batches");
  options.add("--page", "FILE", page,
              "an HTML page in which the text model learns in front of you");
  options.add("--book", "FILE", book, "of --page: lessons, a line of JSON each (make page)");
  options.example("birds", "the story, in colour on a terminal");
  options.example("birds --seed 7", "another run of part 3");
  options.parse(argc, argv);
  if (!page.empty()) {
    if (seed > fledge::largest_seed)
      support::refuse_usage("a page has no seed above " + std::to_string(fledge::largest_seed),
                            "use a smaller --seed, or leave --page out");
    fledge::page::require_place(page);
  } else if (!book.empty()) {
    support::refuse_usage("--book needs --page", "name the file of the page too");
  }
  const std::vector<std::string> lessons = birds::read_book(book);
  const support::Paint paint{support::colour_wanted(stdout)};

  print(birds::introduction());
  print(words(birds::compute_by_hand(), paint));
  print(words(birds::learn_all(), paint));
  const birds::TextStory text = birds::tell_text(seed);
  print(words(text, paint));
  const report::ModelProof proof = report::check_model(text.state, seed);
  print(birds::words(proof, paint));
  if (!page.empty())
    for (const std::string& sentence :
         fledge::page::write_page(page, birds::live_page(text, lessons)))
      support::say(stderr, sentence);

  if (proof.differences.ok && proof.dual.ok) return 0;
  std::fprintf(stderr, "birds: %s\n",
               (proof.dual.ok ? proof.differences : proof.dual).text.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  return support::run_main("birds", [&] { return run(argc, argv); });
}
