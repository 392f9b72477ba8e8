// The text, its model and the story: training depends on the seed alone, the numbers told are the
// numbers found. Q, K and V on three vectors: how far they can raise an association. The words
// themselves, and the numbers at the end of each experiment, stand in examples/birds/README.md.
#include "examples/birds/story.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/autograd.h"
#include "examples/support/built_in_text.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/inspect/probes.h"
#include "nn/train/trainer.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/arrays.h"
#include "tests/support/refuses.h"

using namespace fledge;
using namespace fledge::birds;
using namespace testing;

namespace {

constexpr support::Paint plain{false}, colours{true};

const TextStory& story_1() {
  static const TextStory story = tell_text(1);
  return story;
}

const Corpus& the_text() {
  static const Corpus text = read_text();
  return text;
}

struct Trained {
  LanguageModel model;
  std::vector<double> losses;

  explicit Trained(std::uint64_t seed, const Recipe& recipe = {})
      : model(new_model(the_text(), seed, recipe)), losses(birds::train(model, the_text(), seed)) {}
};

const Trained& trained_1() {
  static const Trained result(1);
  return result;
}

}  // namespace

TEST_CASE("built-in text: sixty sentences or more, each once, a line of words and a full stop") {
  CHECK(support::built_in_text().starts_with("birds sometimes walk slowly .\n"));
  const auto sentences = fledge::lines_of(support::built_in_text());
  CHECK(sentences.size() >= 60);
  CHECK(std::set<std::string_view>(sentences.begin(), sentences.end()).size() == sentences.size());
  for (const std::string_view sentence : sentences) {
    CAPTURE(sentence);
    CHECK(sentence.ends_with(" ."));
    CHECK(std::count(sentence.begin(), sentence.end(), '.') == 1);
    CHECK(std::count(sentence.begin(), sentence.end(), ' ') >= 3);
    CHECK(sentence.find("  ") == sentence.npos);
    CHECK(sentence.front() != ' ');
    CHECK(sentence.find_first_not_of("abcdefghijklmnopqrstuvwxyz .") == sentence.npos);
  }
}

TEST_CASE("birds text: all sentences of the built-in text; what is not there is refused") {
  const Corpus& text = the_text();
  CHECK(text.train.documents() == 79);
  CHECK(text.tokenizer.decode(text.train.tokens) == "\n" + std::string(support::built_in_text()));
  CHECK(text.valid.tokens.empty());
  CHECK(text.tokenizer.size() == 79);  // 78 words and the line end
  const std::vector<Dim> tokens = beginning(text, "birds sometimes");
  CHECK(text.tokenizer.decode(tokens) == "\nbirds sometimes");
  const Indices row = beginning_row(text, "birds sometimes");
  CHECK(row.shape() == Shape{1, 3});
  for (Dim i = 0; i < 3; ++i) CHECK(row[i] == tokens[static_cast<std::size_t>(i)]);
  const LanguageModel& model = trained_1().model;
  CHECK_THAT(tests::refusal<UnknownSymbol>([&] { complete(model, text, "birds zebras"); }),
             ContainsSubstring("'zebras'"));
  for (const std::string word : {"sing", "zebras"})
    CHECK(tests::refusal<ValueError>([&] {
            watch(model, text, {"birds sometimes walk", word, "birds"});
          }) == "watch: '" + word + "' is not in 'birds sometimes walk'");
}

TEST_CASE("birds text model: one layer, one head, a context as long as the longest sentence") {
  const LanguageModelSizes sizes = model_sizes(the_text());
  CHECK((sizes.layers == 1 && sizes.heads == 1 && sizes.vocabulary == the_text().tokenizer.size()));
  std::size_t longest = 0;  // predictions of a sentence: one after each token but the last
  const std::vector<std::size_t>& starts = the_text().train.starts;
  for (std::size_t d = 0; d + 1 < starts.size(); ++d)
    longest = std::max(longest, starts[d + 1] - starts[d]);
  CHECK(sizes.context == static_cast<Dim>(longest));
}

