// Do 'slowly' and 'flying' use different parts of a model? One of the sixteen numbers that a head
// gives to a word is set to 0 at a time, and the loss of each word is measured. The axes of the
// values mean nothing: a rotated model computes the same, and its table is another one.
#include "examples/lessons/attention/blanks.h"
#include "examples/lessons/vocabulary.h"
#include "nn/train/trainer.h"

namespace fledge::lessons {
using blanks::Blank, blanks::text;

constexpr Dim width = 16;
constexpr int seeds = 20;
const std::array<Blank, 3> words = {Blank{"birds sometimes", "walk"}, blanks::slowly,
                                    blanks::flying};

using Costs = std::vector<double>;  // of one word: how much ln p falls, in nats

LanguageModel trained(Dim heads, std::uint64_t seed) {
  LanguageModelSizes sizes = birds::model_sizes(text());
  sizes.heads = heads;
  return blanks::trained(text(), seed, sizes);
}

/// The cost of each group of `size` numbers. A number of the heads is removed by setting its row of
/// the value-up (16, 16) to 0.
Costs costs_of(const LanguageModel& model, const Blank& word, Dim size) {
  const double whole = blanks::log_probability(model, text(), word);
  const std::vector<Array> weights = weights_of(model);
  Costs costs;
  for (Dim first = 0; first < width; first += size) {
    Real* up = model.h[0].attn.c_proj.weight.write();
    std::fill_n(up + first * width, size * width, Real(0));
    costs.push_back(whole - blanks::log_probability(model, text(), word));
    set_weights(model, weights);
  }
  return costs;
}

/// The costs of slowly and flying in one model.
using Pair = std::array<Costs, 2>;
Pair pair_of(const LanguageModel& model, Dim size) {
  return {costs_of(model, blanks::slowly, size), costs_of(model, blanks::flying, size)};
}

Dim largest(const Costs& costs) {
  return std::max_element(costs.begin(), costs.end()) - costs.begin();
}

/// Whether the same part costs both words most.
bool same_part(const Pair& pair) { return largest(pair[0]) == largest(pair[1]); }

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

/// Over the rotations of one model: the extremes of the rank correlation, in how many the same
/// number costs both words most, and the largest change of ln p, which is rounding alone.
struct Rotations {
  double lowest = 1, highest = -1, moved = 0;
  int same = 0;
};
constexpr int rotations = 20;

/// R (16, 16) with R·Rᵀ = I: Gram and Schmidt's method on random rows.
std::vector<Costs> random_rotation(Rng& rng) {
  std::vector<Costs> R;
  while (std::ssize(R) < width) {
    Costs row(width);
    for (double& x : row) x = rng.normal();
    for (const Costs& other : R) {
      const double along = std::inner_product(row.begin(), row.end(), other.begin(), 0.0);
      for (std::size_t c = 0; c < row.size(); ++c) row[c] -= along * other[c];
    }
    const double length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    for (double& x : row) x /= length;
    R.push_back(row);
  }
  return R;
}

/// The same function with other values: W_V·R and b_V·R, and Rᵀ·W_O after them, so that
/// (A·X·W_V·R)·(Rᵀ·W_O) = A·X·W_V·W_O.
void rotate_values(LanguageModel& model, const std::vector<Costs>& R) {
  const auto rotate = [&](Real* x, Dim step) {  // x·R for 16 numbers `step` apart
    Costs rotated(width);
    for (std::size_t c = 0; c < R.size(); ++c)
      for (Dim i = 0; i < width; ++i)
        rotated[c] += static_cast<double>(x[i * step]) * R[static_cast<std::size_t>(i)][c];
    for (Dim c = 0; c < width; ++c)
      x[c * step] = static_cast<Real>(rotated[static_cast<std::size_t>(c)]);
  };
  const Attention& attn = model.h[0].attn;
  for (Dim row = 0; row < width; ++row)  // the columns of c_attn are those of Q, K and V
    rotate(attn.c_attn.weight.write() + row * 3 * width + 2 * width, 1);
  rotate(attn.c_attn.bias.write() + 2 * width, 1);
  for (Dim column = 0; column < width; ++column) rotate(attn.c_proj.weight.write() + column, width);
}

Rotations rotated(LanguageModel model) {
  Rng rng(1);
  Rotations found;
  const std::vector<Array> weights = weights_of(model);
  const double before = blanks::log_probability(model, text(), blanks::slowly);
  for (int n = 0; n < rotations; ++n) {
    rotate_values(model, random_rotation(rng));
    const double after = blanks::log_probability(model, text(), blanks::slowly);
    found.moved = std::max(found.moved, std::abs(after - before));
    const Pair pair = pair_of(model, 1);
    const double correlation = rank_correlation(pair[0], pair[1]);
    found.lowest = std::min(found.lowest, correlation);
    found.highest = std::max(found.highest, correlation);
    found.same += same_part(pair) ? 1 : 0;
    set_weights(model, weights);
  }
  return found;
}

void one_model(LessonText& to) {
  const LanguageModel model = trained(1, 1);
  std::array<Costs, 3> costs;
  std::array<double, 3> all{};
  for (std::size_t w = 0; w < words.size(); ++w) {
    costs[w] = costs_of(model, words[w], 1);
    all[w] = costs_of(model, words[w], width)[0];
  }
  constexpr auto right = Table::Align::right;
  Table table({{"   set to 0"}, {"walk", right}, {"slowly", right}, {"flying", right}});
  const auto cost = [](double x) { return std::abs(x) < 5e-4 ? 0.0 : x; };  // no "-0.000"
  for (std::size_t d = 0; d < width; ++d)
    table.row("   number %zu | %.3f | %.3f | %.3f", d + 1, cost(costs[0][d]), cost(costs[1][d]),
              cost(costs[2][d]));
  table.row("   all 16 | %.3f | %.3f | %.3f", cost(all[0]), cost(all[1]), cost(all[2]));
  const double sum = std::accumulate(costs[1].begin(), costs[1].end(), 0.0);
  to.set_all("exp(-0.7)", std::exp(-0.7), "costs", table, "all 16", all[1], "sum", sum);
  to.claim("spread", all[1] > sum);
}

void rotations_of_models(LessonText& to) {
  to.set("example", rank_correlation({1, 2, 3}, {1, 3, 2}));
  Table table(
      {{"   seed"}, {"as trained"}, {"twenty rotations of it"}, {"same number costs most"}});
  double widest = 0, moved = 0;
  int same = 0;
  for (int seed = 1; seed <= 5; ++seed) {
    const LanguageModel model = trained(1, static_cast<std::uint64_t>(seed));
    const Pair pair = pair_of(model, 1);
    const Rotations found = rotated(model);
    table.row("   %d | %.2f | from %.2f to %.2f | in %d of 20", seed,
              rank_correlation(pair[0], pair[1]), found.lowest, found.highest, found.same);
    widest = std::max(widest, found.highest - found.lowest);
    moved = std::max(moved, found.moved);
    same += found.same;
  }
  to.set_all("rotations", table, "widest", widest, "same number", same);
  to.claim("same model", moved < 1e-4);
  to.claim("wide", widest > 0.3);
  to.claim("same number", same > 0 && same < 5 * rotations);
}

/// A row of attention in columns of these widths.
std::string in_columns(const std::vector<double>& row, const std::vector<int>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) line += formatted("%*.2f", widths.at(i), row[i]);
  return line;
}

void heads(LessonText& to) {
  const int same = count_seeds(
      seeds, [&](std::uint64_t seed) { return same_part(pair_of(trained(4, seed), 4)); });
  constexpr int by_blind_choice = seeds / 4;
  to.set_all("same head", same, "by chance", by_blind_choice);
  const LanguageModel model = trained(1, 1);
  to.set_all(
      "row of walk",
      in_columns(blanks::last_row(model, text(), blanks::slowly.prompt), {10, 7, 11, 6}),
      "row of at",
      in_columns(blanks::last_row(model, text(), blanks::flying.prompt), {10, 7, 7, 7, 7, 7}));
  to.claim("shared head", same > by_blind_choice);
  const double walk = birds::watch(model, text(), birds::watches()[0]).attention;
  const double at = birds::watch(model, text(), birds::watches()[2]).attention;
  to.claim("both look", walk > 0.5 && at > 0.5);
}

const LessonProgram program({one_model, rotations_of_models, heads});

}  // namespace fledge::lessons
