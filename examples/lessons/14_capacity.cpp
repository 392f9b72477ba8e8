// Capacity: walk and flying, both associated with birds, in one text and one small model.
//
// Works out note 000 (Birds sometimes walk), two of its questions on capacity: are the rows of A
// different for the two phrases, and are the dimensions of v parted between the two words? Adds to
// lesson 4, where one word looked at birds, a text in which several do.
// Key idea: what a part of a model carries is what is lost without it; whether that is a rule,
// other seeds say.
// Next: examples/birds/text_model.h, nn/inspect/probes.h; then 15_how_small.
#include <algorithm>

#include "engine/autograd.h"
#include "examples/birds/text_model.h"
#include "examples/lessons/lesson.h"
#include "examples/support/table.h"
#include "nn/train/trainer.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

/// A word that should come next.
struct Blank {
  std::string prompt, word;
};
const std::vector<Blank> blanks = {{"birds sometimes", "walk"},
                                   {"birds sometimes walk", "slowly"},
                                   {"but birds are good at", "flying"}};
constexpr Dim heads = 4, head_size = 4, width = heads * head_size;

/// One layer of four heads, trained on the built-in text as `make run` does it.
LanguageModel trained(const Corpus& text, std::uint64_t seed) {
  Rng rng(seed);
  LanguageModelSizes sizes = birds::model_sizes(text);
  sizes.heads = heads;
  sizes.width = width;
  LanguageModel model(sizes, rng);
  birds::train(model, text, seed);
  return model;
}

/// The probability that the model gives to the word of each blank.
std::vector<double> filled(const LanguageModel& model, const Corpus& text) {
  NoGrad no_grad;
  std::vector<double> found;
  for (const Blank& blank : blanks) {
    const Tensor p = softmax(model(birds::beginning_row(text, blank.prompt)));  // (1, T, V)
    const Dim word = text.tokenizer.find(blank.word).value();
    found.push_back(value_of(p.value().at({0, p.dim(1) - 1, word})));
  }
  return found;
}

/// The same when dimensions first ... first + count - 1 of what the heads have mixed are not passed
/// on: those rows of the value-up (C, C) are zero.
std::vector<double> without(const LanguageModel& model, const Corpus& text, Dim first, Dim count) {
  const std::vector<Array> whole = weights_of(model);
  std::fill_n(model.h[0].attn.c_proj.weight.write() + first * width, count * width, Real(0));
  std::vector<double> found = filled(model, text);
  set_weights(model, whole);
  return found;
}

/// The last row of A in a prompt, of one head: how much the last word looks at each word.
std::vector<double> last_row(const LanguageModel& model, const Corpus& text,
                             const std::string& prompt, Dim head) {
  NoGrad no_grad;
  const Tensor A =
      model.forward_with_weights(birds::beginning_row(text, prompt)).weights[0];  // (1, H, T, T)
  return to_vector(slice(slice(A, 1, head, head + 1), 2, A.dim(2) - 1, A.dim(2)).value());
}

std::string two_digits(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) text += formatted("%.2f ", number);
  return text;
}

void one_model(Lesson& to, const Corpus& text, const LanguageModel& model) {
  to.part("One model fills both blanks");
  const std::vector<double> p = filled(model, text);
  for (std::size_t i = 0; i < blanks.size(); ++i)
    to.claim(p[i] > 0.5, blanks[i].prompt + " __  " + blanks[i].word + formatted(" %.2f", p[i]));
  to.say(
      "\nIn this text walk always follows sometimes, whatever the animal. So the model can predict "
      "walk without looking at the animal. How an animal walks and what it is good at depend on the "
      "animal: there the last word of the prompt must look at birds.\n\n"
      "The weights that each head gives, from the last word of the prompt:\n");
  Table rows({{"head"}, {"start birds sometimes walk"}, {"start but birds are good at"}});
  for (Dim head = 0; head < heads; ++head)
    rows.row({std::to_string(head), two_digits(last_row(model, text, blanks[1].prompt, head)),
              two_digits(last_row(model, text, blanks[2].prompt, head))});
  to.show(rows.text());
}

/// The least that is left of each word without one of the dimensions.
std::vector<double> worst_dimension(const LanguageModel& model, const Corpus& text) {
  std::vector<double> worst = without(model, text, 0, 1);
  for (Dim d = 1; d < width; ++d) {
    const std::vector<double> p = without(model, text, d, 1);
    for (std::size_t i = 0; i < p.size(); ++i) worst[i] = std::min(worst[i], p[i]);
  }
  return worst;
}

void ablation(Lesson& to, const Corpus& text, const LanguageModel& model) {
  to.part("The probability of each word without a part of the model");
  constexpr auto right = Table::Align::right;
  Table table({{"without"}, {"walk", right}, {"slowly", right}, {"flying", right}});
  const auto row = [&](const std::string& name, const std::vector<double>& p) {
    table.row({name, formatted("%.2f", p[0]), formatted("%.2f", p[1]), formatted("%.2f", p[2])});
  };
  for (Dim head = 0; head < heads; ++head)
    row("head " + std::to_string(head), without(model, text, head * head_size, head_size));
  row("the worst of 16 dimensions", worst_dimension(model, text));
  row("all heads", without(model, text, 0, width));
  to.show(table.text());
}

/// Which head costs a word most.
Dim carrier(const LanguageModel& model, const Corpus& text, std::size_t word) {
  Dim found = 0;
  for (Dim head = 1; head < heads; ++head)
    if (without(model, text, head * head_size, head_size)[word] <
        without(model, text, found * head_size, head_size)[word])
      found = head;
  return found;
}

void ten_models(Lesson& to, const Corpus& text) {
  to.part("Ten such models");
  int look = 0, fill = 0, need = 0, parted = 0, fragile = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const LanguageModel model = trained(text, seed);
    const double walk = birds::watch(model, text, birds::watches()[0]).attention;
    const double at = birds::watch(model, text, birds::watches()[2]).attention;
    look += walk > 1. / 4 && at > 1. / 6 ? 1 : 0;  // an even share, the line end included
    const std::vector<double> whole = without(model, text, 0, 0);
    fill += whole[0] > 0.5 && whole[1] > 0.5 && whole[2] > 0.5 ? 1 : 0;
    const std::vector<double> none = without(model, text, 0, width);
    need += none[0] > none[1] && none[0] > none[2] && none[1] < 0.5 ? 1 : 0;
    parted += carrier(model, text, 1) != carrier(model, text, 2) ? 1 : 0;
    const std::vector<double> worst = worst_dimension(model, text);
    fragile += std::min(worst[1], worst[2]) < 0.5 ? 1 : 0;
  }
  to.claim_rate(fill, 10, 9, "one model fills all three blanks");
  to.claim_rate(look, 10, 9, "walk and at give birds more than an even share, mean of the heads");
  to.claim_rate(need, 10, 9, "without attention slowly is below 0.5, and walk keeps the most");
  to.claim(parted > 1 && parted < 10,
           formatted("slowly and flying depend most on different heads in %d of 10", parted));
  to.claim(
      fragile > 0 && fragile < 10,
      formatted("without one dimension, slowly or flying falls below 0.5 in %d of 10", fragile));
}

void tell(Lesson& to) {
  const Corpus text = birds::read_text();
  const LanguageModel model = trained(text, 9);  // its heads differ more clearly than most; see 3.
  one_model(to, text, model);
  ablation(to, text, model);
  ten_models(to, text);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "14_capacity", "Walk and flying in one model.",
                             fledge::tell);
}
