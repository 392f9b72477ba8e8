// The mask: a model that predicts the next word must not see that word.
//
// Works out 002.17 (all prefixes at once), 002.18 (prefixes, not subsequences) and 002.19 (where
// the mask lies if queries are columns). Key idea: a hidden score counts as minus infinity, so its
// weight is exactly 0, and each word is computed as if the text ended there.
// Next: 06_positions.cpp.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/table.h"
#include "nn/gpt/language_model.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;
/// The vocabulary of the model, and its only text: word i has the number i.
const char* const text[] = {"birds", "sometimes", "walk", "on", "the",
                            "grass", "slowly",    "and",  "fly"};

/// The causal mask: word i sees itself and earlier words.
bool is_seen(Dim i, Dim j) { return j <= i; }

/// Four words; 'x' is seen, '.' is hidden. The word that looks has a row, or else a column.
std::string grid(const char* title, bool rows_look) {
  Table table = Table::of_numbers({title, text[0], text[1], text[2], text[3]});
  for (Dim i = 0; i < 4; ++i) {
    std::vector<std::string> line{text[i]};
    for (Dim j = 0; j < 4; ++j)
      line.emplace_back((rows_look ? is_seen(i, j) : is_seen(j, i)) ? "x" : ".");
    table.row(line);
  }
  return table.text();
}

void minus_infinity(Lesson& to) {
  to.part("Why there is a mask, and how a score is hidden");
  to.define("token",
            "A piece of text that the model treats as one, such as a word or a character.");
  to.define("prefix", "The beginning of a text, up to some token.");
  to.say(
      "Tokens are words here. A model learns to predict the next word after each prefix of a text: "
      "'walk' after 'birds sometimes'.\nIf 'sometimes' may look at 'walk', attention can copy the "
      "answer. Then the model learns only to copy. In a new text there is nothing to copy, because "
      "the next word is not written yet. So later words are hidden.");
  to.define("mask",
            "The rule that says which words a word may see; hidden words get the weight 0.");
  to.define("causal mask", "The mask that lets a word see itself and earlier words only.");
  to.say("'x' marks a word that is seen, '.' a hidden word:\n");
  to.show(grid("looks at:", true));
  to.say(
      "A hidden score is replaced by minus infinity (-inf) before the softmax. exp(-inf) is "
      "exactly 0. So the weight is exactly 0, and the other weights of the row add up to 1. Here "
      "'walk' has four scores, and 'on' is hidden:\n");
  const std::vector<double> open{1, 2, 0, 3};
  const std::vector<double> masked{1, 2, 0, -std::numeric_limits<double>::infinity()};
  double all = 0, seen = 0, weight = 0, weight_seen = 0;
  for (std::size_t j = 0; j < 4; ++j) all += std::exp(open[j]), seen += std::exp(masked[j]);
  Table table = Table::of_numbers({"word", "score", "exp", "weight", "with mask", "exp", "weight"});
  for (std::size_t j = 0; j < 4; ++j) {
    const double a = std::exp(open[j]) / all, b = std::exp(masked[j]) / seen;
    weight += a, weight_seen += b;
    table.row({text[j], formatted("%.0f", open[j]), formatted("%.3f", std::exp(open[j])),
               formatted("%.3f", a), formatted("%.0f", masked[j]),
               formatted("%.3f", std::exp(masked[j])), formatted("%.3f", b)});
  }
  table.row({"sum", "", formatted("%.3f", all), formatted("%.3f", weight), "",
             formatted("%.3f", seen), formatted("%.3f", weight_seen)});
  to.show(table.text());
  const Tensor scores = Array({4, 4}, {1, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0, 3});
  const std::vector<double> weights = to_vector(softmax(scores, causal()).value());
  double apart = 0, sum = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    const double a = weights[8 + j];  // 8: the third row, of 'walk'
    apart = std::max(apart, std::abs(a - std::exp(masked[j]) / seen));
    sum += a;
  }
  to.claim(
      std::exp(masked[3]) == 0 && weights[11] == 0 && apart < 1e-15 && std::abs(sum - 1) < 1e-15,
      "the causal mask of fledge gives these weights; that of 'on' is exactly 0");
}

/// The loss of each prediction, and the gradient of their mean with respect to all parameters.
struct Losses {
  std::vector<double> of_prefix;
  Tensor gradient;
};

