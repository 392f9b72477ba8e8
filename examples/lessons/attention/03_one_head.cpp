// Adjectives and nouns: one head with every number, the mask, and value-down and value-up.
//
// Works out note 002 (attention intuition). Adds to lesson 10 what surrounds one query in a model:
// the grid of all queries and keys, the mask that lets one pass train on every prefix, and the two
// halves into which each head's value matrix is cut. Key idea: a weight says where to look, a value
// says what to carry away, and the word that looked adds what it got to what it was.
// Tokens are rows here and columns in the note: its grid is the transpose of this one.
// Next: nn/layers/attention.h and .cpp, engine/masks.h, then 12_many_heads.
#include <algorithm>
#include <cmath>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "examples/lessons/lesson.h"
#include "examples/support/table.h"
#include "nn/gpt/language_model.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

double largest(const Tensor& x) { return std::max(max(x).item(), max(-x).item()); }
Tensor row(const Tensor& x, Dim i) { return slice(x, 0, i, i + 1); }
double at(const Tensor& x, Dim i, Dim j) { return value_of(x.value().at({i, j})); }

std::string digits(const Tensor& x, const char* format) {
  std::string text;
  for (const double number : to_vector(x.value()))
    text += (text.empty() ? "" : " ") + (std::isinf(number) ? "." : formatted(format, number));
  return text;
}

void one_head(Lesson& to) {
  to.part("A noun asks, adjectives answer: every number of one head");
  const char* const words[] = {"the", "fluffy", "blue", "bird"};
  const Tensor X = Array({4, 4}, {0, 0, 0, 0,  // a noun? an adjective? soft? blue?
                                  0, 1, 1, 0,  //
                                  0, 1, 0, 1,  //
                                  1, 0, 0, 0});
  const Tensor W_Q = Array({4, 2}, {3, 0, 0, 1, 0, 0, 0, 0});  // nouns ask for adjectives
  const Tensor W_K = Array({4, 2}, {0, 1, 2, 0, 0, 0, 0, 0});  // adjectives answer
  const Tensor W_V = Array({4, 2}, {0, 0, 0, 0, 1, 0, 0, 1});  // soft and blue are passed on
  const Tensor q = matmul(X, W_Q), k = matmul(X, W_K), v = matmul(X, W_V);
  const Tensor grid = attention_scores(q, k, causal());
  const auto [mixed, weights] = attend(q, k, v, 1, causal());  // (4, 2) and (1, 4, 4)
  const Tensor A = reshape(weights, {4, 4}), after = X + matmul(mixed, transpose(W_V));
  Table table({{"word"}, {"x"}, {"q"}, {"k"}, {"v"}, {"q.k"}, {"weights"}, {"becomes"}});
  for (Dim i = 0; i < 4; ++i)
    table.row({words[i], digits(row(X, i), "%.0f"), digits(row(q, i), "%.0f"),
               digits(row(k, i), "%.0f"), digits(row(v, i), "%.0f"), digits(row(grid, i), "%.0f"),
               digits(row(A, i), "%.2f"), digits(row(after, i), "%.1f")});
  to.say(
      "The four numbers of x mean noun, adjective, soft, blue. Each word has a query q, a key k and a "
      "value v. q.k has the product with each word that it may see, and the weights are "
      "softmax(q.k / sqrt 2). The last column is x with the weighted values added.\n");
  to.show(table.text());
  to.claim(to_vector(row(grid, 3).value()) == std::vector<double>{0, 6, 6, 0},
           "q of bird is (3, 0), k of fluffy and blue (2, 0): q.k = 3*2 + 0*0 = 6");
  const double w = 1 / (2 + 2 * std::exp(-6 / std::sqrt(2.0)));
  to.claim(largest(row(after, 3) - Tensor(Array({1, 4}, {1, 0, w, w}))) < 1e-15,
           formatted("bird is soft and blue now, w = 1/(2 + 2 exp(-6/sqrt 2)) = %.4f each", w));

  const Mask not_below = custom(4, 4,
                                {true, true, true, true, false, true, true, true,  //
                                 false, false, true, true, false, false, false, true});
  const Tensor peeks = reshape(attend(q, k, v, 1, not_below).weights, {4, 4});
  const double ahead = 1 - at(peeks, 0, 0), back = at(peeks, 3, 1);
  to.claim(
      ahead > 0.7 && back == 0,
      formatted("a mask below the diagonal of this grid: 'the' gives %.2f to later words, bird "
                "gives fluffy %.2f",
                ahead, back));
  to.say(
      "\nThe note has queries in columns, and hides what is below the diagonal: that is right there. "
      "Here queries are in rows, and later words are above the diagonal.\n");
  const Tensor product = matmul(A, v);
  to.claim(!common_shape(A.shape(), v.shape()) && largest(product - mixed) < 1e-15,
           "weights times values is what each word gets; their sum is not defined");
  to.slip("002", "we add the value matrix to the products",
          to_string(A.shape()) + " times " + to_string(v.shape()) + " is " +
              to_string(product.shape()) + ", plus is refused",
          "the next paragraph of the note has it right: \"matrix multiplication\"");
}

