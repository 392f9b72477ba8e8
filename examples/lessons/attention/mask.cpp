// The mask: a model that predicts the next word must not see that word. A hidden score counts as
// minus infinity, so its weight is exactly 0, and each word is computed as if the text ended there.
#include "examples/lessons/vocabulary.h"
#include "nn/gpt/language_model.h"

namespace fledge::lessons::in_mask {

/// The vocabulary of the model, and its only text: word i has the number i.
const char* const text[] = {"birds", "sometimes", "walk", "on", "the",
                            "grass", "slowly",    "and",  "fly"};

/// The causal mask: word i sees itself and earlier words.
bool is_seen(Dim i, Dim j) { return j <= i; }

void minus_infinity(LessonText& to) {
  Table grid = Table::of_numbers({"looks at:", text[0], text[1], text[2], text[3]});
  for (Dim i = 0; i < 4; ++i) {
    std::vector<std::string> line{text[i]};
    for (Dim j = 0; j < 4; ++j) line.emplace_back(is_seen(i, j) ? "x" : ".");
    grid.row(line);
  }
  to.set("rows look", grid);
  const std::vector<double> open{1, 2, 0, 3};
  const std::vector<double> masked{1, 2, 0, -infinity};
  double all = 0, seen = 0, weight = 0, weight_seen = 0;
  for (std::size_t j = 0; j < 4; ++j) all += std::exp(open[j]), seen += std::exp(masked[j]);
  const Tensor scores = Array({4, 4}, {1, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0, 3});
  const std::vector<double> walk = numbers(row(softmax(scores, causal()), 2));
  double apart = 0, sum = 0;
  Table table = Table::of_numbers({"word", "score", "exp", "weight", "with mask", "exp", "weight"});
  for (std::size_t j = 0; j < 4; ++j) {
    const double a = std::exp(open[j]) / all, b = std::exp(masked[j]) / seen;
    weight += a, weight_seen += b, sum += walk[j];
    apart = std::max(apart, std::abs(walk[j] - b));
    table.row("%s | %.0f | %.3f | %.3f | %.0f | %.3f | %.3f", text[j], open[j], std::exp(open[j]),
              a, masked[j], std::exp(masked[j]), b);
  }
  table.row("sum |  | %.3f | %.3f |  | %.3f | %.3f", all, weight, seen, weight_seen);
  to.set("four scores", table);
  to.claim("masked weights",
           std::exp(masked[3]) == 0 && walk[3] == 0 && apart < 1e-15 && std::abs(sum - 1) < 1e-15);
}

/// The words from begin to end - 1, as one text for the model.
Indices ids(Dim begin, Dim end) {
  std::vector<Dim> words(static_cast<std::size_t>(end - begin));
  std::iota(words.begin(), words.end(), begin);
  return Indices({1, end - begin}, words);
}

/// The loss of each prediction, the gradient of their mean with respect to all parameters, and how
/// many words the model read.
struct Losses {
  Tensor of_prefix, gradient;
  Dim read = 0;
};

/// The last row of each prefix predicts the next word. In one pass, the last row of the prefix of t
/// words is row t of the whole text.
Losses losses_of(Dim n, bool in_one_pass) {
  Rng rng(1);
  const LanguageModel model({.vocabulary = 9, .context = n, .heads = 2, .width = 8}, rng);
  Losses found;
  Tensor rows;
  std::vector<Tensor> losses, parts;
  for (Dim t = 1; t <= n; ++t) {
    if (t == 1 || !in_one_pass) {
      const Dim words = in_one_pass ? n : t;
      rows = model(ids(0, words));
      found.read += words;
    }
    losses.push_back(reshape(cross_entropy(slice(rows, 1, t - 1, t), ids(t, t + 1)), {1}));
  }
  found.of_prefix = concat(losses, 0);
  backward(mean(found.of_prefix));
  for (const Tensor& p : parameters(model)) parts.push_back(reshape(p.grad(), {p.size()}));
  found.gradient = concat(parts, 0);
  return found;
}

void all_prefixes_at_once(LessonText& to) {
  const Losses alone = losses_of(6, false), once = losses_of(6, true);
  Table table =
      Table::of_numbers({"prefix up to", "words read", "answer", "loss, alone", "in one pass"});
  const std::vector<double> a = numbers(alone.of_prefix), b = numbers(once.of_prefix);
  for (std::size_t i = 0; i < a.size(); ++i)
    table.row("%s | %zu | %s | %.6f | %.6f", text[i], i + 1, text[i + 1], a[i], b[i]);
  table.row("all prefixes | %d |  |  | %d words", int(alone.read), int(once.read));
  to.set_all("losses", table, "once", once.read, "alone", alone.read, "parameters",
             once.gradient.size());
  to.claim("same losses", farthest(once.of_prefix, alone.of_prefix) < 1e-14);
  to.claim("same gradient", farthest(once.gradient, alone.gradient) < 1e-14);
}

void what_the_mask_is_not(LessonText& to) {
  int subsequences = 0, prefixes = 0;
  for (unsigned in = 1; in < 1u << 6; ++in) {  // bit i: word i is in
    ++subsequences;
    prefixes += (in & (in + 1)) == 0 ? 1 : 0;  // bits 0 ... k and no others
  }
  to.set_all("prefixes", prefixes, "subsequences", subsequences);
  to.claim("counted", prefixes == 6 && subsequences == 63);
  Rng rng(2);
  const Tensor q = normal({6, 4}, rng), k = normal({6, 4}, rng);
  const Array of_rows = attention_scores(q, k, causal()).value();  // q.k, a query in each row
  const Array of_columns = matmul_transposed(k, q).value();        // k.q, a query in each column
  bool are_mirrored = true;
  for (Dim i = 0; i < 6; ++i)
    for (Dim j = 0; j < 6; ++j) {
      const double score = value_of(of_rows.at({i, j})), mirrored = value_of(of_columns.at({j, i}));
      const bool agree = is_seen(i, j) ? std::abs(score - mirrored) < 1e-14 : std::isinf(score);
      are_mirrored = are_mirrored && agree;
    }
  to.claim("mirrored", are_mirrored);
}

const LessonProgram program({minus_infinity, all_prefixes_at_once, what_the_mask_is_not});

}  // namespace fledge::lessons::in_mask
