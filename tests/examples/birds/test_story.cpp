// The four parts put into words and into JSON: the numbers told are the numbers found.
#include "examples/birds/story.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

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
  const std::vector<std::pair<std::string, std::string>> blanks{
      {"birds sometimes", "walk"},
      {"birds sometimes walk", "slowly"},
      {"but birds are good at", "flying"}};
  REQUIRE(story.completed.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(story.completed[i].prompt == blanks[i].first);
    CHECK(story.completed[i].after.next == blanks[i].second);
    CHECK(story.completed[i].after.probability > 0.95);
  }
  REQUIRE(story.watched.size() == 4);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    const TextStory::Seen& seen = story.watched[i];
    const TextStory::Seen& control = story.watched[i + 1];
    const TextStory::Completed& blank = story.completed[i == 0 ? 1 : 2];
    CHECK(seen.pair.looks_at == "birds");
    CHECK(seen.after.attention > seen.before.attention + 0.3);
    CHECK(seen.after.association > seen.before.association);
    CHECK(control.after.attention < control.before.attention);
    CHECK(seen.effect.next == blank.after.next);
    CHECK(control.effect.next == blank.after.next);
    CHECK(seen.effect.visible == control.effect.visible);
    CHECK(seen.effect.hidden < seen.effect.visible * (i == 0 ? 0.1 : 0.9));
    CHECK(control.effect.hidden > control.effect.visible - 0.05);
    CHECK_THAT(seen.effect.visible, WithinAbs(blank.after.probability, 1e-5));  // by the decoder
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
  const ByHand by_hand = compute_by_hand();
  const StrictJson whole = strict_json(json(by_hand, experiments(), story_1(), failed));
  const auto check = [](const StrictJson& object, const std::map<std::string, double>& numbers) {
    for (const auto& [key, wanted] : numbers) {
      INFO(key);
      CHECK(static_cast<float>(object[key].number()) == static_cast<float>(wanted));
    }
  };
  const auto check_row = [](const StrictJson& row, const std::array<double, 3>& wanted) {
    REQUIRE(row.array().size() == 3);
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(static_cast<float>(row[j].number()) == static_cast<float>(wanted[j]));
  };
  check(whole["by_hand"], {{"before", by_hand.before},
                           {"association", by_hand.association},
                           {"row_sum", by_hand.row_sum},
                           {"normalised", by_hand.normalised},
                           {"as_labelled", by_hand.as_labelled}});
  check_row(whole["by_hand"]["v_hat"], by_hand.v_hat);
  REQUIRE(whole["learning"].array().size() == experiments().size());
  for (std::size_t i = 0; i < experiments().size(); ++i) {
    const Learned& experiment = experiments()[i];
    const StrictJson& found = whole["learning"][i];
    CHECK(found["learns"].string() == experiment.learns);
    CHECK(found["objective"].string() == (i == 3 || i == 4 ? "cosine" : "product"));
    check(found, {{"before", experiment.before.association},
                  {"after", experiment.after.association},
                  {"steps", static_cast<double>(experiment.steps)}});
    check_row(found["attention_before"], experiment.before.attention);
    check_row(found["attention"], experiment.after.attention);
    CHECK(found["ceiling"].is_null() == !experiment.ceiling.has_value());
    if (experiment.ceiling) check(found, {{"ceiling", *experiment.ceiling}});
  }
  const StrictJson& text = whole["text"];
  const TextStory& story = story_1();
  check(text, {{"sentences", 79},
               {"words", 78},
               {"loss_of_guessing", story.loss_of_guessing},
               {"least_loss", story.least_loss},
               {"loss_before", story.loss_before},
               {"loss", story.loss_after}});
  REQUIRE(text["watch"].array().size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const TextStory::Seen& seen = story.watched[i];
    const StrictJson& found = text["watch"][i];
    CHECK(found["sentence"].string() == seen.pair.sentence);
    CHECK(found["word"].string() == seen.pair.word);
    CHECK(found["looks_at"].string() == seen.pair.looks_at);
    CHECK(found["next"].string() == seen.effect.next);
    check(found, {{"attention_before", seen.before.attention},
                  {"attention_after", seen.after.attention},
                  {"association_before", seen.before.association},
                  {"association_after", seen.after.association},
                  {"p_visible", seen.effect.visible},
                  {"p_hidden", seen.effect.hidden}});
  }
  REQUIRE(text["completions"].array().size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const TextStory::Completed& completed = story.completed[i];
    const StrictJson& found = text["completions"][i];
    CHECK(found["prompt"].string() == completed.prompt);
    CHECK(found["next"].string() == completed.after.next);
    CHECK(found["next_before"].string() == completed.before.next);
    check(found, {{"probability", completed.after.probability},
                  {"probability_before", completed.before.probability}});
  }
  CHECK(whole["gradcheck"]["parameters"].number() == 3680);
  CHECK(whole["gradcheck"]["finite_difference"].is_null());
  CHECK(whole["gradcheck"]["dual"].number() == 1.5e-13);
  CHECK_FALSE(whole["gradcheck"]["ok"].boolean());
}
