// Do 'slowly' and 'flying' use different parts of a model?
//
// Works out note 000, 000.28 and 000.29: one of the sixteen numbers that a head gives to a word is
// set to 0 at a time, and the loss of each word is measured. Key idea: a pattern in such a table
// means something only if it is stronger than in costs with a random order.
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

/// The cost of each group of `size` numbers. A number of the heads is removed by setting its row of
/// the value-up (16, 16) to 0.
Costs costs_of(const LanguageModel& model, const Corpus& text, const Blank& word, Dim size) {
  const double whole = blanks::log_probability(model, text, word);
  const std::vector<Array> weights = weights_of(model);
  Costs costs;
  for (Dim first = 0; first < width; first += size) {
    Real* up = model.h[0].attn.c_proj.weight.write();
    std::fill_n(up + first * width, size * width, Real(0));
    costs.push_back(whole - blanks::log_probability(model, text, word));
    set_weights(model, weights);
  }
  return costs;
}

/// The costs of slowly and flying in one model.
using Pair = std::array<Costs, 2>;
Pair pair_of(const LanguageModel& model, const Corpus& text, Dim size) {
  return {costs_of(model, text, blanks::slowly, size), costs_of(model, text, blanks::flying, size)};
}

Dim largest(const Costs& costs) {
  return std::max_element(costs.begin(), costs.end()) - costs.begin();
}

Costs ranks(const Costs& x) {  // how many numbers are smaller
  Costs found;
  for (const double a : x)
    found.push_back(
        static_cast<double>(std::count_if(x.begin(), x.end(), [&](double b) { return b < a; })));
  return found;
}

/// Spearman (1904): 1 for the same order, −1 for the opposite one, near 0 without connection.
double rank_correlation(const Costs& x, const Costs& y) {
  const Costs a = ranks(x), b = ranks(y);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
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
      "\nA source note asks: is there a \"partition\" of the numbers, some for 'walk' and others "
      "for 'flying'? Attention gives each word a weighted sum of values, and this sum has 16 "
      "numbers. We set one of the 16 to 0, for every word of the prompt. Then we measure how much "
      "ln p of the right next word falls, in nats. This fall is the cost. A cost of 0.7 halves the "
      "probability: " +
      formatted("exp(-0.7) = %.2f.\n", std::exp(-0.7)) +
      "We test three words: 'walk' after 'birds sometimes', 'slowly' after 'birds sometimes walk', "
      "and 'flying' after 'but birds are good at'. The note names 'walk'. But 'walk' follows "
      "'sometimes' for every animal, so the model need not know the animal. For 'slowly' it must "
      "know the animal. So we use 'slowly' in place of 'walk', and compare it with 'flying'.\nWe "
      "trained 20 models as the command `make run` does, with seeds 1 to 20. " +
      formatted(
          "The table shows the model with seed %d. In it the 16 numbers matter most: with all 16 "
          "set to 0, the smaller of the two costs, for 'slowly' and 'flying', is larger than in "
          "any other model.\n",
          static_cast<int>(seed)));
  const LanguageModel model = trained(text, 1, seed);
  std::array<Costs, 3> costs;
  std::array<double, 3> all{};
  for (std::size_t w = 0; w < words.size(); ++w) {
    costs[w] = costs_of(model, text, words[w], 1);
    all[w] = costs_of(model, text, words[w], width)[0];
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
      "Look at the columns 'slowly' and 'flying'. If one number alone carried the information, its "
      "cost would be near that of all 16. No single cost is. So in this model the information is "
      "spread over several numbers. If one is missing, the other 15 are still enough.\n");
  const double sum = std::accumulate(costs[1].begin(), costs[1].end(), 0.0);
  to.claim(all[1] > 1 && all[2] > 1,
           "in this model 'slowly' and 'flying' lose more than 1 nat each if all 16 are 0");
  to.claim(
      all[1] > sum,
      formatted("'slowly': all 16 cost %.2f nats, the single costs add up to %.2f", all[1], sum));
}

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

/// The costs of one word in random orders; `reached` counts those with the measured correlation.
struct Chance {
  double same_part = 0, correlation_95 = 0;
  int reached = 0;
};
constexpr int orders = 2000;

Chance by_chance(std::vector<Pair> models) {
  const double measured = mean_correlation(models);
  Rng rng(1);
  Chance chance;
  Costs all;
  for (int i = 0; i < orders; ++i) {
    for (Pair& pair : models)
      for (std::size_t last = pair[1].size() - 1; last > 0; --last)  // Fisher & Yates 1938
        std::swap(pair[1][last],
                  pair[1][static_cast<std::size_t>(rng.below(static_cast<Dim>(last) + 1))]);
    chance.same_part += same_part(models) / double{orders};
    all.push_back(std::abs(mean_correlation(models)));
    chance.reached += all.back() >= std::abs(measured) ? 1 : 0;
  }
  std::sort(all.begin(), all.end());
  chance.correlation_95 = all[orders * 95 / 100];
  return chance;
}