TEST_CASE("birds text model: the same seed gives the same bits; a recipe differs alone") {
  const Trained again(1), other(2);
  CHECK(again.losses == trained_1().losses);
  CHECK(other.losses != trained_1().losses);
  const LanguageModel model = new_model(the_text(), 1);  // the seed decides the batches too
  CHECK(birds::train(model, the_text(), 2) != trained_1().losses);
  const std::vector<Tensor> p = parameters(trained_1().model), q = parameters(again.model);
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(tests::same_bits(q.at(i).value(), p[i].value()));
  CHECK(Trained(1, {.mask = Masking::none}).losses.back() < 0.1 * story_1().least_loss);
  CHECK(Trained(1, {.heads = Heads::none}).losses.back() > trained_1().losses.back() + 0.1);
}

TEST_CASE("birds text model: from guessing to the least loss there is, and never below") {
  const std::vector<double>& losses = trained_1().losses;
  REQUIRE(losses.size() == 500);
  CHECK_THAT(losses.front(), WithinAbs(std::log(79.0), 0.1));
  const TextStory& story = story_1();
  CHECK(story.losses == losses);
  CHECK(story.least_loss == least_loss(the_text().train));
  CHECK(story.loss_before == mean_loss(new_model(the_text(), 1), the_text().train, 5));
  CHECK(story.loss_after == mean_loss(trained_1().model, the_text().train, 5));
  CHECK(story.loss_after > story.least_loss);  // less would mean that a later word was seen
  CHECK(story.loss_after < story.least_loss + 0.05);
}

TEST_CASE("birds text model: the most likely word, its share of the softmax, and where it looks") {
  const LanguageModel& model = trained_1().model;
  const NoGrad no_grad;
  const Indices row = beginning_row(the_text(), "but birds are good at");
  const std::vector<double> logits = to_vector(model(row).value());
  const std::vector<double> last(logits.end() - the_text().tokenizer.size(), logits.end());
  const auto best = std::max_element(last.begin(), last.end());
  double sum = 0;
  for (const double logit : last) sum += std::exp(logit - *best);
  const Completion found = complete(model, the_text(), "but birds are good at");
  CHECK(found.next == the_text().tokenizer.decode({best - last.begin()}));
  CHECK_THAT(found.probability, WithinAbs(1 / sum, 1e-5));

  // Behind the line end: 'but' 1, 'birds' 2, 'good' 4, 'at' 5.
  const auto pattern = attention_pattern(model, the_text(), "but birds are good at");
  const FirstLook look = first_look(model, row);
  for (const auto& [word, column] : {std::pair{"birds", Dim{2}}, {"good", Dim{4}}}) {
    const Watched at = watch(model, the_text(), {"but birds are good at", "at", word});
    CHECK(at.attention == pattern.at(static_cast<std::size_t>(5 * 6 + column)));
    CHECK(at.association == look.association(0, 5, column));
  }
  // Nothing that comes later changes where a word looks, to the bit.
  const auto alone = attention_pattern(model, the_text(), "birds sometimes walk"),
             longer = attention_pattern(model, the_text(), "birds sometimes walk slowly on grass");
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) CHECK(longer[i * 7 + j] == alone[i * 4 + j]);
}

TEST_CASE("birds story: seed 1 completes with walk, slowly and flying, looking at birds") {
  const TextStory& story = story_1();
  const std::vector<std::pair<std::string, std::string>> blanks{
      {"birds sometimes", "walk"},
      {"birds sometimes walk", "slowly"},
      {"but birds are good at", "flying"}};
  REQUIRE((story.completed.size() == 3 && story.watched.size() == 4));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(story.completed[i].prompt == blanks[i].first);
    CHECK(story.completed[i].after.next == blanks[i].second);
    CHECK(story.completed[i].after.probability > 0.95);
  }
  for (const std::size_t i : {0UL, 2UL}) {
    const TextStory::Seen &seen = story.watched[i], &control = story.watched[i + 1];
    const TextStory::Completed& blank = story.completed[i == 0 ? 1 : 2];
    CHECK(seen.pair.looks_at == "birds");
    CHECK(seen.after.attention > seen.before.attention + 0.3);
    CHECK(seen.after.association > seen.before.association);
    CHECK(control.after.attention < control.before.attention);
    CHECK((seen.effect.next == blank.after.next && control.effect.next == blank.after.next));
    CHECK(seen.effect.visible == control.effect.visible);
    CHECK(seen.effect.hidden < seen.effect.visible * (i == 0 ? 0.1 : 0.9));
    CHECK(control.effect.hidden > control.effect.visible - 0.05);
    CHECK_THAT(seen.effect.visible, WithinAbs(blank.after.probability, 1e-5));  // by the decoder
  }
  // Row 3 and column 1 of 4: walk and birds, behind the line end.
  CHECK(story.pattern_after[13] == story.watched[0].after.attention);
  CHECK(story.pattern_before[13] == story.watched[0].before.attention);

  const report::ModelState& state =
      story.state;  // the whole model, with the sentences of its check
  std::size_t count = 0;
  for (const auto& tensor : state.parameters) count += tensor.size();
  CHECK(count == static_cast<std::size_t>(story.parameters));
  CHECK((state.ids.shape() == Shape{2, 8} && state.targets.shape() == Shape{2, 8}));
  CHECK((state.targets[0] == state.ids[1] && state.targets[14] == state.ids[15]));
}

