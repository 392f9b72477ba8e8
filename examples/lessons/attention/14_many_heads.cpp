// Many heads: two questions at once, and how the results of heads are joined.
//
// Works out note 002, 002.10 to 002.14 and 002.21. Key idea: a head has one row of weights for each
// word, so it brings one mixture; two heads bring two mixtures, kept apart. No head is told where
// to look. Which head takes which question depends on the seed. One head has only the difference of
// its two weights to tell the two words apart.
// Next: nn/layers/attention.h, then 15_cross_attention.
#include <algorithm>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/lessons/attention/reader.h"
#include "examples/lessons/lesson_page.h"
#include "examples/lessons/tensors.h"
#include "examples/support/errors.h"
#include "examples/support/table.h"

namespace fledge {
namespace {

using reader::Question, reader::Reader, support::formatted, support::Lesson, support::Table;

// Which word stands before this one? Which word is the first? Asked from the third word on.
const std::vector<Question> questions{[](Dim t) { return t < 2 ? -1 : t - 1; },
                                      [](Dim t) { return t < 2 ? -1 : 0; }};

std::string cell(const std::vector<double>& x) { return formatted("%.2f  %.2f", x[0], x[1]); }

/// The answers of models with one head, at each word that has questions.
struct Answers {
  int all = 0, wrong = 0;
  int exchanged = 0;       // wrong, and the right answer to the other question
  int right_if_equal = 0;  // if both words get the mean of their two weights
};

/// The word with the largest score at position t of text b; scores (B, T, V).
Dim answer(const Array& scores, Dim b, Dim t) {
  Dim best = 0;
  for (Dim word = 1; word < reader::V; ++word)
    if (value_of(scores.at({b, t, word})) > value_of(scores.at({b, t, best}))) best = word;
  return best;
}

/// Counts the answers of a model with one head. Returns the mean distance of the two weights.
double count_answers(const Reader& one, const Indices& texts, Answers& found) {
  const NoGrad no_grad;
  constexpr Dim T = reader::T;
  const Dim B = texts.size() / T;
  const AttentionOutput attended = one.forward_with_weights(texts);
  const Tensor A = reshape(attended.weights, {B, T, T});
  std::vector<double> equal = to_vector(A.value());
  double apart = 0;
  for (Dim row = 0; row < B * T; ++row) {
    const Dim t = row % T;
    if (t < 2) continue;
    double& previous = equal[static_cast<std::size_t>(row * T + t - 1)];
    double& first = equal[static_cast<std::size_t>(row * T)];
    apart += std::abs(previous - first) / static_cast<double>(B * (T - 2));
    previous = first = (previous + first) / 2;
  }
  const Tensor values = split(one.attention.c_attn(one.source(texts)), 2, -1)[1];  // (B, T, C)
  const Tensor mixed = one.attention.c_proj(matmul(Tensor(Array({B, T, T}, equal)), values));
  for (std::size_t q = 0; q < 2; ++q) {
    const Array given = split(attended.output, 2, -1)[q].value();  // (B, T, V)
    const Array if_equal = split(mixed, 2, -1)[q].value();
    for (Dim b = 0; b < B; ++b)
      for (Dim t = 2; t < T; ++t) {
        const Dim right = texts[b * T + questions[q](t)];
        const Dim other = texts[b * T + questions[1 - q](t)];
        const Dim word = answer(given, b, t);
        found.all += 1;
        found.wrong += word != right ? 1 : 0;
        found.exchanged += word != right && word == other ? 1 : 0;
        found.right_if_equal += answer(if_equal, b, t) == right ? 1 : 0;
      }
  }
  return apart;
}

void two_questions(Lesson& to) {
  to.part("Two questions, and one or two heads");
  to.say(
      "A text has eight words, each drawn from eight different words. At each word, from the third "
      "on, the model must answer two questions. Which word stands before this one? Which word is "
      "the first? The vector of a word has a 1 for the word, a 1 for its position, and zeros "
      "elsewhere. The model is one attention layer without a residual connection, trained for 150 "
      "steps. Its result has 8 numbers for each question, one for each of the eight different "
      "words. The largest of the 8 names the answer.\n");
  to.define("self-attention", "Attention with queries, keys and values from the same text.");
  to.define("role of a head", "What a head mostly looks at, such as the previous word.");
  to.say(
      "\nWe train 20 models with two heads, and 20 models with one head. The tables show seeds 1 "
      "to 4. In each cell the left number belongs to the previous word, the right number to the "
      "first word. In the columns \"looks\" they are the weights of a head, as means over 100 new "
      "texts. In the columns \"right\" they are the shares of right answers.\n");
  Rng texts(999);
  const Indices unseen = reader::random_texts(100, texts);
  constexpr int seeds = 20;
  int right = 0, apart = 0, first_by_head_1 = 0;
  double best_alone = 0;
  Answers one_head;
  Table with_two({{"   two heads: seed"}, {"head 1 looks"}, {"head 2 looks"}, {"right"}});
  Table with_one({{"   one head: seed"}, {"head looks"}, {"weights apart by"}, {"right"}});
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Reader two = reader::trained(2, questions, true, Rng(seed));
    const Reader one = reader::trained(1, questions, true, Rng(seed));
    const std::vector<double> a = reader::looks(two, unseen, 0), b = reader::looks(two, unseen, 1);
    const std::vector<double> both = reader::accuracy(two, unseen);
    const std::vector<double> alone = reader::accuracy(one, unseen);
    right += both[0] >= 0.99 && both[1] >= 0.99 ? 1 : 0;
    apart += std::max(std::min(a[0], b[1]), std::min(a[1], b[0])) > 0.8 ? 1 : 0;
    first_by_head_1 += a[0] < b[0] ? 1 : 0;
    best_alone = std::max(best_alone, std::min(alone[0], alone[1]));
    const double distance = count_answers(one, unseen, one_head);
    if (seed > 4) continue;
    const std::string number = formatted("   %d", static_cast<int>(seed));
    with_two.row({number, cell(a), cell(b), cell(both)});
    with_one.row(
        {number, cell(reader::looks(one, unseen, 0)), formatted("%.2f", distance), cell(alone)});
  }
  const auto percent = [&](int count) { return formatted("%.0f %%", 100. * count / one_head.all); };
  to.show(with_two.text());
  to.say(
      formatted(
          "In %d of 20 models one head gives the previous word a weight above 0.8, and the other "
          "head gives the first word a weight above 0.8. ",
          apart) +
      "Each head has one role. Nothing in the model fixes which head gets which role. " +
      formatted("In %d of the 20 models head 1 looks less at the previous word than head 2, in the "
                "others more. The random numbers at the start decide this.\n",
                first_by_head_1));
  to.show(with_one.text());
  to.say(
      "The weights of one head add up to 1. So each of the two words gets about half, and the "
      "result is a mixture of both. Suppose that both weights are equal. If the two words change "
      "places, the sum is the same. So the sum does not tell which of them comes first, and the "
      "model can only guess. On average, 1 in 8 times both are the same word, and a guess is "
      "right. Else it is right half of the time: 1/8 + 7/8 x 1/2 = 56 % in all.\nBut the halves "
      "are only means. The scores depend on the words too, so in each text the two weights differ. "
      "The column \"weights apart by\" has the mean difference. With different weights the sum "
      "changes if the two words change places. So it can tell which of them comes first, and one "
      "head gets most answers right. But some answers stay wrong.\n" +
      formatted("In 20 models %s of the answers are right. ",
                percent(one_head.all - one_head.wrong).c_str()) +
      "If you predicted a share between half and all, you were right. " +
      formatted("Of %s wrong answers, %s name the other one of the two words. ",
                support::thousands(one_head.wrong).c_str(),
                support::thousands(one_head.exchanged).c_str()) +
      formatted("If we replace the two weights of the trained models by their mean, %s are right: "
                "hardly more than by guessing.\n",
                percent(one_head.right_if_equal).c_str()));
  to.claim_rate(right, seeds, 18, "with two heads at least 99 % of both questions are right");
  to.claim_rate(apart, seeds, 17,
                "one head gives the previous word over 0.8, the other the first word");
  to.claim(first_by_head_1 > 0 && first_by_head_1 < seeds,
           formatted("in %d of 20 seeds head 1 looks less at the previous word than head 2",
                     first_by_head_1));
  to.claim(best_alone < 0.98,
           formatted("with one head the worse question is never above %.2f", best_alone));
  to.claim(one_head.exchanged > 0.95 * one_head.wrong,
           "with one head, more than 95 % of wrong answers name the other word");
  to.claim(one_head.right_if_equal < 0.6 * one_head.all,
           "with two equal weights, fewer than 60 % of the answers are right");
}

/// Two heads of size 1: their numbers 2 and 5, and their rows of value-up.
void side_by_side(Lesson& to) {
  const Tensor results(Array({1, 2}, {2, 5})), up(Array({2, 3}, {1, 0, 3, 0, 1, 1}));
  const Tensor first = matmul(slice(results, 1, 0, 1), slice(up, 0, 0, 1));
  const Tensor second = matmul(slice(results, 1, 1, 2), slice(up, 0, 1, 2));
  const Tensor joined = matmul(results, up);
  const auto row = [](const Tensor& x) {
    const std::vector<double> v = to_vector(x.value());
    return formatted("(%.0f, %.0f, %.0f)", v[0], v[1], v[2]);
  };
  to.say("   added:         2 * (1, 0, 3) + 5 * (0, 1, 1) = " + row(first + second) +
         "\n   side by side:  (2, 5) times the rows (1, 0, 3) and (0, 1, 1) = " + row(joined) +
         "\n");
}

void down_and_up(Lesson& to) {
  constexpr Dim n = 12, d = 3, words = 5;  // four heads
  to.part("How heads are joined: value-down and value-up");
  to.define("width", "How many numbers the vector of a word has inside the model.");
  to.define(
      "value-down, value-up",
      "The two factors of a head's value matrix: from the width down to the head size, and back up "
      "to the width.");
  to.say(
      "\nIn lesson 3, a matrix made values that were shorter than the vectors of the words. Here "
      "it is called Down. A second matrix, Up, makes the values as long as the vectors again. From "
      "now on W_V is the product of both, W_V = Down Up.\nThe width is 12, and four heads have the "
      "size 3. A full value matrix of one head has 12 * 12 = 144 numbers. The two factors, 12 x 3 "
      "and 3 x 12, have only 36 + 36 = 72. That is as many as W_Q and W_K have together. Let X "
      "have one row for each word. Then the result of a head is\n   weights * (X Down) * Up\nand "
      "the results of all heads are added. A program does it in one step. It puts the four tables "
      "weights * (X Down) side by side: four heads with three numbers each are 12 numbers for each "
      "word. It puts the four matrices Up one below the other: a matrix of 12 x 12, the output "
      "matrix of lesson 13. The product of the wide table and this matrix is the same sum. A "
      "smaller example has two heads of size 1 and the width 3. For one word the heads have the "
      "numbers 2 and 5:");
  side_by_side(to);
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
           "four heads added, and four heads side by side: the same to 14 digits");
  to.claim(largest(whole - joined) < 1e-14,
           formatted("weights * X * W_V gives the same sum; Down and Up have %d numbers, W_V %d",
                     static_cast<int>(down.size() + up.size()), static_cast<int>(W_V.size())));
  to.say(
      "\nA source note, 002, writes words in columns. The vector of a word is then a column x, and "
      "its value is W_V x. Down acts first and must stand next to x, so W_V = Up Down. The note "
      "calls Down W_Vd and Up W_Vu; n is the width and d the head size.\n");
  const Tensor down_columns = transpose(down), up_columns = transpose(up);
  const Tensor in_columns = matmul(up_columns, matmul(down_columns, transpose(x)));
  to.claim(largest(transpose(in_columns) - matmul(x, W_V)) < 1e-14,
           "with words in columns, Up Down gives the same numbers");
  to.slip("002", "W_V = W_Vd (n x d) x W_Vu (d x n)",
          "W_V = W_Vu " + to_string(up_columns.shape()) + " W_Vd " +
              to_string(down_columns.shape()) + formatted(" for n = %d, d = %d", int{n}, int{d}),
          "with words in columns, the right factor acts first and maps n numbers to d");
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
           "The weights of one head add up to 1. A model must look at two words at the same time. "
           "How can it?",
       .prediction =
           "At each word, a model with one head must name the previous word and the first word of "
           "the text. What share of its answers is right: all, half, or between half and all?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.cpp", "attend",
                    "one row of weights for each head and word"},
                   {"nn/layers/attention.h", "c_proj", "the output matrix: the Up of all heads"}},
       .plays = {{.option = "--heads",
                  .value = "4",
                  .help = "where each head looks if there are 1, 2, 4 or 8",
                  .limits = {1, 8},
                  .with_whole_number = fledge::with_heads}}});
}