void many_models(Lesson& to, const std::vector<Pair>& dimensions) {
  to.part("A pattern, or chance?");
  to.define("chance", "The results that random choices give, without any knowledge.");
  to.say(
      "\nWith a partition, a number that is costly for 'slowly' would cost little for 'flying'. "
      "Then fewer numbers would be costly for both words than by chance. So we compare the 16 "
      "costs of the two words in 20 models, in two ways.\nFirst: is the most costly number the "
      "same for both words? With blind choices it is the same in 1 of 16 models. " +
      formatted("In 20 models this gives 20 / 16 = %.2f.\n", double{seeds} / width) +
      "Second: we sort the 16 numbers by cost, once for each word. The rank correlation compares "
      "the two orders. It is 1 for the same order, -1 for the opposite order, and near 0 if they "
      "have no connection. " +
      formatted("For the costs (1, 2, 3) and (1, 3, 2) it is %.1f.\n",
                rank_correlation({1, 2, 3}, {1, 3, 2})) +
      "The last column shows chance. In each of the 20 models we put the costs for 'flying' into a "
      "random order, and we repeat this 2,000 times. The first row has the mean of the 2,000 "
      "counts, which is near 1.25. In the second row, 95 % of the 2,000 mean correlations of 20 "
      "models lie between the two limits.\n");
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
      formatted(
          "In %d of 20 models the most costly number is the same; in the other %d it is not. ",
          same, seeds - same) +
      formatted("The correlation of %.2f is above chance, but far from 1. ", correlation) +
      "With a partition the two words would share costly numbers less often than by chance. They "
      "share them more often. So the answer to the note is no: the numbers are partly shared. Two "
      "reasons are possible. Both words need to know the same thing, the animal. Or some numbers "
      "do little for either word, so they stand low in both orders. This experiment cannot tell "
      "the two apart.\nIf you predicted 0, you expected a partition; if 20, a full overlap.\n");
  to.claim(same > 2 * chance.same_part,
           "the most costly number is shared more often than by chance");
  to.claim(correlation > chance.correlation_95 && chance.reached == 0,
           "none of 2,000 random orders reaches the measured correlation");
}

/// A row of attention in columns of these widths.
std::string in_columns(const std::vector<double>& row, const std::vector<int>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) line += formatted("%*.2f", widths.at(i), row[i]);
  return line;
}

void heads(Lesson& to, const Corpus& text) {
  to.part("Four heads, and two rows of attention");
  std::vector<Pair> models;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    models.push_back(pair_of(trained(text, 4, seed), text, 4));
  const int same = same_part(models);
  constexpr int by_blind_choice = seeds / 4;
  to.say(
      "Now we train 20 models with four heads of size 4, and remove a whole head at a time. Does "
      "each word have a head of its own? " +
      formatted("In %d of 20 models the same head costs both words most. A blind choice among four "
                "heads would give 20 / 4 = %d. ",
                same, by_blind_choice) +
      "So heads are partly shared as well.\nOne model alone cannot show whether heads are shared "
      "or separate. With blind choices the two most costly heads differ in 3 of 4 models. So one "
      "model in which they differ proves nothing.\nThe note also asks whether the rows of "
      "attention differ for the two phrases, 'birds sometimes walk' and 'but birds are good at'. "
      "They must, because the phrases have different words. The command `make run` trains the "
      "model with one head and seed 1. Its rows are:\n");
  const LanguageModel model = trained(text, 1, 1);
  to.show("   words        line end  birds  sometimes  walk\n   'walk' gives" +
          in_columns(blanks::last_row(model, text, blanks::slowly.prompt), {10, 7, 11, 6}));
  to.show("   words        line end    but  birds    are   good     at\n   'at' gives  " +
          in_columns(blanks::last_row(model, text, blanks::flying.prompt), {10, 7, 7, 7, 7, 7}));
  to.say("\nThe rows differ, but both have their largest weight at 'birds'.\n");
  to.claim(same > by_blind_choice, "the most costly head is shared more often than by chance");
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
    dimensions.push_back(pair_of(model, text, 1));
    const Pair all = pair_of(model, text, width);
    const double lost = std::min(all[0][0], all[1][0]);
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
       .title = "Do 'slowly' and 'flying' use different parts of the model?",
       .question =
           "A head of size 16 gives each word a weighted sum of values: 16 numbers. Do some of "
           "these numbers serve 'slowly', and others 'flying'?",
       .prediction =
           "In each of twenty models, one of the 16 numbers matters most for 'slowly', and one for "
           "'flying'. In how many models is it the same number? How many would it be if the "
           "numbers were chosen blindly?",
       .body = fledge::lesson,
       .reading = {
           {"nn/layers/attention.h", "c_proj", "its rows read the numbers of the heads"},
           {"nn/inspect/ablation.h", "ablate_tokens", "another ablation, which hides a token"}}});
}
