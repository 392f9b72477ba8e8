// Do 'walk' and 'flying' use different parts of a model?
//
// Works out note 000, 000.28 and 000.29: one of the sixteen numbers that a head passes on is set to 0
// at a time, and the loss of each word is measured. Key idea: a pattern in such a table means
// something only if chance does not make it as well; shuffled tables say what chance makes.
// Next: nn/inspect/ablation.h; then 22_held_out_pairs.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "examples/lessons/attention/blanks.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/table.h"
#include "nn/train/trainer.h"

namespace fledge {
namespace {

using blanks::Blank, support::formatted, support::Lesson, support::Table;

constexpr Dim width = 16;
constexpr int seeds = 20;
const std::array<Blank, 3> words = {Blank{"birds sometimes", "walk"}, blanks::slowly,
                                    blanks::flying};

using Costs = std::vector<double>;  // of one word: how much ln p falls, in nats

LanguageModel trained(const Corpus& text, Dim heads, std::uint64_t seed) {
  Rng rng(seed);
  LanguageModelSizes sizes = birds::model_sizes(text);
  sizes.heads = heads;
  LanguageModel model(sizes, rng);
  birds::train(model, text, seed);
  return model;
}

/// ln p of a word without the numbers first … first + count − 1 of what the heads pass on: their rows
/// of the value-up (16, 16) are 0.
double without(const LanguageModel& model, const Corpus& text, const Blank& word, Dim first,
               Dim count) {
  const std::vector<Array> whole = weights_of(model);
  std::fill_n(model.h[0].attn.c_proj.weight.write() + first * width, count * width, Real(0));
  const double log_p = blanks::log_probability(model, text, word);
  set_weights(model, whole);
  return log_p;
}

/// The cost of each group of `size` numbers.
Costs costs_of(const LanguageModel& model, const Corpus& text, const Blank& word, Dim size) {
  const double whole = blanks::log_probability(model, text, word);
  Costs costs;
  for (Dim first = 0; first < width; first += size)
    costs.push_back(whole - without(model, text, word, first, size));
  return costs;
}

Dim largest(const Costs& costs) {
  return std::max_element(costs.begin(), costs.end()) - costs.begin();
}

/// Rank i: how many numbers are smaller.
Costs ranks(const Costs& x) {
  Costs found;
  for (const double a : x)
    found.push_back(
        static_cast<double>(std::count_if(x.begin(), x.end(), [&](double b) { return b < a; })));
  return found;
}

/// The rank correlation of Spearman (1904): 1 for the same order, −1 for the opposite one, 0 for
/// orders that have nothing to do with each other.
double rank_correlation(const Costs& x, const Costs& y) {
  const Costs a = ranks(x), b = ranks(y);
  const double n = static_cast<double>(x.size()), mean = (n - 1) / 2;
  double product = 0, squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += (a[i] - mean) * (b[i] - mean);
    squares += (a[i] - mean) * (a[i] - mean);
  }
  return product / squares;
}

void one_model(Lesson& to, const Corpus& text, std::uint64_t seed) {
  to.part("One number at a time");
  to.define("ablation",
            "An experiment that removes one part of a model and measures what the removal costs.");
  to.say(
      "\nA head of size 16 passes 16 numbers on to each word. The note asks: is there a \"partition\" "
      "of them, some for 'walk' and others for 'flying'? We set one of the 16 numbers to 0 and measure "
      "how much ln p of the right word falls, in nats. A cost of 0.7 halves the probability.\n"
      "'walk' follows 'sometimes' for every animal, so it needs no animal. 'slowly' is the word that "
      "depends on how birds walk. We trained 20 models as make run does. The table is of the one in "
      "which both words need attention most, " +
      formatted("seed %d:\n", static_cast<int>(seed)));
  const LanguageModel model = trained(text, 1, seed);
  std::array<Costs, 3> costs;
  std::array<double, 3> all{};
  for (std::size_t w = 0; w < words.size(); ++w) {
    costs[w] = costs_of(model, text, words[w], 1);
    all[w] =
        blanks::log_probability(model, text, words[w]) - without(model, text, words[w], 0, width);
  }
  constexpr auto right = Table::Align::right;
  Table table({{"   set to 0"}, {"walk", right}, {"slowly", right}, {"flying", right}});
  const auto cost = [](double x) { return formatted("%.3f", std::abs(x) < 5e-4 ? 0.0 : x); };
  for (std::size_t d = 0; d < width; ++d)
    table.row({formatted("   number %d", static_cast<int>(d) + 1), cost(costs[0][d]),
               cost(costs[1][d]), cost(costs[2][d])});
  table.row({"   all 16", cost(all[0]), cost(all[1]), cost(all[2])});
  to.show(table.text());
  to.say(
      "No single number carries a word. All 16 together carry much more than the sum of the single "
      "costs: if one is missing, the others still say nearly the same.\n");
  const double sum = std::accumulate(costs[1].begin(), costs[1].end(), 0.0);
  to.claim(all[1] > 1 && all[2] > 1, "without attention both words lose more than 1 nat");
  to.claim(
      all[1] > sum,
      formatted("'slowly': all 16 cost %.2f nats, the single costs add up to %.2f", all[1], sum));
}

/// The costs of slowly and flying in one model.
using Pair = std::array<Costs, 2>;

/// In how many models the same part costs both words most.
int same_part(const std::vector<Pair>& models) {
  return static_cast<int>(std::count_if(models.begin(), models.end(), [](const Pair& pair) {
    return largest(pair[0]) == largest(pair[1]);
  }));
}

double mean_correlation(const std::vector<Pair>& models) {
  double total = 0;
  for (const Pair& pair : models) total += rank_correlation(pair[0], pair[1]);
  return total / static_cast<double>(models.size());
}

/// What chance makes: the costs of one word in a random order. `share` is how often chance reaches
/// the measured mean correlation, or more.
struct Chance {
  double same_part = 0, correlation_95 = 0;
  int reached = 0;
};
constexpr int shuffles = 2000;

Chance by_chance(std::vector<Pair> models) {
  const double measured = mean_correlation(models);
  Rng rng(1);
  Chance chance;
  Costs all;
  for (int i = 0; i < shuffles; ++i) {
    for (Pair& pair : models)
      for (std::size_t last = pair[1].size() - 1; last > 0; --last)  // Fisher & Yates 1938
        std::swap(pair[1][last],
                  pair[1][static_cast<std::size_t>(rng.below(static_cast<Dim>(last) + 1))]);
    chance.same_part += same_part(models) / double{shuffles};
    all.push_back(std::abs(mean_correlation(models)));
    chance.reached += all.back() >= std::abs(measured) ? 1 : 0;
  }
  std::sort(all.begin(), all.end());
  chance.correlation_95 = all[shuffles * 95 / 100];
  return chance;
}

void many_models(Lesson& to, const std::vector<Pair>& dimensions) {
  to.part("A pattern, or chance?");
  to.define("chance", "What a method without knowledge would reach.");
  to.say(
      "\nIf there were a partition, the two words would need different numbers. So we compare, in 20 "
      "models, the 16 costs for 'slowly' with the 16 costs for 'flying'. First: is the most costly "
      "number the same? Second: the rank correlation, which is 1 if the costs have the same order, 0 "
      "if the orders have nothing to do with each other, and -1 if they are opposite.\n"
      "The last column is what chance makes: we put the costs for 'flying' into a random order, 2,000 "
      "times.\n");
  const int same = same_part(dimensions);
  const double correlation = mean_correlation(dimensions);
  const Chance chance = by_chance(dimensions);
  Table table({{"   twenty models, 16 numbers"}, {"measured"}, {"by chance"}});
  table.row({"   the same number costs both words most", formatted("%d of 20", same),
             formatted("%.1f of 20", chance.same_part)});
  table.row({"   mean rank correlation", formatted("%.2f", correlation),
             formatted("between -%.2f and %.2f", chance.correlation_95, chance.correlation_95)});
  to.show(table.text());
  to.say(
      "So the answer to the note is no. There is no partition: the two words need the same numbers, far "
      "more often than by chance. Both words need the same thing from attention: which animal "
      "it is.\n");
  to.claim(same > 2 * chance.same_part,
           "the most costly number is shared more often than by chance");
  to.claim(correlation > chance.correlation_95 && chance.reached == 0,
           "no shuffle of 2,000 reaches the measured correlation");
}

/// The weights of the last word of a prompt, of one head, in columns of these widths.
std::string last_row(const LanguageModel& model, const Corpus& text, const std::string& prompt,
                     const std::vector<int>& columns) {
  const NoGrad no_grad;
  const Tensor A = model.forward_with_weights(birds::beginning_row(text, prompt)).weights[0];
  std::string row;
  std::size_t column = 0;
  for (const double a : to_vector(slice(A, 2, A.dim(2) - 1, A.dim(2)).value()))
    row += formatted("%*.2f", columns.at(column++), a);
  return row;
}

void heads(Lesson& to, const Corpus& text) {
  to.part("Four heads, and two rows of attention");
  std::vector<Pair> models;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const LanguageModel model = trained(text, 4, seed);
    models.push_back(
        {costs_of(model, text, blanks::slowly, 4), costs_of(model, text, blanks::flying, 4)});
  }
  const int same = same_part(models);
  const Chance chance = by_chance(models);
  to.say(
      "With four heads of size 4: does each word have a head of its own? " +
      formatted(
          "In %d of 20 models the same head costs both words most; by chance it would be %.1f. ",
          same, chance.same_part) +
      "So heads are shared as well. A table of one model cannot show this: if the words picked their "
      "heads blindly, the heads would still differ in most models.\n"
      "The note also asks whether the rows of attention differ for the two phrases. They must: the "
      "phrases have different words. In the model of make run:\n");
  const LanguageModel model = trained(text, 1, 1);
  to.show("   words        line end  birds  sometimes  walk\n   'walk' gives" +
          last_row(model, text, blanks::slowly.prompt, {10, 7, 11, 6}));
  to.show("\n   words        line end    but  birds    are   good     at\n   'at' gives  " +
          last_row(model, text, blanks::flying.prompt, {10, 7, 7, 7, 7, 7}));
  to.say("\nBoth rows have their largest weight at 'birds'.\n");
  to.claim(same > chance.same_part, "the most costly head is shared more often than by chance");
  const double walk = birds::watch(model, text, birds::watches()[0]).attention;
  const double at = birds::watch(model, text, birds::watches()[2]).attention;
  to.claim(walk > 0.5 && at > 0.5, "'walk' and 'at' give 'birds' more than half of their weight");
}

