// Held-out pairs: the model predicts an association that was not in its training text.
//
// Works out note 000 (Birds sometimes walk), its question how a network learns that one word goes
// with another. Adds to 14_capacity what no table of counts can do: animals that share some of their
// verbs get similar vectors, and then the model predicts the other verbs for all of them.
// Key idea: what the model learns about one word holds for every word with a similar vector.
// Next: nn/layers/embedding.h, nn/gpt/language_model.h; then 17_text_to_text.
#include <algorithm>

#include "engine/autograd.h"
#include "examples/lessons/lesson.h"
#include "examples/support/table.h"
#include "nn/generate/sampler.h"
#include "nn/train/trainer.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

/// Animals of a kind do the same: one thing sometimes, one often, one rarely, one always.
using Words = std::vector<std::string>;
struct Kind {
  Words animals, verbs;
};
const Words adverbs = {"sometimes", "often", "rarely", "always"};
const std::vector<Kind> kinds = {
    {{"birds", "hens", "gulls", "crows"}, {"walk", "fly", "dive", "sing"}},
    {{"carps", "eels", "pikes", "trouts"}, {"jump", "swim", "rest", "glide"}},
    {{"cats", "dogs", "foxes", "lions"}, {"sleep", "run", "climb", "howl"}}};

struct Sentence {
  std::string animal, adverb, verb;
  std::string text() const { return animal + " " + adverb + " " + verb; }
};

/// All 48 sentences. One sentence of each kind, chosen at random, is held out.
struct Split {
  std::vector<Sentence> read, held_out;
};

/// mixed: for each animal and adverb the verb comes from a random kind, so kinds mean nothing.
Split drawn_split(Rng& rng, bool mixed) {
  Split split;
  for (const Kind& kind : kinds) {
    Dim before_held_out = rng.below(16);
    for (const std::string& animal : kind.animals)
      for (std::size_t a = 0; a < 4; ++a) {
        const Kind& source = mixed ? kinds[static_cast<std::size_t>(rng.below(3))] : kind;
        (before_held_out-- == 0 ? split.held_out : split.read)
            .push_back({animal, adverbs[a], source.verbs[a]});
      }
  }
  return split;
}

/// Every word of the lesson.
Tokenizer all_words() {
  std::string text = "\n";
  for (const std::string& adverb : adverbs) text += adverb + " ";
  for (const Kind& kind : kinds)
    for (const Words& words : {kind.animals, kind.verbs})
      for (const std::string& word : words) text += word + " ";
  return {Tokens::word, text};
}

/// One layer, one head, 12 wide: it predicts the adverb from the animal, the verb from both.
LanguageModel trained_model(const Tokenizer& words, const std::vector<Sentence>& read, Rng& rng) {
  std::string text;
  for (const Sentence& sentence : read) text += sentence.text() + "\n";
  const Corpus corpus = read_corpus(text, {.reading = Reading::lines, .valid = 0}, words);
  LanguageModel model({.vocabulary = words.size(), .context = 4, .width = 12, .hidden = 24}, rng);
  TrainerOptions options;
  options.batch = corpus.train.documents();  // every step reads all sentences
  options.schedule = {.rate = 0.015, .steps = 300};
  Trainer trainer(model, corpus.train, options);
  while (trainer.steps_done() < options.schedule.steps) trainer.step();
  return model;
}

/// The scores of each word behind the animal and the adverb of a sentence, (V).
Array verb_logits(const LanguageModel& model, const Tokenizer& words, const Sentence& sentence) {
  return Decoder(model).read(words.encode("\n" + sentence.animal + " " + sentence.adverb));
}

/// For how many sentences the verb is the likeliest word.
int count_right(const LanguageModel& model, const Tokenizer& words,
                const std::vector<Sentence>& sentences) {
  return static_cast<int>(std::count_if(sentences.begin(), sentences.end(), [&](const auto& s) {
    return most_likely(verb_logits(model, words, s), 1)[0].token == words.find(s.verb);
  }));
}

/// Mean cosine of the vectors of two animals, of one kind or of two.
double likeness(const LanguageModel& model, const Tokenizer& words, bool of_one_kind) {
  NoGrad no_grad;
  const auto directions = [&](const Kind& kind) {
    std::vector<Dim> animals;
    for (const std::string& animal : kind.animals) animals.push_back(words.find(animal).value());
    const Tensor v = model.wte(Indices({4}, animals));
    return v / sqrt(sum(v * v, {1}, true));
  };
  double total = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Tensor u = directions(kinds[k]), w = directions(kinds[of_one_kind ? k : (k + 1) % 3]);
    const double cosines =
        sum(matmul_transposed(u, w)).item();  // (4, 4); of one kind, 4 are of one animal
    total += of_one_kind ? (cosines - 4) / 12 : cosines / 16;
  }
  return total / 3;
}

void one_seed(Lesson& to, const Tokenizer& words) {
  to.part("Forty-five sentences read, three held out");
  Rng rng(1);
  const Split split = drawn_split(rng, false);
  const LanguageModel model = trained_model(words, split.read, rng);
  Table table({{"held out"}, {"read of the animal"}, {"probability"}});
  for (const Sentence& held_out : split.held_out) {
    std::string verbs;
    for (const Sentence& read : split.read)
      if (read.animal == held_out.animal) verbs += (verbs.empty() ? "" : ", ") + read.verb;
    const Tensor p = softmax(Tensor(verb_logits(model, words, held_out)));
    const Dim verb = words.find(held_out.verb).value();
    table.row({held_out.text(), verbs, formatted("%.2f", value_of(p.value()[verb]))});
  }
  to.show(table.text());
  to.say(formatted("Mean cosine of two animals: %.2f within a kind, %.2f across kinds.\n",
                   likeness(model, words, true), likeness(model, words, false)));
  to.claim(count_right(model, words, split.held_out) == 3, "each verb is the likeliest word");
}

void many_seeds(Lesson& to, const Tokenizer& words) {
  to.part("A hundred seeds: other weights, other sentences held out");
  int verbatim = 0, all = 0, closer = 0, mixed_right = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng(seed);
    const Split split = drawn_split(rng, false);
    for (const Sentence& out : split.held_out)
      for (const Sentence& in : split.read)
        verbatim += in.animal == out.animal && in.verb == out.verb ? 1 : 0;
    const LanguageModel model = trained_model(words, split.read, rng);
    all += count_right(model, words, split.held_out) == 3 ? 1 : 0;
    closer += likeness(model, words, true) > likeness(model, words, false) ? 1 : 0;
    if (seed > 30) continue;
    const Split mixed = drawn_split(rng, true);
    mixed_right += count_right(trained_model(words, mixed.read, rng), words, mixed.held_out);
  }
  to.claim(verbatim == 0, "no held-out verb was ever read with its animal");
  to.claim_rate(all, 100, 95, "all three held-out verbs are predicted");
  to.claim_rate(closer, 100, 95, "animals are more alike within a kind than across kinds");
  to.say(
      "\nThe control: for each animal and adverb the verb comes from a random kind, so kinds mean "
      "nothing.\n");
  to.claim(mixed_right < 45,
           formatted("then %d of 90 held-out verbs are predicted; by chance 30", mixed_right));
}

void tell(Lesson& to) {
  const Tokenizer words = all_words();
  one_seed(to, words);
  many_seeds(to, words);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "16_held_out", "Predicting what was never read.",
                             fledge::tell);
}
