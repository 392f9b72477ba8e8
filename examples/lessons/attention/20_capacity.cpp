// Capacity: how small may a model be and still fill both blanks?
//
// Works out note 000, 000.23 to 000.26 and 000.31 to 000.34. Head size and number of heads vary
// alone; the width stays 16, and so do all other sizes. Key idea: what a model needs is measured,
// over twenty seeds. The numbers of W_Q are shared by all words of the text.
// Next: nn/layers/attention.h, nn/gpt/language_model.h; then 21_partition.
#include <algorithm>
#include <cmath>
#include <map>

#include "examples/lessons/attention/blanks.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/table.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

constexpr Dim width = 16;
constexpr int seeds = 20;

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

struct Size {
  Dim heads, head_size, hidden;
};

/// Trained as in make run. With one head the head size is free; else it is 16 / heads.
LanguageModel trained(const Corpus& text, const Size& size, std::uint64_t seed) {
  Rng rng(seed);
  LanguageModelSizes sizes = birds::model_sizes(text);
  sizes.heads = size.heads;
  sizes.hidden = size.hidden;
  LanguageModel model(sizes, rng);
  if (size.heads == 1) shrink_head(model, size.head_size);
  birds::train(model, text, seed);
  return model;
}

/// Of twenty runs.
struct Filled {
  int slowly = 0, flying = 0, both = 0, all_right = 0;
  double all = 0;  // share of all animals' blanks
};

Filled fill(const Corpus& text, const Size& size) {
  const std::vector<blanks::Blank> all = blanks::of_all_animals();
  Filled found;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const LanguageModel model = trained(text, size, seed);
    const bool slowly = blanks::is_filled(model, text, blanks::slowly);
    const bool flying = blanks::is_filled(model, text, blanks::flying);
    found.slowly += slowly ? 1 : 0;
    found.flying += flying ? 1 : 0;
    found.both += slowly && flying ? 1 : 0;
    const auto right = std::count_if(all.begin(), all.end(), [&](const blanks::Blank& blank) {
      return blanks::is_filled(model, text, blank);
    });
    found.all_right += right == std::ssize(all) ? 1 : 0;
    found.all += static_cast<double>(right) / seeds / static_cast<double>(all.size());
  }
  return found;
}