TEST_CASE("birds story: colours change no word, no line is wider than 80, failures are told") {
  const auto compare = [](const auto& part) {
    const std::string text = words(part, plain), painted = words(part, colours);
    CHECK(text.back() == '\n');
    for (const std::string& line : lines_of(text)) CHECK(support::display_width(line) <= 80);
    CHECK(painted != text);
    CHECK(without_colours(painted) == text);
  };
  const report::ModelProof failed{{3680, 8.5e-10, true, "ok"},
                                  {3680, 0.5, false, "half of wte.weight [1, 2] is missing"}};
  TextStory other = story_1();
  other.seed = 18446744073709551615u;
  compare(compute_by_hand());
  compare(learn_all());
  compare(other);
  compare(failed);
  CHECK_THAT(words(other, plain), ContainsSubstring("18446744073709551615. With"));
  CHECK_THAT(words(failed, plain),
             ContainsSubstring("every parameter: 3680, largest error 8.5e-10  ok\n") &&
                 ContainsSubstring("error 5.0e-01  FAIL: half"));
}

TEST_CASE("birds check: every parameter of the model that it is given") {
  Rng rng(1);
  const LanguageModel model(
      {.vocabulary = 7, .context = 3, .layers = 1, .heads = 2, .width = 8, .hidden = 4}, rng);
  report::ModelState state{7, 3, 1, 2, 8, 4, {}, {{2, 2}, {0, 1, 2, 6}}, {{2, 2}, {1, 2, 6, -1}}};
  for (const Tensor& p : parameters(model)) state.parameters.push_back(to_vector(p.value()));
  const report::ModelProof proof = report::check_model(state, 1);
  CHECK((proof.dual.ok && proof.dual.elements == count_parameters(model)));
  CHECK(proof.differences.elements == count_parameters(model));
}

TEST_CASE("birds learning: Q and K reach 0.139 of 0.14 and never more, however long they learn") {
  CHECK_THAT(product_ceiling(), WithinAbs(0.14, 1e-6));
  const std::vector<Look> path = learn("Q and K", Objective::product, 10, 4000).path;
  CHECK(path[400].association >= 0.139);
  for (std::size_t step = 1; step < path.size(); ++step)
    CHECK((path[step].association >= path[step - 1].association - 1e-7 &&
           path[step].association <= product_ceiling()));
}

TEST_CASE("birds learning: the six experiments of the story, each with its rate and steps") {
  const std::vector<Learned> all = learn_all();
  const std::vector<std::string> learns{"Q", "K", "Q and K", "V", "Q, K and V", "Q, K and V"};
  REQUIRE(all.size() == learns.size());
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(all[i].learns == learns[i]);
    CHECK(all[i].objective == (i == 3 || i == 4 ? Objective::cosine : Objective::product));
    const Learned again = learn(learns[i], all[i].objective, i < 3 ? 10 : 1, i < 5 ? 400 : 100);
    CHECK(again.after.association == all[i].after.association);
    CHECK(again.after.attention == all[i].after.attention);
  }
  CHECK(tests::same_bits(word_vectors(),
                         Array({3, 3}, {0.1, 0.2, 0.3, -0.8, 0.3, -0.1, 0.5, -0.1, -0.4})));
  CHECK(tests::same_bits(hand_set_attention(),
                         Array({3, 3}, {1.0, 0.0, 0.0, 0.1, 0.9, 0.0, 0.6, 0.1, 0.4})));
}