void lesson(Lesson& to) {
  const Corpus text = birds::read_text();
  std::vector<Pair> dimensions;
  double most = 0;
  std::uint64_t shown = 1;  // the seed whose model loses most without attention
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const LanguageModel model = trained(text, 1, seed);
    dimensions.push_back(
        {costs_of(model, text, blanks::slowly, 1), costs_of(model, text, blanks::flying, 1)});
    const double lost = std::min(costs_of(model, text, blanks::slowly, width)[0],
                                 costs_of(model, text, blanks::flying, width)[0]);
    if (lost > most) most = lost, shown = seed;
  }
  one_model(to, text, shown);
  many_models(to, dimensions);
  heads(to, text);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/21_partition",
       .title = "Do 'walk' and 'flying' use different parts of the model?",
       .question =
           "A head passes 16 numbers on. Do some of them serve one word and the others another "
           "word?",
       .prediction =
           "In twenty models, one number of the 16 matters most for 'slowly' and one for "
           "'flying'. In how many models is it the same number? And how many would chance "
           "give?",
       .body = fledge::lesson,
       .reading = {
           {"nn/layers/attention.h", "c_proj", "its rows read what the heads pass on"},
           {"nn/inspect/ablation.h", "ablate_tokens", "another ablation: a token is hidden"}}});
}
