// --film: what is drawn is what the model computes.
#include "examples/fledge/train/film.h"

#include "examples/fledge/trained_model.h"
#include "examples/support/text.h"
#include "examples/support/token_label.h"
#include "tests/examples/fledge/training.h"

using namespace testing;
using fledge::train::Film;
using fledge::train::FilmFrame;

namespace {

const Words film{
    "--tokens", "word", "--watch", "walk:birds", "--film", "--probe", "birds sometimes walk"};

}  // namespace

TEST_CASE("--film: the last frame has the weights of the model that was saved") {
  const Desk desk;
  const Result result = trained(Words{desk.poems(), "-o", desk / "run", "--valid", "0"} + film);
  std::vector<StrictJson> frames;
  for (const StrictJson& event : json_lines(text_of(desk / "run/metrics.jsonl")))
    if (event["type"].string() == "film") frames.push_back(event);
  REQUIRE(frames.size() == 20);  // one for each of so few steps
  const fledge::TrainedModel saved = fledge::load_trained(desk / "run");
  const std::vector<fledge::Dim> ids = saved.tokenizer().encode("birds sometimes walk");
  const auto weights = saved.model.forward_with_weights(fledge::Indices({1, 3}, ids)).weights[0];
  const StrictJson& last = frames.back();
  CHECK(last["step"].number() == 20);
  CHECK(last["query"].number() == 2);
  CHECK(last["looks_at"].number() == 0);
  CHECK(last["control"].number() == 1);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      CHECK_THAT(last["attention"][i][j].number(),
                 WithinAbs(static_cast<double>(weights.value().at(
                               {0, 0, static_cast<fledge::Dim>(i), static_cast<fledge::Dim>(j)})),
                           1e-6));
  CHECK_THAT(result.err, ContainsSubstring(support::formatted("walk -> birds %.3f",
                                                              last["attention"][2][0].number())));
}

TEST_CASE("--film: the words of --watch, or the last and the first of the sentence") {
  const fledge::Tokenizer tokenizer(fledge::Tokens::word, "at birds good fly walk");
  const auto id = [&](const char* word) { return *tokenizer.find(word); };
  const auto event_of = [&](const std::vector<fledge::Dim>& ids, const char* a, const char* b) {
    const Film drawn({"", 0, ids, 0}, {{a, b, id(a), id(b)}}, tokenizer, 100);
    const std::size_t T = ids.size();
    const FilmFrame frame{1, std::vector<double>(T * T, 0.5), 0.5, 0.5};
    return strict_json(fledge::Json::object(drawn.event(frame)).text());
  };
  const StrictJson watched =
      event_of({id("birds"), id("good"), id("at"), id("fly")}, "at", "birds");
  CHECK(watched["query"].number() == 2);
  CHECK(watched["looks_at"].number() == 0);
  CHECK(watched["control"].number() == 1);
  const StrictJson other = event_of({id("good"), id("fly")}, "walk", "birds");
  CHECK(other["query"].number() == 1);
  CHECK(other["looks_at"].number() == 0);
  CHECK(other["control"].is_null());
}

TEST_CASE("--film --lines: the line end stands in front, as it does in training") {
  const Desk desk;
  const Words lines = Words{desk.poems(), "-o", desk / "run", "--lines"} + film;
  const Result result = trained(lines);
  CHECK_THAT(result.err, ContainsSubstring("Attention in 'birds sometimes walk'"));
  CHECK_THAT(result.err,
             ContainsSubstring(std::string(support::token_label("\n", false)) + " looks at "));
  CHECK_THAT(result.err, ContainsSubstring("even split 0.25"));
  const std::vector<StrictJson> all = json_lines(text_of(desk / "run/metrics.jsonl"));
  CHECK_THAT(result.err,
             ContainsSubstring(support::formatted(
                 "\nThe picture shows step 20; the model that is kept is from step %.0f.\n",
                 all.back()["model_step"].number())));
  std::size_t seen = 0;
  for (const StrictJson& event : json_lines(text_of(desk / "run/metrics.jsonl"))) {
    const std::string type = event["type"].string();
    if (type == "film") {
      ++seen;
      CHECK(event["query"].number() == 3);
      CHECK(event["looks_at"].number() == 1);
      CHECK(event["control"].number() == 2);
    }
    if (type == "probe") {
      ++seen;
      CHECK(event["attention"]["tokens"][0].string() == "\n");
      CHECK(event["attention"]["tokens"].array().size() == 4);
    }
  }
  CHECK(seen == 21);
}

TEST_CASE("--film: sixty frames, and the first and the last step") {
  const fledge::Tokenizer tokenizer(fledge::Tokens::word, "birds walk");
  const Film drawn({"", 0, {0, 1}, 0}, {}, tokenizer, 6001);
  int frames = 0;
  for (int step = 1; step <= 6001; ++step) frames += drawn.has_frame(step) ? 1 : 0;
  CHECK(frames == 62);
  CHECK(drawn.picture(80, false, {}).empty());
}

TEST_CASE("--film: redrawn in place on a terminal; a sentence is needed") {
  const Desk desk;
  Words line = Words{"train", desk.poems(), "--no-save", "--pace", "40"} + film + tiny;
  const Result shown = run_on_terminal(with_program(line));
  CHECK(shown.status == 0);
  CHECK_THAT(shown.out, ContainsSubstring("A\r\x1b[J"));
  CHECK_THAT(shown.out, ContainsSubstring("even split 0.33"));
  CHECK(run(with_program(Words{"train", desk.poems(), "--film", "--no-save"} + tiny)).status == 2);
  CHECK(
      run(with_program(Words{"train", desk.poems(), "--film", "--no-save", "--probe", "a"} + tiny))
          .status == 3);
}

TEST_CASE(
    "--film: without a mask a frame has the weights on later words, and an even split of 1/T") {
  const Desk desk;
  const Words without = Words{desk.poems(), "-o", desk / "run", "--without", "mask"} + film;
  const Result result = trained(without);
  CHECK_THAT(result.err, ContainsSubstring("birds looks at"));
  CHECK_THAT(result.err, ContainsSubstring("(even split 0.33)"));
  CHECK_THAT(result.err, !ContainsSubstring("(even split 0.50)"));
  std::vector<StrictJson> frames;
  for (const StrictJson& event : json_lines(text_of(desk / "run/metrics.jsonl")))
    if (event["type"].string() == "film") frames.push_back(event);
  const StrictJson& last = frames.back();
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 3; ++j) sum += last["attention"][i][j].number();
    CHECK_THAT(sum, WithinAbs(1, 1e-5));
    CHECK(last["attention"][i][2].number() > 0);
  }
}
