#include "nn/train/defaults.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "nn/text/batches.h"
#include "nn/train/step_cost.h"

namespace fledge {

namespace {

// Their held-out losses, and those of the best counting tables beside them: examples/EXPERIMENTS.md.
constexpr TrainingDefaults of_tiny_text{1, 2, 32, 32, 8, 0.004, 0.1, 0.1, 100};
constexpr TrainingDefaults of_small_text{2, 4, 64, 64, 16, 0.004, 0.1, 0.1, 60};
// Each symbol is seen so seldom that the model soon knows the text by heart. A smaller rate, more
// dropout and more weight decay slow this down.
constexpr TrainingDefaults of_rare_symbols{4, 4, 128, 64, 12, 0.002, 0.15, 3, 20};
constexpr TrainingDefaults of_short_lines{4, 4, 64, 32, 64, 0.004, 0.05, 0.1, 24};

// The shorter a text, the more dropout: examples/EXPERIMENTS.md.
constexpr TrainingDefaults of_text(Dim tokens) {
  const double dropout = tokens < 200'000 ? 0.2 : tokens < 400'000 ? 0.1 : 0;
  return {4, 4, 128, 128, 16, 0.004, dropout, 0.1, 40};
}

// Heads that divide the width, or a width that the heads divide: one of them may be given. Rotary
// positions need an even quotient, and shared keys heads in groups.
void fit_heads(const TrainingDefaults& row, bool has_heads, bool has_width,
               LanguageModelSizes& sizes) {
  const Dim unit = sizes.recipe.position == Position::rotary ? 2 : 1;
  const Dim group = std::max<Dim>(sizes.recipe.key_heads, 1);
  if (!has_heads) sizes.heads = (row.heads + group - 1) / group * group;
  if (has_width) {
    while (!has_heads && sizes.heads > group && sizes.width % (sizes.heads * unit) != 0)
      sizes.heads -= group;
  } else {
    const Dim step = sizes.heads * unit;
    sizes.width = std::max<Dim>((row.width + step - 1) / step, 1) * step;
  }
  if (sizes.recipe.key_heads == sizes.heads) sizes.recipe.key_heads = 0;  // as many as heads
}

// At most this batch, halved until a step holds at most 10⁹ numbers: 4 GB.
Dim fitting_batch(const LanguageModelSizes& sizes, Dim batch) {
  while (batch > 1 && numbers_of_step(sizes, static_cast<double>(batch)) > 1e9) batch /= 2;
  return batch;
}

}  // namespace

TrainingDefaults defaults_for(const Corpus& corpus) {
  const Dim tokens = corpus.train.size(), longest = longest_document(corpus.train);
  TrainingDefaults row = tokens < tiny_tokens                        ? of_tiny_text
                         : tokens < seldom * corpus.tokenizer.size() ? of_rare_symbols
                         : tokens < 40'000                           ? of_small_text
                         : longest > 0 && longest <= 32              ? of_short_lines
                                                                     : of_text(tokens);
  if (longest == 0) {
    row.context = std::min(row.context, std::max<Dim>(tokens - 1, 1));
  } else if (longest < row.context) {  // shorter windows, and as many more of them
    const Dim context = std::max<Dim>((longest + 7) / 8 * 8, 8);
    row.batch = std::max(row.batch, row.batch * row.context / context / 2);
    row.context = context;
  }
  return row;
}

bool choose_settings(const TrainingDefaults& row, const Corpus& corpus, double operations,
                     const std::function<bool(std::string_view)>& is_given,
                     LanguageModelSizes& sizes, TrainerOptions& training) {
  const auto choose = [&]<class T>(const char* name, T& value, std::type_identity_t<T> chosen) {
    if (!is_given(name)) value = chosen;
  };
  CosineSchedule& schedule = training.schedule;
  choose("layers", sizes.layers, row.layers);
  fit_heads(row, is_given("heads"), is_given("width"), sizes);
  choose("context", sizes.context, row.context);
  choose("batch", training.batch, fitting_batch(sizes, row.batch));
  choose("lr", schedule.rate, row.rate);
  choose("dropout", sizes.dropout, row.dropout);
  choose("decay", training.decay, row.decay);
  const double tokens =
      static_cast<double>(training.batch) * mean_window(corpus.train, sizes.context);
  const double of_muon = training.optimizer == Optimizer::muon ? operations_of_muon(sizes) : 0;
  const double of_step = operations_of_step(sizes, tokens / static_cast<double>(sizes.context));
  const double by_work = operations / (of_step + of_muon);
  const double by_passes = row.most_passes * static_cast<double>(corpus.train.size()) / tokens;
  const std::int64_t least = is_given("warmup") ? schedule.warmup : 0;
  const double steps = std::clamp(std::floor(std::min(by_work, by_passes)), 20.0, 1e9);
  choose("steps", schedule.steps, std::max(static_cast<std::int64_t>(steps), least));
  choose("warmup", schedule.warmup, std::min<std::int64_t>(100, schedule.steps / 10));
  return by_passes < by_work;
}

Dim longest_document(const TokenText& text) {
  std::size_t longest = 0;
  for (std::size_t d = 0; d + 1 < text.starts.size(); ++d)
    longest = std::max(longest, text.starts[d + 1] - text.starts[d]);
  return static_cast<Dim>(longest);
}

}  // namespace fledge