/// The words from begin to end - 1, as one text for the model.
Indices ids(Dim begin, Dim end) {
  std::vector<Dim> numbers;
  for (Dim i = begin; i < end; ++i) numbers.push_back(i);
  return Indices({1, end - begin}, numbers);
}

/// The last row of each prefix predicts the next word. In one pass, the last row of the prefix of t
/// words is row t of the whole text.
Losses losses_of(const LanguageModel& model, Dim n, bool in_one_pass) {
  Losses found;
  Tensor rows = model(ids(0, n)), mean = Array({}, {0});
  for (Dim t = 1; t <= n; ++t) {
    if (!in_one_pass) rows = model(ids(0, t));
    const Tensor loss = cross_entropy(slice(rows, 1, t - 1, t), ids(t, t + 1));
    found.of_prefix.push_back(loss.item());
    mean = mean + loss / static_cast<double>(n);
  }
  backward(mean);
  std::vector<Tensor> parts;
  for (const Tensor& p : parameters(model)) parts.push_back(reshape(p.grad(), {p.size()}));
  found.gradient = concat(parts, 0);
  zero_grad(model);
  return found;
}

void compare(Lesson& to, std::int64_t n) {
  Rng rng(1);
  const LanguageModel model({.vocabulary = 9, .context = n, .heads = 2, .width = 8}, rng);
  const Losses alone = losses_of(model, n, false), once = losses_of(model, n, true);
  Table table =
      Table::of_numbers({"prefix up to", "words read", "answer", "loss, alone", "in one pass"});
  Dim read = 0;
  double apart = 0;
  for (Dim t = 1; t <= n; ++t) {
    const auto at = static_cast<std::size_t>(t - 1);
    table.row({text[at], std::to_string(t), text[t], formatted("%.6f", alone.of_prefix[at]),
               formatted("%.6f", once.of_prefix[at])});
    read += t;
    apart = std::max(apart, std::abs(alone.of_prefix[at] - once.of_prefix[at]));
  }
  table.row({"all prefixes", std::to_string(read), "", "", std::to_string(n) + " words"});
  to.show(table.text());
  const Tensor difference = once.gradient - alone.gradient;
  const double moved = std::max(max(difference).item(), max(-difference).item());
  to.claim(apart < 1e-14,
           formatted("%d words read once, %d words read in %d prefixes: the same losses", int(n),
                     int(read), int(n)));
  to.claim(moved < 1e-14, formatted("the same gradient for all %d parameters, to 14 digits",
                                    int(once.gradient.size())));
}

void all_prefixes_at_once(Lesson& to) {
  to.part("One pass over the text trains all its prefixes");
  to.define("parameter", "A number of the model that training changes.");
  to.define(
      "loss",
      "The number that training makes small; it says how wrong the predictions of the model are.");
  to.say(
      "The result of a word is its new vector. From the result of 'walk' the model computes a "
      "probability for each possible next word; lesson 18 shows how. The loss of a prediction is "
      "-ln p here, where ln is the natural logarithm. p is the probability that the model gave to "
      "the right word. The loss is 0 for p = 1, and 2.303 for p = 0.1.\nA pass is one computation "
      "of the model, from the words to its predictions. A model can read each prefix alone, in six "
      "passes. With the causal mask it can also read all six words in one pass, and predict after "
      "each of them. The mask gives later words the weight 0, so they add nothing to the result of "
      "'walk'. It is the same result as in the prefix 'birds sometimes walk', read alone.\nThe "
      "table compares both, for a small model with random parameters. 'answer' is the right next "
      "word. The text has seven words; the seventh is only an answer. The second claim is about "
      "the gradient of the mean of the six losses.\n");
  compare(to, 6);
  to.say(
      "If you predicted 21 and 6, you were right: 1 + 2 + 3 + 4 + 5 + 6 = 21 words alone, and 6 in "
      "one pass. For n words it is n(n+1)/2 and n. So one pass gives the same gradient, and the "
      "model computes fewer words.");
}

