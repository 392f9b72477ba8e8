// The four parts put into words and into JSON: the numbers told are the numbers found.
#include "examples/birds/story.h"

#include <algorithm>
#include <limits>

#include "examples/support/text.h"
#include "nn/text/batches.h"
#include "nn/train/trainer.h"
#include "tests/examples/birds/command.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::birds;
using namespace testing;

namespace {

constexpr support::Paint plain{false}, colours{true};

const TextStory& story_1() {
  static const TextStory story = tell_text(1);
  return story;
}

/// The text with one blank between words, wherever its lines end.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
  text.erase(std::unique(text.begin(), text.end(), both_blank), text.end());
  return text;
}

const report::ModelProof proved{{3680, 8.5e-10, true, "ok"}, {3680, 1.5e-13, true, "ok"}};

const std::vector<Learned>& experiments() {
  static const std::vector<Learned> all = learn_all();
  return all;
}

}  // namespace

TEST_CASE("birds story: seed 1 completes with walk, slowly and flying, looking at birds") {
  const TextStory& story = story_1();
  REQUIRE(story.completed.size() == 3);
  CHECK(story.completed[0].prompt == "birds sometimes");
  CHECK(story.completed[0].after.next == "walk");
  CHECK(story.completed[0].after.probability > 0.95);
  CHECK(story.completed[1].prompt == "birds sometimes walk");
  CHECK(story.completed[1].after.next == "slowly");
  CHECK(story.completed[1].after.probability > 0.95);
  CHECK(story.completed[2].prompt == "but birds are good at");
  CHECK(story.completed[2].after.next == "flying");
  CHECK(story.completed[2].after.probability > 0.95);
  CHECK(story.completed[0].before.probability < 0.1);
  REQUIRE(story.watched.size() == 4);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    const TextStory::Seen& seen = story.watched[i];
    const TextStory::Seen& control = story.watched[i + 1];
    CHECK(seen.pair.looks_at == "birds");
    CHECK(seen.after.attention > seen.before.attention + 0.3);
    CHECK(seen.after.association > seen.before.association);
    CHECK(control.after.attention < control.before.attention);
    CHECK(seen.effect.next == (i == 0 ? "slowly" : "flying"));
    CHECK(seen.effect.visible == control.effect.visible);
    CHECK(seen.effect.hidden < seen.effect.visible * (i == 0 ? 0.1 : 0.9));
    CHECK(control.effect.hidden > control.effect.visible - 0.05);
    // The blank's own probability, computed by the decoder.
    CHECK_THAT(seen.effect.visible,
               WithinAbs(story.completed[i == 0 ? 1 : 2].after.probability, 1e-5));
  }
  // Row 3 and column 1 of 4: walk and birds, behind the line end.
  CHECK(story.pattern_after[13] == story.watched[0].after.attention);
  CHECK(story.pattern_before[13] == story.watched[0].before.attention);
}

TEST_CASE("birds story: told twice it is the same, and another seed tells another") {
  const TextStory again = tell_text(1), other = tell_text(2);
  CHECK(again.state.parameters == story_1().state.parameters);
  CHECK(words(again, plain) == words(story_1(), plain));
  CHECK(words(other, plain) != words(story_1(), plain));
}

TEST_CASE("birds story: the state is the whole model, with the two sentences of its check") {
  const report::ModelState& state = story_1().state;
  std::size_t count = 0;
  for (const auto& tensor : state.parameters) count += tensor.size();
  CHECK(count == static_cast<std::size_t>(story_1().parameters));
  CHECK(state.vocabulary == story_1().vocabulary);
  CHECK(state.batch == 2);
  CHECK(state.time == 10);
  CHECK(state.ids.size() == 20);
  CHECK(state.targets.size() == 20);
  CHECK(std::count(state.targets.begin(), state.targets.end(), no_target) == 2);
}

TEST_CASE("birds story: the example's numbers, and what is off in them") {
  const std::string text = words(compute_by_hand(), plain);
  CHECK(text.starts_with("1. By hand: 'birds sometimes walk'\n"));
  for (const char* part : {"v3 . v1 = -0.09 ", "= (0.18, 0.11, 0.01) ", "= 0.043 ",
                           "sums to 1.1, but", "the product is 0.0391.", "v3'.v3 is 0.075."})
    CHECK_THAT(one_line(text), ContainsSubstring(part));
}

TEST_CASE("birds story: the experiments, each on its line") {
  const std::string text = words(experiments(), plain);
  CHECK(text.starts_with("2. Learning on those three vectors\n"));
  for (const char* part :
       {"   At first 'walk' looks at 'birds' 0.31, 'sometimes' 0.26 and 'walk' 0.42.\n",
        "   Q           product  -0.0072   0.1338      95.6 % ",
        "   K           product  -0.0072   0.1338      95.6 % ",
        "   Q and K     product  -0.0072   0.1399      99.9 % ",
        "   V           cosine   -0.1321   1.0000     100.0 % ",
        "   Q, K and V  cosine   -0.1321   1.0000     100.0 % ",
        "   Q, K and V  product  -0.0072   2.1129  no ceiling "})
    CHECK_THAT(text, ContainsSubstring(part));
  CHECK_THAT(one_line(text),
             ContainsSubstring("the product rose although 'walk' ignores 'birds': a large product "
                               "does not prove attention."));
}

