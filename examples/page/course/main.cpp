// The page of the course: the text model that learns in front of the reader, the lessons as a book,
// and the numbers of their triangle.
#include <cmath>
#include <cstdio>

#include "examples/birds/by_hand.h"
#include "examples/birds/learning.h"
#include "examples/birds/live_page.h"
#include "examples/page/page_file.h"
#include "examples/support/options.h"
#include "examples/support/run_main.h"
#include "nn/io/files.h"

namespace fledge {

namespace {

using birds::Objective;

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
  std::vector<Json> ways, vectors;
  const std::vector<double> numbers = to_vector(birds::word_vectors());
  for (auto word = numbers.begin(); word != numbers.end(); word += 3)
    vectors.emplace_back(std::vector<double>(word, word + 3));
  for (const char* learns : {"Q", "K", "Q and K", "V", "Q, K and V"})
    ways.push_back(way_json(birds::learn(learns, Objective::product)));
  return Json::object({{"words", std::vector<std::string>{"birds", "sometimes", "walk"}},
                       {"vectors", vectors},
                       {"ceiling", birds::product_ceiling()},
                       {"ways", ways}});
}

/// The JSON of a lesson, as --json FILE of its program writes it.
std::string read_lesson(const std::string& path) {
  std::string text = read_file(path);
  try {
    const JsonValue lesson = read_json(text);
    for (const char* key : {"name", "title", "question"}) lesson[key].string();
  } catch (const FormatError& error) {
    throw FormatError(path + ": " + error.what());
  }
  return text;
}

int run(int argc, char** argv) {
  std::string out = "fledge.html";
  support::Options options("course_page", "Writes the page of the course.");
  options.add("-o, --out", "FILE", out, "the file of the page");
  options.arguments("LESSON.json", 0, 1000);
  options.parse(argc, argv);
  page::require_place(out);
  page::Page page = birds::live_page(birds::tell_text(1));
  page.triangle = triangle_json();
  for (const std::string& path : options.arguments()) page.book.push_back(read_lesson(path));
  for (const std::string& sentence : page::write_page(out, page)) support::say(stderr, sentence);
  return 0;
}

}  // namespace

}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_main("course_page", [&] { return fledge::run(argc, argv); });
}
