// Capacity: how small may a model be and still fill both blanks? Head size and number of heads vary
// alone; the width stays 16, and so do all other sizes.
#include <map>

#include "examples/lessons/attention/blanks.h"

namespace fledge::lessons::in_capacity {
using blanks::seeds, blanks::text;

constexpr Dim width = 16;

/// A head of this size in a model of width 16. The columns of W_Q, W_K and W_V beyond the head size
/// are 0, and so are the rows of W_O that read them. They stay 0: the gradient of a number in one of
/// two factors is a multiple of the other factor.
void shrink_head(const LanguageModel& model, Dim head_size) {
  const Attention& attention = model.h[0].attn;
  Real* w = attention.c_attn.weight.write();  // (16, 3·16): queries, keys, values
  Real* b = attention.c_attn.bias.write();
  Real* out = attention.c_proj.weight.write();  // (16, 16): a row for each number of the head
  for (Dim third = 0; third < 3; ++third)
    for (Dim j = third * width + head_size; j < (third + 1) * width; ++j) {
      b[j] = 0;
      for (Dim i = 0; i < width; ++i) w[i * 3 * width + j] = 0;
    }
  std::fill(out + head_size * width, out + width * width, Real(0));
}

/// Of twenty runs.
struct Filled {
  int slowly = 0, flying = 0, both = 0, all_right = 0;
  double all = 0;  // share of all animals' blanks
};

/// Trained as in make run. With one head the head size is free; else it is 16 / heads.
Filled fill(Dim heads, Dim head_size, Dim hidden) {
  const std::vector<blanks::Blank> all = blanks::of_all_animals();
  LanguageModelSizes sizes = birds::model_sizes(text());
  sizes.heads = heads, sizes.hidden = hidden;
  Filled found;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed);
    const LanguageModel model(sizes, rng);
    if (heads == 1) shrink_head(model, head_size);
    birds::train(model, text(), seed);
    const bool slowly = blanks::is_filled(model, text(), blanks::slowly);
    const bool flying = blanks::is_filled(model, text(), blanks::flying);
    found.slowly += slowly ? 1 : 0;
    found.flying += flying ? 1 : 0;
    found.both += slowly && flying ? 1 : 0;
    const int right =
        count_of(all, [&](const auto& blank) { return blanks::is_filled(model, text(), blank); });
    found.all_right += right == std::ssize(all) ? 1 : 0;
    found.all += static_cast<double>(right) / seeds / static_cast<double>(all.size());
  }
  return found;
}

/// The share of blanks that are right if the model does not know the animal: each of the two kinds
/// of blank gets its most frequent word.
double share_without_animal() {
  const std::vector<blanks::Blank> all = blanks::of_all_animals();
  std::map<std::string, int> walks, good_at;
  for (const blanks::Blank& blank : all)
    ++(blank.prompt.starts_with("but ") ? good_at : walks)[blank.word];
  int right = 0;
  for (const auto& words : {walks, good_at})
    right += std::max_element(words.begin(), words.end(), [](const auto& a, const auto& b) {
               return a.second < b.second;
             })->second;
  return right / static_cast<double>(all.size());
}

void head_size(LessonText& to) {
  Table table = Table::of_numbers(
      {"   head size", "numbers in W_Q", "slowly", "flying", "both", "all animals"});
  std::vector<Filled> rows;
  for (const Dim size : {0, 1, 2, 4, 16}) {
    const Filled& row = rows.emplace_back(fill(1, size, 32));
    table.row("   %d | %d | %d | %d | %d | %.0f %%", int(size), int(width * size), row.slowly,
              row.flying, row.both, 100 * row.all);
  }
  const double guessed = share_without_animal();
  to.set_all("head sizes", table, "one number", rows[1].both, "all with one", rows[1].all_right,
             "all with two", rows[2].all_right, "guessed", 100 * guessed);
  to.claim("no head", rows[0].both == 0);
  to.claim("most frequent", std::abs(rows[0].all - guessed) < 0.01);
  to.claim_rate("size 1", rows[1].both, seeds, 14);
  to.claim_rate("size 2", rows[2].both, seeds, 19);
  to.claim_rate("size 16", rows[4].both, seeds, 19);
}

void heads_and_hidden(LessonText& to) {
  to.set("parameters", thousands(count_parameters(birds::new_model(text(), 1))));
  int least = seeds;
  for (const Dim heads : {2, 4, 8, 16}) least = std::min(least, fill(heads, 16 / heads, 32).both);
  const Filled four = fill(1, 16, 4), one = fill(1, 16, 1);
  to.set_all("wrong with hidden 4", std::abs(100 - 100 * four.all), "wrong with hidden 1",
             100 - 100 * one.all);
  to.claim_rate("heads", least, seeds, 19);
  to.claim_rate("hidden 4", four.both, seeds, 19);
  to.claim("hidden 1", one.all < four.all);
}

void shared(LessonText& to) {
  Rng rng(1);
  const Attention gpt2(768, 12, rng);
  const Dim size = gpt2.c_attn.weight.dim(1) / 3 / gpt2.heads.queries;  // (768, 3 x 768)
  const Tensor query = slice(gpt2.c_attn.weight, 1, 0, size);           // W_Q of the first head
  const LanguageModel model = birds::new_model(text(), 1);
  const Dim tokens = text().tokenizer.size();
  to.set_all("in W_Q", thousands(query.size()), "tokens", tokens, "width of GPT-2", query.dim(0),
             "size of its heads", size);
  to.claim("GPT-2", query.size() == 49152);
  to.claim("ours", model.h[0].attn.c_attn.weight.size() == 3 * 256 && tokens == 79);
}

const LessonProgram program({head_size, heads_and_hidden, shared});

}  // namespace fledge::lessons::in_capacity
