// Why attention: one vector for a word is not enough, because its sentence changes its meaning.
#include "examples/lessons/attention/blanks.h"

namespace fledge::lessons::in_why_attention {

/// Two numbers for each word: animal, chemistry.
using Pair = std::array<double, 2>;
constexpr Pair mole{1, 1}, dug{2, 0}, gas{0, 2};
constexpr double own = 0.1, other = 0.9;  // attention weights, set by hand

/// own·'mole' + other·y, number by number: 'mole' after attention, beside the word with vector y
Pair beside(const Pair& y) { return {own * mole[0] + other * y[0], own * mole[1] + other * y[1]}; }

/// "   animal     0.1 * 1 + 0.9 * 2 = 0.1 + 1.8 = 1.9", and the same for chemistry
std::string worked(const Pair& y) {
  std::string lines;
  for (const std::size_t i : {0UL, 1UL})
    lines += formatted("%s %.1f * %.0f + %.1f * %.0f = %.1f + %.1f = %.1f",
                       i == 0 ? "   animal    " : "\n   chemistry ", own, mole[i], other, y[i],
                       own * mole[i], other * y[i], beside(y)[i]);
  return lines;
}

void mole_by_hand(LessonText& to) {
  const Pair a = beside(dug), b = beside(gas);
  to.set_all("beside 'dug'", worked(dug), "beside 'gas'", worked(gas));
  to.claim("two vectors", std::abs(a[0] - 1.9) + std::abs(a[1] - 0.1) < 1e-12 &&
                              std::abs(b[0] - 0.1) + std::abs(b[1] - 1.9) < 1e-12);
  const double lengths = std::hypot(a[0], a[1]) * std::hypot(b[0], b[1]);
  to.claim_near("cosine", (a[0] * b[0] + a[1] * b[1]) / lengths, 0.38 / 3.62, 1e-12);
}

/// The last word of a sentence in the model, which reads a line end and the words.
struct LastWord {
  Tensor before, after;         // x, and x + attention(x)
  std::vector<double> weights;  // that it gives to the line end and each word
  birds::Completion next;       // the most probable next word
};

const std::string animals[] = {"birds", "cats", "ducks"};

/// 'walk' in the three sentences.
std::vector<LastWord> look_at_walk(const LanguageModel& model, const Corpus& corpus) {
  std::vector<LastWord> found;
  for (const std::string& animal : animals) {
    const std::string sentence = animal + " sometimes walk";
    const auto [before, message] = blanks::last_word(model, corpus, sentence);
    found.push_back({before, before + message, blanks::last_row(model, corpus, sentence),
                     birds::complete(model, corpus, sentence)});
  }
  return found;
}

void walk_in_a_model(LessonText& to) {
  const Corpus corpus = birds::read_text();
  const auto untrained = look_at_walk(birds::new_model(corpus, 1), corpus);
  const auto trained = look_at_walk(blanks::trained(corpus, 1), corpus);
  Table table = Table::of_numbers(
      {"animal", "before attention", "after, untrained", "after, trained", "next word"});
  bool same = true, alike = true;
  std::vector<std::string> next;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const double random = cosine(untrained[i].after, untrained[0].after);
    next.push_back(trained[i].next.next);
    table.row("%s | %.3f | %.3f | %.3f | %s (%.3f)", animals[i].c_str(),
              cosine(trained[i].before, trained[0].before), random,
              cosine(trained[i].after, trained[0].after), next[i].c_str(),
              trained[i].next.probability);
    same = same && numbers(trained[i].before) == numbers(trained[0].before);
    alike = alike && random > 0.99;
  }
  double most = cosine(trained[1].after, trained[0].after);
  to.set_all("three sentences", table, "cosine for 'cats'", most);
  to.claim("same before", same);
  to.claim("untrained", alike);
  to.claim("trained", next[0] == "slowly" && next[1] == "quietly");
  for (std::uint64_t seed = 2; seed <= 10; ++seed) {
    const std::vector<LastWord> walks = look_at_walk(blanks::trained(corpus, seed), corpus);
    most = std::max(most, cosine(walks[1].after, walks[0].after));
  }
  to.set("largest", most);
  to.claim("ten models", most < 0.95);

  const std::vector<double>& weights = trained[0].weights;
  Table row({{"'walk' looks at"}, {"start"}, {"birds"}, {"sometimes"}, {"walk"}});
  row.row("with the weight | %.3f | %.3f | %.3f | %.3f", weights[0], weights[1], weights[2],
          weights[3]);
  to.set("weights of 'walk'", row);
  to.claim("not the neighbour", weights[1] > 0.9 && weights[2] < 0.05);
}

const LessonProgram program({mole_by_hand, walk_in_a_model});

}  // namespace fledge::lessons::in_why_attention
