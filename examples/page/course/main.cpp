// The page of the course: the triangle, the text model while it learns, and the broken models.
#include <cmath>
#include <cstdio>

#include "examples/birds/by_hand.h"
#include "examples/birds/learning.h"
#include "examples/birds/page_recorder.h"
#include "examples/birds/story.h"
#include "examples/lessons/attention/variants.h"
#include "examples/page/page_file.h"
#include "examples/support/options.h"
#include "examples/support/run_main.h"
#include "nn/inspect/ngram_losses.h"

namespace fledge {

namespace {

using birds::Objective;

/// The rows of A, or of V.
std::vector<std::vector<double>> rows_of(const Array& table) {
  const std::vector<double> numbers = to_vector(table);
  const auto C = table.dim(1);
  std::vector<std::vector<double>> rows;
  for (auto row = numbers.begin(); row != numbers.end(); row += C) rows.emplace_back(row, row + C);
  return rows;
}

/// Numbers with four digits: a page draws them.
double rounded(double number) { return std::round(1e4 * number) / 1e4; }

/// At most 60 rows of the path: the first, the last, and others evenly spaced.
Json way_json(const birds::Learned& way) {
  std::vector<std::vector<double>> rows;
  std::vector<double> goals;
  const std::size_t every = std::max<std::size_t>(1, way.path.size() / 60);
  for (std::size_t step = 0; step < way.path.size(); ++step) {
    if (step % every != 0 && step + 1 != way.path.size()) continue;
    const auto& [a, b, c] = way.path[step].attention;
    rows.push_back({rounded(a), rounded(b), rounded(c)});
    goals.push_back(rounded(way.path[step].association));
  }
  return Json::object({{"learns", way.learns},
                       {"rate", way.rate},
                       {"steps", way.steps},
                       {"rows", rows},
                       {"goals", goals}});
}

Json triangle_json() {
  std::vector<Json> ways;
  for (const char* learns : {"Q", "K", "Q and K", "V", "Q, K and V"})
    ways.push_back(way_json(birds::learn(learns, Objective::product)));
  return Json::object(
      {{"words", std::vector<std::string>{"birds", "sometimes", "walk"}},
       {"vectors", rows_of(birds::word_vectors())},
       {"hand_row", rows_of(birds::hand_set_attention())[2]},
       {"ceiling", birds::product_ceiling()},
       {"ways", ways},
       {"sources", Json::object({{"products", "examples/birds/by_hand.cpp, compute_by_hand"},
                                 {"ways", "examples/birds/learning.cpp, learn"}})}});
}

Json variants_json(const Corpus& text) {
  std::vector<Json> rows;
  for (const variants::Broken& broken : variants::all_variants()) {
    const variants::Outcome found = variants::mean_outcome(text, broken.recipe);
    const bool looks = broken.recipe.heads != Heads::none;
    rows.push_back(Json::object({{"name", broken.name},
                                 {"loss", rounded(found.loss)},
                                 {"attention", looks ? Json(rounded(found.attention)) : Json()},
                                 {"slowly", found.slowly},
                                 {"flying", found.flying}}));
  }
  return Json::object({{"seeds", variants::seeds},
                       {"floor", least_loss(text.train)},
                       {"rows", rows},
                       {"source", "examples/lessons/attention/variants.h, mean_outcome"}});
}

int run(int argc, char** argv) {
  std::string out = "fledge.html";
  support::Options options("course_page", "Writes the page of the course.");
  options.add("-o, --out", "FILE", out, "the file of the page");
  options.parse(argc, argv);
  support::require_place(out, page::page_kind);
  birds::PageRecorder recorder;
  birds::tell_text(1, &recorder);
  const Json data = Json::object({{"kind", "course"},
                                  {"run", recorder.data().data},
                                  {"triangle", triangle_json()},
                                  {"variants", variants_json(birds::read_text())}});
  support::write_output(out,
                        page::page_file("Birds sometimes walk: how attention is learned", data),
                        page::page_kind);
  return 0;
}

}  // namespace

}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_main("course_page", [&] { return fledge::run(argc, argv); });
}
