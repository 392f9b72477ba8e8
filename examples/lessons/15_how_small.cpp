// How small: the least model that holds walk and flying, and the count for a large one.
//
// Works out note 000 (Birds sometimes walk), its guess that capacity, the number of parameters, is
// what lets one text associate birds with both words. Adds to 14_capacity the sizes: head size,
// heads and MLP, each over five seeds, and what the note's count should have been.
// Key idea: what a model needs is measured: the least size that does the work, seed after seed.
// Next: nn/layers/attention.h, nn/gpt/language_model.h; then 16_held_out.
#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include "engine/autograd.h"
#include "examples/birds/text_model.h"
#include "examples/lessons/lesson.h"
#include "examples/support/built_in_text.h"
#include "examples/support/table.h"
#include "nn/text/corpus.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

struct Size {
  Dim heads, head_size, hidden;  // hidden: of the MLP
};

/// One layer of this size, trained on the built-in text as `make run` does it.
LanguageModel trained(const Corpus& text, const Size& size, std::uint64_t seed) {
  Rng rng(seed);
  LanguageModelSizes sizes = birds::model_sizes(text);
  sizes.heads = size.heads;
  sizes.width = size.heads * size.head_size;
  sizes.hidden = size.hidden;
  LanguageModel model(sizes, rng);
  birds::train(model, text, seed);
  return model;
}

/// The words that depend on the animal: prompt and next word, for 12 animals, two prompts each.
std::map<std::string, std::string> words_by_prompt() {
  std::map<std::string, std::string> next;
  for (const std::string_view sentence : lines_of(support::built_in_text())) {
    std::istringstream words{std::string(sentence)};
    const std::vector<std::string> w{std::istream_iterator<std::string>(words), {}};
    if (w[1] == "sometimes") next[w[0] + " sometimes walk"] = w[3];
    if (w[2] == "are") next["but " + w[1] + " are good at"] = w[5];
  }
  return next;
}

/// In how many of five runs the model learned walk, flying and both; `words` counts the words that
/// depend on the animal, over all runs.
struct Held {
  int walk = 0, flying = 0, both = 0, words = 0;
  Dim numbers = 0;
};

Held held(const Corpus& text, const Size& size) {
  const std::map<std::string, std::string> all_words = words_by_prompt();
  Held found;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const LanguageModel model = trained(text, size, seed);
    const auto next = [&](const std::string& prompt) {
      return birds::complete(model, text, prompt).next;
    };
    const bool walk = next("birds sometimes") == "walk";
    const bool flying = next("but birds are good at") == "flying";
    found.walk += walk ? 1 : 0;
    found.flying += flying ? 1 : 0;
    found.both += walk && flying ? 1 : 0;
    for (const auto& [prompt, word] : all_words) found.words += next(prompt) == word ? 1 : 0;
    found.numbers = count_parameters(model);
  }
  return found;
}

void sweep(Lesson& to, const Corpus& text) {
  to.part("In how many of five runs the model learned both words");
  const int words = 5 * static_cast<int>(words_by_prompt().size());
  const auto right = [](const char* title) { return Table::Column{title, Table::Align::right}; };
  Table table({right("heads x head size"), right("MLP"), right("numbers"), right("walk"),
               right("flying"), right("both"), right("every animal's words")});
  std::vector<Held> rows;
  for (const Size& size : {Size{1, 2, 32}, Size{1, 4, 32}, Size{1, 8, 32}, Size{2, 4, 32},
                           Size{4, 2, 32}, Size{4, 2, 1}, Size{1, 16, 1}, Size{1, 16, 32}}) {
    const Held row = held(text, size);
    rows.push_back(row);
    table.row({std::to_string(size.heads) + " x " + std::to_string(size.head_size),
               std::to_string(size.hidden), std::to_string(row.numbers), std::to_string(row.walk),
               std::to_string(row.flying), std::to_string(row.both),
               formatted("%.0f %%", 100. * row.words / words)});
  }
  to.show(table.text());
  to.claim(rows[0].both == 0, "with one head of 2 no run learns both");
  to.claim(rows[1].walk >= 4 && rows[1].both <= 4 && rows[1].words < words / 2,
           "one head of 4 learns walk, flying not always, and under half of all words");
  to.claim_rate(rows[4].both, 5, 4, "four heads of 2 learn both");
  to.claim_rate(rows[5].both, 5, 4, "even if the MLP is 1 wide, so the MLP is not the limit");
  to.claim_rate(rows[7].both, 5, 5, "one head of 16 learns both");
  to.claim(rows[7].words > words * 97 / 100, "and over 97 % of every animal's words");
}

void count(Lesson& to) {
  to.part("The count for GPT-2 small");
  Rng rng(1);
  const Attention gpt2(768, 12, rng);
  const Tensor& w = gpt2.c_attn.weight;  // (768, 3 x 768): queries, keys, values, head after head
  const Dim size = w.dim(1) / 3 / gpt2.heads;
  const Tensor query = slice(w, 1, 0, size);  // W_Q of the first head
  const auto whole = [](Dim n) { return static_cast<int>(n); };
  const std::string product =
      formatted("%d x %d = %d", whole(query.dim(0)), whole(size), whole(query.size()));
  to.claim(query.size() == 49152 && query.size() * 36 == w.size(),
           "W_Q of one head: " + product + ", a 36th of W_Q, W_K and W_V");
  to.say(
      "\nThe note writes n_head for the size of a head, 64 in GPT-2 small. Today n_head is the number of "
      "heads, 12.\n");
  to.slip("000", "n_head*n_head parameters, which is typically 48,000",
          formatted("64 x 64 = %d; d_model x head size = ", whole(size * size)) + product,
          "W_Q of a head maps all 768 numbers of a word to 64");
}

/// How far the weights of attention move when its queries (0), keys (1) or values (2) are doubled.
double moved(Dim third) {
  Rng rng(1);
  const Attention attention(8, 2, rng);
  const Tensor x(random_normal({1, 5, 8}, 0, 1, rng));
  NoGrad no_grad;
  const Tensor before = attention.forward_with_weights(x).weights;
  Real* w = attention.c_attn.weight.write();  // (8, 3 x 8)
  for (Dim i = 0; i < 8; ++i)
    for (Dim j = 0; j < 8; ++j) w[i * 24 + third * 8 + j] *= 2;
  const Tensor change = attention.forward_with_weights(x).weights - before;
  return sqrt(max(change * change)).item();
}

void rows(Lesson& to) {
  to.part("What a row of attention is made of");
  const double q = moved(0), k = moved(1), v = moved(2);
  to.claim(q > 0.01 && k > 0.01 && v == 0,
           formatted("doubled, W_Q moves a weight by %.2f, W_K by %.2f, W_V by %g", q, k, v));
  const Corpus text = birds::read_text();
  const LanguageModel model = birds::new_model(text, 1);
  const Dim tokens = text.tokenizer.size(), width = model.sizes.width;
  const Dim shared = width * width;  // W_Q of the only head
  to.claim(tokens == 79 && shared == 256 && model.h[0].attn.c_attn.weight.size() == 3 * shared,
           "W_Q of make run has 256 numbers and makes the queries of all 79 tokens");
  to.slip("000", "48,000 different parameters just for whatever flying needs to attend to!",
          "W_Q is one matrix for all words: 256 numbers, 79 tokens in make run",
          "a word's query is its vector times the shared W_Q; a word owns only its vector");
}

void tell(Lesson& to) {
  const Corpus text = birds::read_text();
  sweep(to, text);
  count(to);
  rows(to);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "15_how_small",
                             "The least model that holds walk and flying.", fledge::tell);
}