void masks(Lesson& to) {
  to.part("The mask: training on all prefixes at once is training on each alone");
  constexpr Dim words = 6;
  const std::vector<Dim> text{3, 1, 4, 1, 5, 2, 6};
  Rng rng(1);
  const LanguageModel model({.vocabulary = 9, .context = words, .heads = 2, .width = 8}, rng);
  const auto part = [&](Dim begin, Dim end) {
    return Indices({1, end - begin}, {text.begin() + begin, text.begin() + end});
  };
  const auto gradient = [&] {  // all of it, and forgotten
    std::vector<Tensor> parts;
    for (const Tensor& p : parameters(model)) parts.push_back(reshape(p.grad(), {p.size()}));
    zero_grad(model);
    return concat(parts, 0);
  };
  const Tensor at_once = cross_entropy(model(part(0, words)), part(1, words + 1));
  backward(at_once);
  const Tensor together = gradient();
  double alone = 0;
  int read = 0;
  for (Dim t = 1; t <= words; ++t) {
    const Tensor guess = slice(model(part(0, t)), 1, t - 1, t);
    const Tensor loss = cross_entropy(guess, part(t, t + 1)) / static_cast<double>(words);
    backward(loss);
    alone += loss.item();
    read += static_cast<int>(t);
  }
  const double apart = largest(together - gradient());
  to.claim_near(at_once.item(), alone, 1e-14,
                formatted("%d words read once, %d words read in %d prefixes: the same loss",
                          int{words}, read, int{words}));
  to.claim(apart < 1e-14, formatted("the same gradient of all %d parameters, within %.0e",
                                    static_cast<int>(together.size()), apart));

  const Attention attention(8, 2, rng);
  const Tensor x = random_normal({words, 8}, 0, 1, rng), start = slice(x, 0, 0, 3);
  const auto moved = [&](const Mask& mask) {
    return largest(slice(attention(x, mask), 0, 0, 3) - attention(start, mask));
  };
  to.claim(moved(causal()) < 1e-14 && moved(Mask()) > 0.1,
           formatted("three more words do not change the first three; unmasked, by %.2f",
                     moved(Mask())));
}

void down_and_up(Lesson& to) {
  to.part("Value-down and value-up: head by head, or joined");
  constexpr Dim n = 12, d = 3, words = 5;  // four heads
  Rng rng(2);
  const Attention attention(n, n / d, rng, Bias::without);
  const Tensor x = random_normal({words, n}, 0, 1, rng);
  const auto [joined, weights] = attention.forward_with_weights(x, causal());
  Tensor by_head = 0.0, whole = 0.0, W_V, down, up;
  for (Dim h = 0; h < n / d; ++h) {
    const Tensor A = reshape(row(weights, h), {words, words});
    down = slice(attention.c_attn.weight, 1, 2 * n + h * d, 2 * n + (h + 1) * d);
    up = slice(attention.c_proj.weight, 0, h * d, (h + 1) * d);
    W_V = matmul(down, up);
    by_head = by_head + matmul(matmul(A, matmul(x, down)), up);
    whole = whole + matmul(A, matmul(x, W_V));
  }
  to.claim(largest(by_head - joined) < 1e-14,
           "the sum over heads of (A x Down) Up is the joined form, to rounding");
  to.claim(largest(whole - joined) < 1e-14,
           formatted("and that of A x W_V, W_V = Down Up: %d numbers a head instead of %d",
                     static_cast<int>(W_V.size()), static_cast<int>(down.size() + up.size())));
  const Tensor down_columns = transpose(down), up_columns = transpose(up);
  const Tensor in_columns = matmul(up_columns, matmul(down_columns, transpose(x)));
  to.claim(largest(transpose(in_columns) - matmul(x, W_V)) < 1e-14,
           "with tokens in columns the order is Up Down, and the result is the transpose");
  to.slip("002", "W_V = W_Vd (n x d) x W_Vu (d x n)",
          "W_V = W_Vu " + to_string(up_columns.shape()) + " W_Vd " +
              to_string(down_columns.shape()) + formatted(" for n = %d, d = %d", int{n}, int{d}),
          "the factor next to x acts first, and maps n numbers to d");
}

void lesson(Lesson& to) {
  one_head(to);
  masks(to);
  down_and_up(to);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "11_adjectives_and_nouns",
                             "One head with every number, the mask, value-down and value-up.",
                             fledge::lesson);
}
