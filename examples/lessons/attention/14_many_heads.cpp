// Many heads: two questions at once, and how the results of heads are joined.
//
// Works out note 002, 002.10 to 002.14 and 002.21. Key idea: a head has one row of weights for each
// word, so it brings one mixture; two heads bring two mixtures, kept apart. No head is told where to
// look. Which head takes which question depends on the seed.
// Next: nn/layers/attention.h, then 15_cross_attention.
#include <algorithm>

#include "engine/ops.h"
#include "examples/lessons/attention/reader.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/errors.h"
#include "examples/support/table.h"

namespace fledge {
namespace {

using reader::Question, reader::Reader, support::formatted, support::Lesson, support::Table;

double largest(const Tensor& x) { return std::max(max(x).item(), max(-x).item()); }

// Which word stands before this one? Which word is the first? Asked from the third word on.
const std::vector<Question> questions{[](Dim t) { return t < 2 ? -1 : t - 1; },
                                      [](Dim t) { return t < 2 ? -1 : 0; }};

std::string cell(const std::vector<double>& x) { return formatted("%.2f  %.2f", x[0], x[1]); }

void two_questions(Lesson& to) {
  to.part("Two questions, and one or two heads");
  to.say(
      "A text has eight random words. At each word, from the third on, the model must answer two "
      "questions: which word stands before this one, and which word is the first? Words and positions "
      "are one-hot vectors, and one attention layer is all that learns: 150 steps.\n");
  to.define("self-attention", "Attention with queries, keys and values from the same text.");
  to.define("role of a head", "What a head mostly looks at, such as the previous word.");
  to.say(
      "\nEach cell has two numbers: for the previous word, and for the first word. Under \"looks\" "
      "they are the weights that the head gives to these words; under \"right\" the share of right "
      "answers.\n");
  Rng texts(999);
  const Indices unseen = reader::random_texts(100, texts);
  constexpr int seeds = 20;
  int right = 0, apart = 0, exchanged = 0;
  double best_alone = 0;
  Table table({{"   seed"},
               {"head 1 looks"},
               {"head 2 looks"},
               {"both: right"},
               {"one head looks"},
               {"right"}});
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Reader two = reader::trained(2, questions, true, Rng(seed));
    const Reader one = reader::trained(1, questions, true, Rng(seed));
    const std::vector<double> a = reader::looks(two, unseen, 0), b = reader::looks(two, unseen, 1);
    const std::vector<double> both = reader::accuracy(two, unseen);
    const std::vector<double> alone = reader::accuracy(one, unseen);
    right += both[0] >= 0.99 && both[1] >= 0.99 ? 1 : 0;
    apart += std::max(std::min(a[0], b[1]), std::min(a[1], b[0])) > 0.8 ? 1 : 0;
    exchanged += a[0] < b[0] ? 1 : 0;
    best_alone = std::max(best_alone, std::min(alone[0], alone[1]));
    if (seed <= 4)
      table.row({formatted("   %d", static_cast<int>(seed)), cell(a), cell(b), cell(both),
                 cell(reader::looks(one, unseen, 0)), cell(alone)});
  }
  to.show(table.text());
  to.say(
      "With two heads, one takes the previous word and the other takes the first word. Nothing in the "
      "model says which: it depends on the random numbers at the start. One head gives about half of "
      "its weight to each word, because its weights must add up to 1. It passes on a mixture of two "
      "words, and the two words can no longer be told apart with certainty. So one head gets most answers right, and neither question fully.\n");
  to.claim_rate(right, seeds, 18, "with two heads at least 99 % of both questions are right");
  to.claim_rate(apart, seeds, 17, "one head looks at the previous word, the other at the first");
  to.claim(exchanged > 0 && exchanged < seeds,
           formatted("in %d of 20 seeds head 1 is the one for the first word", exchanged));
  to.claim(best_alone < 0.98,
           formatted("with one head the worse question is never above %.2f", best_alone));
}

void down_and_up(Lesson& to) {
  constexpr Dim n = 12, d = 3, words = 5;  // four heads
  to.part("How heads are joined: value-down and value-up");
  to.define("width", "How many numbers the vector of a word has inside the model.");
  to.define(
      "value-down, value-up",
      "The two factors of a head's value matrix: from the width down to the head size, and back "
      "up to the width.");
  to.say(
      "\nHere the width is 12, and four heads have the size 3. In a full value matrix a head would "
      "have 12 * 12 = 144 numbers. As two factors, 12 x 3 and 3 x 12, it has 36 + 36 = 72: as many as "
      "W_Q and W_K together. The result of a head is\n"
      "   weights times (x Down) times Up\n"
      "and the results of all heads are added. A program does this in one step. It puts the four "
      "results of three numbers side by side, which gives 12 numbers. Then it multiplies once by all "
      "Up matrices, one below the other.\n"
      "Heads stand side by side: every head reads the same x. Layers stand one behind the other.\n");
  Rng rng(2);
  const Attention attention(n, n / d, rng, Bias::without);
  const Tensor x = random_normal({words, n}, 0, 1, rng);
  const auto [joined, weights] = attention.forward_with_weights(x, causal());
  Tensor by_head = 0.0, whole = 0.0, W_V, down, up;
  for (Dim h = 0; h < n / d; ++h) {
    const Tensor A = reshape(slice(weights, 0, h, h + 1), {words, words});
    down = slice(attention.c_attn.weight, 1, 2 * n + h * d, 2 * n + (h + 1) * d);
    up = slice(attention.c_proj.weight, 0, h * d, (h + 1) * d);
    W_V = matmul(down, up);
    by_head = by_head + matmul(matmul(A, matmul(x, down)), up);
    whole = whole + matmul(A, matmul(x, W_V));
  }
  to.claim(largest(by_head - joined) < 1e-14,
           "the sum over the heads is the joined result, to 14 digits");
  to.claim(largest(whole - joined) < 1e-14,
           formatted("a value matrix W_V = Down Up gives the same: %d numbers instead of %d",
                     static_cast<int>(down.size() + up.size()), static_cast<int>(W_V.size())));
  const Tensor down_columns = transpose(down), up_columns = transpose(up);
  const Tensor in_columns = matmul(up_columns, matmul(down_columns, transpose(x)));
  to.claim(largest(transpose(in_columns) - matmul(x, W_V)) < 1e-14,
           "with words in columns the order is Up Down, and the result is the transpose");
  to.slip("002", "W_V = W_Vd (n x d) x W_Vu (d x n)",
          "W_V = W_Vu " + to_string(up_columns.shape()) + " W_Vd " +
              to_string(down_columns.shape()) + formatted(" for n = %d, d = %d", int{n}, int{d}),
          "the factor next to x acts first, and maps n numbers to d");
}

void lesson(Lesson& to) {
  two_questions(to);
  down_and_up(to);
}

/// Where each head of one model looks.
void with_heads(Lesson& to, Dim heads) {
  if (heads != 1 && heads != 2 && heads != 4 && heads != 8)
    support::refuse_usage("--heads must be 1, 2, 4 or 8", "for example --heads 4");
  Rng texts(999);
  const Indices unseen = reader::random_texts(100, texts);
  const Reader model = reader::trained(heads, questions, true, Rng(1));
  for (Dim head = 0; head < heads; ++head) {
    const std::vector<double> looks = reader::looks(model, unseen, head);
    to.say(formatted("head %d looks at the previous word %.2f, at the first word %.2f",
                     static_cast<int>(head) + 1, looks[0], looks[1]));
  }
  const std::vector<double> right = reader::accuracy(model, unseen);
  to.say(formatted("right answers: %.2f and %.2f", right[0], right[1]));
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/14_many_heads",
       .title = "Many heads: two questions at once",
       .question =
           "The weights of one head add up to 1. What does a model do that must look at two "
           "words at the same time?",
       .prediction =
           "A model must name the previous word and the first word of a text. With one head, "
           "does it get both right, one of them, or neither?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.cpp", "attend",
                    "one row of weights for each head and word"},
                   {"nn/layers/attention.h", "c_proj", "the value-up matrices of all heads"}},
       .plays = {{.option = "--heads",
                  .value = "4",
                  .help = "where each head looks if there are 1, 2, 4 or 8",
                  .limits = {1, 8},
                  .with_whole_number = fledge::with_heads}}});
}
