// Held-out pairs: the model predicts an association that its training text never had.
#include "examples/lessons/vocabulary.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/probes.h"
#include "nn/train/trainer.h"

namespace fledge::lessons::in_held_out_pairs {

using Words = std::vector<std::string>;
const Words animals = {"birds", "hens", "gulls", "crows",  // four of each kind
                       "carp",  "eels", "pike",  "trout",  //
                       "cats",  "dogs", "foxes", "lions"};
const Words adverbs = {"sometimes", "often", "rarely", "always"};
/// What the animals of a kind do sometimes, often, rarely and always.
const std::vector<Words> verbs = {{"walk", "fly", "dive", "sing"},
                                  {"jump", "swim", "rest", "glide"},
                                  {"sleep", "run", "climb", "howl"}};

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
  for (std::size_t kind = 0; kind < 3; ++kind) {
    Dim before_held_out = rng.below(16);
    for (std::size_t i = 4 * kind; i < 4 * kind + 4; ++i)
      for (std::size_t a = 0; a < 4; ++a) {
        const std::size_t source = mixed ? static_cast<std::size_t>(rng.below(3)) : kind;
        (before_held_out-- == 0 ? split.held_out : split.read)
            .push_back({animals[i], adverbs[a], verbs[source][a]});
      }
  }
  return split;
}

const Tokenizer words = [] {
  std::string text = "\n";
  for (const Words& all : {adverbs, animals, verbs[0], verbs[1], verbs[2]})
    for (const std::string& word : all) text += word + " ";
  return Tokenizer(Tokens::word, text);
}();

/// One layer, one head, 12 wide: it predicts the adverb from the animal, the verb from both.
LanguageModel trained_model(const std::vector<Sentence>& read, Rng& rng) {
  std::string text;
  for (const Sentence& sentence : read) text += sentence.text() + "\n";
  const Corpus corpus = read_corpus(text, {.reading = Reading::lines, .valid = 0}, words);
  LanguageModel model({.vocabulary = words.size(), .context = 4, .width = 12, .hidden = 24}, rng);
  Trainer trainer(model, corpus.train,  // every step reads all sentences
                  {.batch = corpus.train.documents(), .schedule = {.rate = 0.015, .steps = 300}});
  while (trainer.steps_done() < 300) trainer.step();
  return model;
}

/// The logits of each word behind the animal and the adverb of a sentence, (V).
Array verb_logits(const LanguageModel& model, const Sentence& s) {
  return Decoder(model).read(words.encode("\n" + s.animal + " " + s.adverb));
}

/// For how many sentences the verb is the likeliest word.
int count_right(const LanguageModel& model, const std::vector<Sentence>& sentences) {
  return count_of(sentences, [&](const auto& s) {
    return most_likely(verb_logits(model, s), 1)[0].token == words.find(s.verb);
  });
}

/// The distances between the values of all animals, mapped up to the width, (12, 12).
Array value_distances(const LanguageModel& model) {
  const NoGrad no_grad;
  std::vector<Dim> ids;
  for (const std::string& animal : animals) ids.push_back(words.find(animal).value());
  const Attention& attn = model.h[0].attn;
  const Tensor x = model.wte(Indices({12}, ids)) + model.wpe(Indices({1}, {1}));
  const Tensor v = attn.c_proj(split(attn.c_attn(model.h[0].ln_1(x)), 3, -1)[2]);  // (12, C)
  const Tensor differences = reshape(v, {12, 1, v.dim(1)}) - v;
  return sqrt(sum(differences * differences, {2})).value();
}

/// The mean distance from an animal to the other animals of each kind.
std::array<double, 3> kind_distances(const Array& distances, const std::string& animal) {
  const Dim i = std::find(animals.begin(), animals.end(), animal) - animals.begin();
  std::array<double, 3> means{};
  for (Dim j = 0; j < 12; ++j)
    means[static_cast<std::size_t>(j / 4)] +=
        value_of(distances.at({i, j})) / (i / 4 == j / 4 ? 3 : 4);
  return means;
}

/// The weight that the adverb, the last word of the prompt, gives to the animal.
double weight_on_animal(const LanguageModel& model, const Sentence& s) {
  const NoGrad no_grad;
  const Indices ids({1, 3}, words.encode("\n" + s.animal + " " + s.adverb));
  return first_look(model, ids).attention(0, 2, 1);
}

void one_seed(LessonText& to) {
  Rng rng(1);
  const Split split = drawn_split(rng, false);
  const LanguageModel model = trained_model(split.read, rng);
  Table table = Table::of_numbers(
      {"held out", "read with the animal", "p of verb", "weight", "own kind", "others"});
  const Array distances = value_distances(model);
  for (std::size_t k = 0; k < 3; ++k) {
    const Sentence& out = split.held_out[k];
    std::string known;
    for (const Sentence& read : split.read)
      if (read.animal == out.animal) known += (known.empty() ? "" : ", ") + read.verb;
    const auto d = kind_distances(distances, out.animal);
    const Tensor p = softmax(Tensor(verb_logits(model, out)));
    table.row("%s | %s | %.2f | %.2f | %.2f | %.2f", out.text().c_str(), known.c_str(),
              number(p, words.find(out.verb).value()), weight_on_animal(model, out), d[k],
              (d[(k + 1) % 3] + d[(k + 2) % 3]) / 2);
  }
  Words counted;  // the verbs that follow the adverb of the first in the text
  for (const Sentence& read : split.read)
    if (read.adverb == split.held_out[0].adverb) counted.push_back(read.verb);
  const int same = int(std::count(counted.begin(), counted.end(), split.held_out[0].verb));
  to.set("counted", formatted("%d of %zu", same, counted.size()));
  to.set("held out", table);
  to.claim("likeliest", count_right(model, split.held_out) == 3);
}

void many_seeds(LessonText& to) {
  int verbatim = 0, all = 0, nearest = 0, mixed_right = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng(seed);
    const Split split = drawn_split(rng, false);
    const LanguageModel model = trained_model(split.read, rng);
    all += count_right(model, split.held_out) == 3 ? 1 : 0;
    const Array distances = value_distances(model);
    for (std::size_t k = 0; k < 3; ++k) {
      const Sentence& out = split.held_out[k];
      const auto d = kind_distances(distances, out.animal);
      nearest += *std::min_element(d.begin(), d.end()) == d[k] ? 1 : 0;
      for (const Sentence& in : split.read)
        verbatim += in.animal == out.animal && in.verb == out.verb ? 1 : 0;
    }
    if (seed > 30) continue;
    const Split mixed = drawn_split(rng, true);
    mixed_right += count_right(trained_model(mixed.read, rng), mixed.held_out);
  }
  to.set_all("all three", all, "control", mixed_right, "nearest", nearest);
  to.claim("not read", verbatim == 0);
  to.claim_rate("seeds", all, 100, 95);
  to.claim("nearest", nearest >= 285);
  to.claim("control", mixed_right < 45);
}

const LessonProgram program({one_seed, many_seeds});

}  // namespace fledge::lessons::in_held_out_pairs
