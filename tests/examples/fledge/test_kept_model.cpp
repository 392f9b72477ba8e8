// The report at the end of a run is about the model that is kept, which may not be the last.
#include <cstdlib>

#include "examples/fledge/trained_model.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/generate/sampler.h"
#include "nn/text/corpus.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

std::string first_number(const std::string& text, const std::string& before) {
  const std::size_t begin = text.find(before) + before.size();
  return text.find(before) == text.npos ? "none" : first_word(text.substr(begin));
}

}  // namespace

TEST_CASE("fledge train: the last report is about the model that is kept, and eval agrees") {
  const Desk desk;
  const std::string run = desk / "run";
  const Result result = fledge_says(  // a rate that is too high: the best is not the last
      {"train",     desk.poems(), "-o",       run,   "--eval-every", "1",  "--lr",    "3",
       "--warmup",  "0",          "--layers", "1",   "--width",      "16", "--heads", "1",
       "--context", "16",         "--steps",  "200", "--patience",   "2",  "--json"});
  CHECK(result.status == 0);
  const StrictJson end = json_lines(result.out).back();
  REQUIRE(end["model_step"].number() < end["step"].number());
  CHECK(end["best_held_out_loss"].number() < end["held_out_loss"].number());
  const std::string step = std::to_string(static_cast<int>(end["model_step"].number()));
  CHECK_THAT(result.err, ContainsSubstring(" at step " + step + ". These weights are saved in"));
  CHECK_THAT(result.err, ContainsSubstring("weights of the last step score "));
  CHECK_THAT(result.err, !ContainsSubstring("--resume"));  // more steps would not help

  const std::string loss = first_number(result.err, "Held-out loss ");
  for (const char* batch : {"1", "5", "12", "100"}) {
    CHECK(first_number(fledge_says({"eval", run, "--batch", batch}).out, "Held-out loss ") == loss);
    const StrictJson eval = strict_json(fledge_says({"eval", run, "--batch", batch, "--json"}).out);
    CHECK(eval["loss"].number() == end["best_held_out_loss"].number());
  }
  for (const std::string& line : lines_of(result.err))
    if (line.starts_with("  counting table, ")) {
      const std::string table = line.substr(line.find_first_of("0123456789", 40));
      const bool beaten = std::strtod(loss.c_str(), nullptr) < std::strtod(table.c_str(), nullptr);
      CHECK(line.ends_with(beaten ? "  beaten" : "not beaten"));
    }

  const std::vector<StrictJson> events = json_lines(log_of(run));
  const fledge::LanguageModel model = fledge::load_trained(run).model;
  const fledge::Corpus corpus = fledge::read_corpus(text_of(desk.poems()), {});
  for (std::int64_t i = 1; i <= 3; ++i) {
    fledge::Rng rng = fledge::Rng(1).stream(3).stream(static_cast<std::uint64_t>(-i));
    fledge::Decoder decoder(model);
    std::vector<fledge::Dim> drawn;
    generate(decoder, {corpus.train.tokens.front()}, 200, {}, rng,
             [&](fledge::Dim id, const fledge::Array&) {
               drawn.push_back(id);
               return true;
             });
    CHECK(events[events.size() - 5 + static_cast<std::size_t>(i)]["text"].string() ==
          corpus.tokenizer.decode(drawn));
  }
}

TEST_CASE("fledge train: where nothing is held out, the last model is the one that is kept") {
  const Desk desk;
  const Result result = trained({desk.poems(), "-o", desk / "run", "--valid", "0", "--json"});
  CHECK(json_lines(result.out).back()["model_step"].number() == 20);
  CHECK_THAT(result.err, ContainsSubstring("\nTraining loss ") &&
                             ContainsSubstring("\nThe weights of step 20 are saved in "));
}