std::vector<Filled> sweep(Lesson& to, const Corpus& text, const std::vector<Size>& sizes) {
  const auto right = [](const char* title) { return Table::Column{title, Table::Align::right}; };
  Table table({right("   heads"), right("head size"), right("W_Q"), right("MLP"), right("slowly"),
               right("flying"), right("both"), right("all animals")});
  std::vector<Filled> rows;
  const auto count = [](Dim n) { return std::to_string(n); };
  for (const Size& size : sizes) {
    const Filled row = fill(text, size);
    rows.push_back(row);
    table.row({count(size.heads), count(size.head_size), count(width * size.heads * size.head_size),
               count(size.hidden), count(row.slowly), count(row.flying), count(row.both),
               formatted("%.0f %%", 100 * row.all)});
  }
  to.show(table.text());
  return rows;
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

void head_size(Lesson& to, const Corpus& text) {
  to.part("The head size");
  to.define("capacity", "How much a model can learn, which depends on its sizes.");
  to.define("run", "One training of a model, with one seed.");
  to.define("hidden size", "How many numbers the MLP has between its two products.");
  to.say(
      "\nThe command `make run` trains a model on a small text about animals. We call it our "
      "model. Its vectors have 16 numbers. It has one head of size 16, and an MLP with a hidden "
      "size of 32. A blank is an empty place at the end of a prompt. Each animal has two blanks, "
      "such as 'birds sometimes walk __' ('slowly') and 'but birds are good at __' ('flying'). To "
      "fill them, the model must know the animal.\nEach row of the table is one size of model, "
      "with 20 runs. The head becomes smaller; the rest stays. The column 'W_Q' counts the numbers "
      "of that matrix, 'MLP' gives the hidden size. The columns 'slowly' and 'flying' count the "
      "runs in which this blank got the right word, and 'both' those in which both did. The column "
      "'all animals' is the share of right words among the 24 blanks of the twelve animals of the "
      "text (people are one of them), over all 20 runs.\n");
  const std::vector<Filled> rows =
      sweep(to, text, {{1, 0, 32}, {1, 1, 32}, {1, 2, 32}, {1, 4, 32}, {1, 16, 32}});
  const double guessed = share_without_animal();
  to.say(
      "Two numbers for each query, key and value are enough for all twelve animals. " +
      formatted("One number is nearly enough: it fills both blanks of 'birds' in %d of 20 runs. ",
                rows[1].both) +
      "If you predicted 2, you were right. If you predicted more, the small number is the "
      "surprise. " +
      formatted(
          "One number has room for twelve animals, if each animal gets a different number: in %d "
          "of 20 runs all 24 blanks are right. But not every run finds such numbers: over all runs "
          "%.0f %% of the blanks are wrong.\n",
          rows[1].all_right, 100 - 100 * rows[1].all) +
      "A head of size 0 gives no attention, so the model cannot know the animal. After 'sometimes "
      "walk' it always writes the most frequent word, 'away', and after 'are good at' always "
      "'hiding'. Both are right only for mice, hens and foxes, three of twelve animals. " +
      formatted("So %.0f %% of all blanks are right.\n", 100 * guessed) +
      "A source note asks how a model learns 'flying' as well as 'walk'. It says: \"I think the "
      "answer is capacity\", the number of parameters. Our model has more parameters than it "
      "needs: a model with a head eight times smaller learns both as well. But too few are not "
      "enough, as the row with head size 0 shows.\nIn the lines below, \"at least\" says how many "
      "of 20 runs the check asks for.\n");
  to.claim(rows[0].both == 0, "without attention (head size 0) no run fills both blanks");
  to.claim(std::abs(rows[0].all - guessed) < 0.01,
           "without attention the share is that of the most frequent words");
  to.claim_rate(rows[1].both, seeds, 14, "head size 1 fills both");
  to.claim_rate(rows[2].both, seeds, 19, "head size 2 fills both");
  to.claim_rate(rows[4].both, seeds, 19, "head size 16 fills both");
}

void heads_and_hidden(Lesson& to, const Corpus& text) {
  to.part("The number of heads, and the hidden size");
  to.say(
      "Heads times head size is 16 in each of the first four rows. So these four models and our "
      "model have equally many parameters: " +
      support::thousands(count_parameters(birds::new_model(text, 1))) +
      ". The last two rows have one head and a smaller MLP. W_Q now counts all heads.\n");
  const std::vector<Filled> rows =
      sweep(to, text, {{2, 8, 32}, {4, 4, 32}, {8, 2, 32}, {16, 1, 32}, {1, 16, 4}, {1, 16, 1}});
  to.say(
      "With the same number of parameters, the number of heads makes no difference here. All these "
      "models fill nearly all blanks, so this test may be too easy to show one. A hidden size of 4 "
      "is enough for the MLP. With a hidden size of 1 some runs fail.\n");
  int least = seeds;
  for (std::size_t i = 0; i < 4; ++i) least = std::min(least, rows[i].both);
  to.claim_rate(least, seeds, 19, "both blanks are filled, with 2, 4, 8 and 16 heads alike");
  to.claim_rate(rows[4].both, seeds, 19, "a hidden size of 4 is enough");
  to.claim(rows[5].all < rows[4].all, "a hidden size of 1 is not enough for all animals");
}

void shared(Lesson& to, const Corpus& text) {
  to.part("The numbers of W_Q belong to no word");
  Rng rng(1);
  const Attention gpt2(768, 12, rng);
  const Dim size = gpt2.c_attn.weight.dim(1) / 3 / gpt2.heads;  // (768, 3 x 768)
  const Tensor query = slice(gpt2.c_attn.weight, 1, 0, size);   // W_Q of the first head
  const auto whole = [](Dim n) { return static_cast<int>(n); };
  const LanguageModel model = birds::new_model(text, 1);
  const Dim tokens = text.tokenizer.size();
  to.say(
      formatted(
          "GPT-2 small is a published model of width 768: the vector of a word has 768 numbers. It "
          "has heads of size 64. W_Q of one head has 768 * 64 = %d numbers. ",
          whole(query.size())) +
      "The note means this number, and says that all of it is there for 'flying'. But W_Q is one "
      "matrix for all words. " +
      formatted(
          "In our model W_Q has 16 * 16 = 256 numbers. They make the queries of all %d tokens: "
          "words, full stop and line end. ",
          whole(tokens)) +
      "Each word owns only its own row in the table of embeddings: 16 numbers. The model adds the "
      "vector of the position to this row. The shared W_Q makes the query from the sum.\nThe note "
      "also speaks of \"other heads that get learnt later\". But no part begins to learn later: "
      "each step changes the embeddings, all heads and the MLP at once.\n");
  to.claim(query.size() == 49152, formatted("W_Q of one head of GPT-2 small: %d x %d = %d",
                                            whole(query.dim(0)), whole(size), whole(query.size())));
  to.claim(model.h[0].attn.c_attn.weight.size() == 3 * 256 && tokens == 79,
           "our model: 3 x 256 numbers in W_Q, W_K and W_V, for 79 tokens");
  to.slip("000", "48,000 different parameters just for whatever flying needs to attend to!",
          formatted("W_Q is one matrix for all words: 256 numbers, %d tokens in our model",
                    whole(tokens)),
          "a word's query is its vector times the shared W_Q; a word owns only its vector");
}

void lesson(Lesson& to) {
  const Corpus text = birds::read_text();
  head_size(to, text);
  heads_and_hidden(to, text);
  shared(to, text);
}

void with_head_size(Lesson& to, Dim size) {
  const Corpus text = birds::read_text();
  const LanguageModel model = trained(text, {1, size, 32}, 1);
  for (const blanks::Blank& blank : {blanks::slowly, blanks::flying}) {
    const birds::Completion best = birds::complete(model, text, blank.prompt);
    to.say("'" + blank.prompt + " __': '" + best.next + formatted("' %.3f", best.probability));
  }
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/20_capacity",
       .title = "Capacity: how small may a model be?",
       .question =
           "One small model learns how birds walk, and what they are good at. Is there room for "
           "both because the model has so many parameters?",
       .prediction =
           "A model must say how each of twelve animals walks, and what it is good at. Its "
           "queries, keys and values have 16 numbers each. How few numbers are enough: 16, 8, 4, 2 "
           "or 1?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.h", "c_attn", "W_Q, W_K and W_V side by side"},
                   {"examples/birds/text_model.cpp", "model_sizes", "the sizes of our model"}},
       .plays = {{.option = "--head-size",
                  .value = "1",
                  .help = "both blanks, filled by a model with a smaller head",
                  .limits = {0, 16},
                  .with_whole_number = fledge::with_head_size}}});
}
