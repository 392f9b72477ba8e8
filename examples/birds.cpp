// The main job: in "birds sometimes walk", Q, K and V learn to make 'walk' look at 'birds'.
//
// Not here: the four parts, which are in examples/birds/. Reading order: by_hand.cpp, learning.cpp,
// text_model.cpp, check/check.cpp; story.cpp prints their results.
#include <cstdio>

#include "examples/birds/page_recorder.h"
#include "examples/birds/story.h"
#include "examples/page/page_file.h"
#include "examples/support/options.h"
#include "examples/support/run_main.h"

namespace {

namespace birds = fledge::birds;

void print(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  bool as_json = false;
  std::string page;
  std::uint64_t seed = 1;
  support::Options options("birds",
                           "Makes 'walk' look at 'birds': by hand, by learning, in a text.");
  options.add("--json", "", as_json, "one object on stdout instead of the story");
  options.add("--seed", "N", seed, "of the text model's weights and batches");
  options.add("--page", "FILE", page, "an HTML page that shows how the text model learned");
  options.example("birds", "the story, in colour on a terminal");
  options.example("birds --json --seed 7", "its numbers");
  options.parse(argc, argv);
  if (!page.empty()) support::require_place(page, fledge::page::page_kind);
  const support::Paint paint{!as_json && support::colour_wanted(stdout)};

  if (!as_json) print(birds::introduction());
  const birds::ByHand by_hand = birds::compute_by_hand();
  if (!as_json) print(words(by_hand, paint));
  const std::vector<birds::Learned> learning = birds::learn_all();
  if (!as_json) print(words(learning, paint));
  birds::PageRecorder recorder;
  const birds::TextStory text = birds::tell_text(seed, page.empty() ? nullptr : &recorder);
  if (!as_json) print(words(text, paint));
  const report::ModelProof proof = report::check_model(text.state, seed);
  if (!as_json) print(birds::words(proof, paint));
  if (as_json) print(json(by_hand, learning, text, proof));
  if (!page.empty()) support::write_output(page, recorder.file(), fledge::page::page_kind);

  if (proof.differences.ok && proof.dual.ok) return 0;
  std::fprintf(stderr, "birds: %s\n",
               (proof.dual.ok ? proof.differences : proof.dual).text.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  return support::run_main("birds", [&] { return run(argc, argv); });
}