void what_the_mask_is_not(Lesson& to) {
  to.part("Prefixes, not subsequences; and two ways to draw the mask");
  to.say(
      "'birds walk' is not a prefix of 'birds sometimes walk', because 'sometimes' is left out. It "
      "is a subsequence: some of the words, in order. A text of n words has n prefixes. It has 2^n "
      "- 1 subsequences: each word is in or out, and not all are out. The mask hides only later "
      "words, so no word in the middle can be left out: one pass trains on the prefixes only.");
  int subsequences = 0, prefixes = 0;
  for (unsigned in = 1; in < 1u << 6; ++in) {  // bit i: word i is in
    ++subsequences;
    prefixes += (in & (in + 1)) == 0 ? 1 : 0;  // bits 0 ... k and no others
  }
  to.claim(prefixes == 6 && subsequences == 63,
           formatted("6 words: %d prefixes, %d subsequences, counted one by one", prefixes,
                     subsequences));
  to.slip(
      "002", "based on every subsequence of the sentence",
      formatted("%d prefixes; a sentence of 6 words has %d subsequences", prefixes, subsequences),
      "row t of the mask hides all words after word t, and no word before it");
  to.say(
      "Note 002, one of the source notes, also says that the scores below the diagonal become "
      "minus infinity. The diagonal goes from the upper left to the lower right. Our grid hides "
      "what is above it. The note is still right: in its grid each word that looks has a column, "
      "not a row. This is the same mask:\n");
  to.show(grid("is seen by:", false));
  Rng rng(2);
  const Tensor q = random_normal({6, 4}, 0, 1, rng), k = random_normal({6, 4}, 0, 1, rng);
  const Array of_rows = attention_scores(q, k, causal()).value();  // q.k, a query in each row
  const Array of_columns = matmul_transposed(k, q).value();        // k.q, a query in each column
  bool are_mirrored = true;
  for (Dim i = 0; i < 6; ++i)
    for (Dim j = 0; j < 6; ++j) {
      const double score = value_of(of_rows.at({i, j})), mirrored = value_of(of_columns.at({j, i}));
      const bool agree = is_seen(i, j) ? std::abs(score - mirrored) < 1e-14 : std::isinf(score);
      are_mirrored = are_mirrored && agree;
    }
  to.claim(are_mirrored,
           "random scores: hidden above the diagonal; with rows and columns exchanged, below");
}

void lesson(Lesson& to) {
  minus_infinity(to);
  all_prefixes_at_once(to);
  what_the_mask_is_not(to);
}

void another_length(Lesson& to, std::int64_t n) {
  to.say("Each prefix read alone, and all of them in one pass. The last two columns agree.\n");
  compare(to, n);
}

support::Svg picture() {
  const auto start = support::Svg::Anchor::start, end = support::Svg::Anchor::end;
  const double left = 120, top = 90, cell = 60;
  support::Svg svg(560, 480);
  svg.text(20, 28, "The causal mask: a word sees itself and earlier words", start, 16);
  svg.text(20, 52, "The word of a row looks at the words of the columns.", start, 13);
  for (Dim i = 0; i < 6; ++i) {
    const double at = cell * static_cast<double>(i);
    svg.text(left - 8, top + at + 34, text[i], end);
    svg.text(left + at + cell / 2, top - 8, text[i], support::Svg::Anchor::middle, 11);
    for (Dim j = 0; j < 6; ++j)
      svg.box(left + cell * static_cast<double>(j) + 1, top + at + 1, cell - 2, cell - 2,
              is_seen(i, j) ? support::svg_colours()[0] : "#dddddd");
  }
  svg.text(20, 470, "blue: may be seen;  grey: hidden, score minus infinity, weight 0");
  return svg;
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/05_mask",
       .title = "The mask: a word must not see the words after it",
       .question =
           "A model learns to predict the next word. How can it read a whole text in training and "
           "not see the answers?",
       .prediction =
           "A model predicts the next word after 1, 2, 3, 4, 5 and 6 words of a text. It may read "
           "each of the six beginnings alone, or all six words together, one time. How many words "
           "does it read in each case?",
       .body = fledge::lesson,
       .reading = {{"engine/masks.h", "causal", "the mask as a function of query and key"},
                   {"engine/ops/masked_products.cpp", "attention_scores", "-inf where hidden"},
                   {"nn/gpt/language_model.h", "LanguageModel", "the model of part 2"}},
       .plays = {{.option = "--words",
                  .value = "4",
                  .help = "the table of part 2 for another number of words",
                  .limits = {3, 8},
                  .with_whole_number = fledge::another_length}},
       .picture = fledge::picture});
}