TEST_CASE("birds story: the text's sizes, its three completions and a map before and after") {
  const std::string text = words(story_1(), plain);
  CHECK(
      text.starts_with("3. On a text: to predict the next word, the model must look at 'birds'\n"));
  for (const char* part :
       {"79 sentences of 78 different words.", "3680 numbers", "has ln 79 = 4.37.",
        "can have less than 0.56 on average", "next word if hidden"})
    CHECK_THAT(one_line(text), ContainsSubstring(part));
  CHECK_THAT(text, ContainsSubstring("after: walk "));
  CHECK_THAT(text, ContainsSubstring("after: slowly "));
  CHECK_THAT(text, ContainsSubstring("after: flying "));
  const std::size_t maps =
      text.find("\n   before training                         after training\n");
  REQUIRE(maps != text.npos);
  const std::vector<std::string> lines = lines_of(text.substr(maps + 1));
  REQUIRE(lines.size() == 11);
  for (std::size_t row = 2; row < 6; ++row) {  // the same word on the left of both maps
    const std::string word = lines[row].substr(0, 6);
    CHECK(lines[row].find(word, 6) != std::string::npos);
  }
  CHECK_THAT(lines[10], StartsWith("walk looks at birds 0.9"));
}

TEST_CASE("birds story: the introduction is two sentences without a number") {
  const std::string text = introduction();
  CHECK(std::count(text.begin(), text.end(), '.') == 2);
  for (const char digit : std::string("0123456789")) CHECK(text.find(digit) == text.npos);
  for (const std::string& line : lines_of(text)) CHECK(support::display_width(line) <= 80);
}

TEST_CASE("birds story: the printed losses are the mean over the text, above the least") {
  const Corpus corpus = read_text();
  const LanguageModel model = new_model(corpus, 1);
  CHECK(story_1().loss_before == mean_loss(model, corpus.train, 5));
  birds::train(model, corpus, 1);
  CHECK(story_1().loss_after == mean_loss(model, corpus.train, 5));
  CHECK(story_1().loss_after > story_1().least_loss);
  CHECK_THAT(one_line(words(story_1(), plain)),
             ContainsSubstring(support::formatted("from %.2f to %.2f nats", story_1().loss_before,
                                                  story_1().loss_after)));
}

// test_seeds.cpp checks that the sentence is true.
TEST_CASE("birds story: the seed of the run, and the count of seeds that test_seeds.cpp checks") {
  const std::string count = std::to_string(seed_count.fulfil),
                    tested = std::to_string(seed_count.tested);
  CHECK_THAT(one_line(words(story_1(), plain)),
             ContainsSubstring("This run has seed 1. With " + count + " of the seeds 1 to " +
                               tested + ", 'walk' looks at 'birds' more"));
  TextStory other = story_1();
  other.seed = 7;
  CHECK_THAT(one_line(words(other, plain)), ContainsSubstring("This run has seed 7. "));
}

TEST_CASE("birds story: a proof says ok twice, and a failure says what failed") {
  const std::string good = words(proved, plain);
  CHECK_THAT(good, ContainsSubstring("every parameter: 3680, largest error 8.5e-10  ok\n"));
  CHECK_THAT(good, ContainsSubstring("every parameter: 3680, largest error 1.5e-13  ok\n"));
  report::ModelProof failed = proved;
  failed.dual = {3680, 0.5, false, "half of wte.weight [1, 2] is missing"};
  CHECK_THAT(one_line(words(failed, plain)),
             ContainsSubstring("5.0e-01 FAIL: half of wte.weight [1, 2] is missing "));
}

TEST_CASE("birds story: colours change no word, and no line is wider than 80 columns") {
  const auto compare = [](const auto& part) {
    const std::string text = words(part, plain);
    CHECK(text.find('\x1b') == text.npos);
    CHECK(text.back() == '\n');
    for (const std::string& line : lines_of(text)) CHECK(support::display_width(line) <= 80);
    const std::string painted = words(part, colours);
    CHECK(painted != text);
    CHECK(without_colours(painted) == text);
  };
  compare(compute_by_hand());
  compare(experiments());
  compare(story_1());
  compare(proved);
}

TEST_CASE("birds story: JSON holds what was found, and null where there is nothing") {
  report::ModelProof failed = proved;
  failed.differences.ok = false;
  failed.differences.max_error = std::numeric_limits<double>::quiet_NaN();
  const StrictJson whole = strict_json(json(compute_by_hand(), experiments(), story_1(), failed));
  CHECK(whole["gradcheck"]["finite_difference"].is_null());
  CHECK(whole["gradcheck"]["dual"].number() == 1.5e-13);
  CHECK_FALSE(whole["gradcheck"]["ok"].boolean());
  for (std::size_t i = 0; i < experiments().size(); ++i) {
    const Learned& experiment = experiments()[i];
    const StrictJson& found = whole["learning"][i];
    CHECK(static_cast<float>(found["after"].number()) ==
          static_cast<float>(experiment.after.association));
    CHECK(found["ceiling"].is_null() == !experiment.ceiling.has_value());
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(static_cast<float>(found["attention"][j].number()) ==
            static_cast<float>(experiment.after.attention[j]));
  }
  const StrictJson& seen = whole["text"]["watch"][2];
  CHECK(seen["word"].string() == "at");
  CHECK(static_cast<float>(seen["association_after"].number()) ==
        static_cast<float>(story_1().watched[2].after.association));
  CHECK(seen["next"].string() == "flying");
  CHECK(static_cast<float>(seen["p_visible"].number()) ==
        static_cast<float>(story_1().watched[2].effect.visible));
  CHECK(static_cast<float>(seen["p_hidden"].number()) ==
        static_cast<float>(story_1().watched[2].effect.hidden));
  CHECK(static_cast<float>(whole["text"]["loss"].number()) ==
        static_cast<float>(story_1().loss_after));
}
