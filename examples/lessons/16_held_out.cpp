// library: fledge
// Held-out pairs: an association that was never read, predicted all the same.
//
// Works out note 000 (Birds sometimes walk), its question how a network comes to know that one word
// goes with another. Adds to 14_capacity what no table of counts has: animals that share some of
// their verbs come to have vectors that are alike, and then share the others too.
// Key idea: what is learned of one word is learned of all whose vectors are like its own.
// Next: nn/layers/embedding.h, nn/gpt/language_model.h; then 17_text_to_text.
#include <algorithm>

#include "engine/autograd.h"
#include "examples/support/lesson.h"
#include "examples/support/table.h"
#include "nn/gpt/language_model.h"
#include "nn/optim/adamw.h"
#include "nn/text/words.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

/// Animals of a kind do the same: one thing sometimes, one often, one rarely, one always.
struct Kind {
  std::string animals, verbs;
};
const std::string adverbs = "sometimes often rarely always";
const std::vector<Kind> kinds = {{"birds hens gulls crows", "walk fly dive sing"},
                                 {"carps eels pikes trouts", "jump swim rest glide"},
                                 {"cats dogs foxes lions", "sleep run climb howl"}};

struct Sentence {
  std::string animal, adverb, verb;
  std::string text() const { return animal + " " + adverb + " " + verb; }
};

/// All 48 sentences, of which one of each kind, drawn, is held out.
struct Split {
  std::vector<Sentence> read, held_out;
};

/// mixed: whose verb an animal takes is drawn for each adverb, so that kinds mean nothing.
Split drawn_split(Rng& rng, bool mixed) {
  Split split;
  for (const Kind& kind : kinds) {
    Dim before_held_out = rng.below(16);
    for (const std::string& animal : split_words(kind.animals))
      for (std::size_t a = 0; a < 4; ++a) {
        const Kind& whose = mixed ? kinds[static_cast<std::size_t>(rng.below(3))] : kind;
        (before_held_out-- == 0 ? split.held_out : split.read)
            .push_back({animal, split_words(adverbs)[a], split_words(whose.verbs)[a]});
      }
  }
  return split;
}

/// One layer, one head, 12 wide: it guesses the adverb from the animal, the verb from both.
LanguageModel trained_model(const Vocabulary& words, const std::vector<Sentence>& read, Rng& rng) {
  LanguageModel model({.vocabulary = words.size(), .context = 2, .width = 12, .hidden = 24}, rng);
  std::vector<Dim> ids, targets;
  for (const Sentence& sentence : read) {
    const std::vector<Dim> three = words.encode(sentence.text());
    ids.insert(ids.end(), three.begin(), three.end() - 1);
    targets.insert(targets.end(), three.begin() + 1, three.end());
  }
  const Shape shape{static_cast<Dim>(read.size()), 2};
  AdamW adamw(parameters(model), {.decay = 0.1});
  for (int step = 0; step < 300; ++step) {
    adamw.zero_grad();
    backward(cross_entropy(model(Indices(shape, ids)), Indices(shape, targets)));
    adamw.options.rate = 0.015 * (1 - 0.9 * step / 300);
    adamw.step();
  }
  return model;
}

/// The probability of each word behind the animal and the adverb of a sentence.
std::vector<double> guesses(const LanguageModel& model, const Vocabulary& words,
                            const Sentence& sentence) {
  NoGrad no_grad;
  const Indices prompt({1, 2}, words.encode(sentence.animal + " " + sentence.adverb));
  return to_vector(softmax(slice(model(prompt), 1, 1, 2)).value());
}

/// Of how many sentences the verb is the likeliest word.
int count_right(const LanguageModel& model, const Vocabulary& words,
                const std::vector<Sentence>& sentences) {
  return static_cast<int>(std::count_if(sentences.begin(), sentences.end(), [&](const auto& s) {
    const std::vector<double> p = guesses(model, words, s);
    return words.word(std::max_element(p.begin(), p.end()) - p.begin()) == s.verb;
  }));
}

/// Mean cosine of the vectors of two animals, of one kind or of two.
double likeness(const LanguageModel& model, const Vocabulary& words, bool of_one_kind) {
  NoGrad no_grad;
  const auto directions = [&](const Kind& kind) {
    const Tensor v = model.wte(Indices({4}, words.encode(kind.animals)));
    return v / sqrt(sum(v * v, {1}, true));
  };
  double total = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Tensor u = directions(kinds[k]), w = directions(kinds[of_one_kind ? k : (k + 1) % 3]);
    const double cosines = sum(inner(u, w)).item();  // (4, 4); of one kind, 4 are of one animal
    total += of_one_kind ? (cosines - 4) / 12 : cosines / 16;
  }
  return total / 3;
}

void one_seed(Lesson& to, const Vocabulary& words) {
  to.part("Forty-five sentences read, three held out");
  Rng rng(1);
  const Split split = drawn_split(rng, false);
  const LanguageModel model = trained_model(words, split.read, rng);
  Table table({{"held out"}, {"read of the animal"}, {"probability"}});
  for (const Sentence& held_out : split.held_out) {
    std::string verbs;
    for (const Sentence& read : split.read)
      if (read.animal == held_out.animal) verbs += (verbs.empty() ? "" : ", ") + read.verb;
    const auto verb = static_cast<std::size_t>(words.encode(held_out.verb)[0]);
    table.row({held_out.text(), verbs, formatted("%.2f", guesses(model, words, held_out)[verb])});
  }
  to.say(table.text());
  to.say(formatted("   Mean cosine of two animals: %.2f within a kind, %.2f across kinds.\n",
                   likeness(model, words, true), likeness(model, words, false)));
  to.claim(count_right(model, words, split.held_out) == 3, "each verb is the likeliest word");
}

void many_seeds(Lesson& to, const Vocabulary& words) {
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
  to.claim_rate(closer, 100, 95, "animals of one kind are more alike than animals of two");
  to.say(
      "\n   The control: whose verb an animal takes is drawn for each adverb; kinds mean nothing.");
  to.claim(mixed_right < 45, formatted("then %d of 90 are predicted, by chance 30", mixed_right));
}

void tell(Lesson& to) {
  Vocabulary words;
  for (const Kind& kind : kinds)
    for (const auto& word : split_words(adverbs + " " + kind.animals + " " + kind.verbs))
      words.add(word);
  one_seed(to, words);
  many_seeds(to, words);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "16_held_out", "Predicting what was never read.",
                             fledge::tell);
}
