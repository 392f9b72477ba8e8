// The worked example: birds sometimes walk.      Note 000, "Attention with a worked out example"
//
// Adds to lesson 3, which proved gradients, attention on vectors: A·V with every number, and what a
// push of one word does to the others. Tokens are in rows: row i of A says where word i looks, and
// row i of A·V is what becomes of it.
// Key idea: a row of A·V is a sum of terms. With A held fixed it is linear in the words; with A
// made of the same words it is not, and the product rule has a second term.
// Next: lesson 05_what_can_be_raised; examples/birds/by_hand.cpp, nn/layers/attention.h.
#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "examples/birds/by_hand.h"
#include "examples/lessons/lesson.h"
#include "nn/layers/attention.h"

namespace fledge {

namespace {

using support::formatted, support::Lesson;

double at(const Tensor& matrix, Dim i, Dim j) { return value_of(matrix.value().at({i, j})); }
Tensor row(const Tensor& matrix, Dim i) { return slice(matrix, 0, i, i + 1); }
double dot(const Tensor& a, const Tensor& b) { return sum(a * b).item(); }
double farthest(const Tensor& a, const Tensor& b) { return std::sqrt(max(pow(a - b, 2.0)).item()); }

std::string text_of(const char* format, const Tensor& row) {
  return formatted(format, at(row, 0, 0), at(row, 0, 1), at(row, 0, 2));
}

/// v_i' = Σ_j a_ij·v_j over the first `terms` words
Tensor sum_of_terms(const Tensor& A, const Tensor& V, Dim i, Dim terms) {
  Tensor total = Array::zeros({1, V.dim(1)});
  for (Dim j = 0; j < terms; ++j) total = total + at(A, i, j) * row(V, j);
  return total;
}

void by_hand_and_by_engine(Lesson& to) {
  to.part("By hand and by the engine");
  const Tensor V = birds::word_vectors(), A = birds::hand_set_attention();
  Dim i = 0;
  for (const char* word : {"birds      v1", "sometimes  v2", "walk       v3"}) {
    to.show(text_of((std::string("   ") + word + "   %4.1f %4.1f %4.1f").c_str(), row(V, i)) +
            text_of("     looks at them   %.1f %.1f %.1f", row(A, i)));
    ++i;
  }
  to.say();
  const birds::ByHand found = birds::compute_by_hand();
  const Tensor walk = sum_of_terms(A, V, 2, 3);
  to.claim_near(found.before, -0.09, 1e-7, "walk and birds as they are, v3.v1");
  to.claim(farthest(walk, Array({1, 3}, {0.18, 0.11, 0.01})) < 1e-6 &&
               farthest(walk, row(matmul(A, V), 2)) < 1e-6,
           "walk becomes 0.6 v1 + 0.1 v2 + 0.4 v3, written out and by the engine: " +
               text_of("(%.2f, %.2f, %.2f)", walk));
  to.claim_near(found.association, 0.043, 1e-7, "walk and birds after attention, v3'.v1");

  to.slip("000", "v3'.v3 = 0.18 * 0.1 + 0.11 * 0.2 + 0.01 * 0.3",
          formatted("v3'.v1 = %.3f; v3'.v3 is %.3f", found.association, found.as_labelled),
          "the label names walk with itself; 0.1, 0.2 and 0.3 are the numbers of birds");
  to.claim_near(found.as_labelled, 0.075, 1e-7, "v3'.v3");
  to.slip("000", "a reasonably good attention A matrix trained (row 3: 0.6 0.1 0.4)",
          formatted("sum %.1f; divided by it, v3'.v1 = %.4f", found.row_sum, found.normalised),
          "a softmax gives weights that add up to 1");
  to.claim_near(found.normalised, 0.043 / 1.1, 1e-7, "v3'.v1 by a row that sums to 1");
  const Tensor narrow = slice(V, 1, 0, 2);  // three words, vectors of d_k = 2 numbers
  const Tensor to_d_k = sum_of_terms(A, narrow, 2, 2), to_n = sum_of_terms(A, narrow, 2, 3);
  to.slip("000", "v_i' is the sum of a_ij v_j over j = 1 ... d_k",
          formatted("for d_k = 2: v_31' = %.2f by d_k terms, %.2f by n = 3 terms", at(to_d_k, 0, 0),
                    at(to_n, 0, 0)),
          "a row of A has a weight for each word; here n and d_k both happen to be 3");
  to.claim(farthest(to_n, row(matmul(A, narrow), 2)) < 1e-6 && farthest(to_d_k, to_n) > 0.1,
           "only the sum over the words is the row of the product");
  to.slip("000", "bird is paying more attention to walk",
          formatted("walk looks at birds %.1f, birds looks at walk %.1f", at(A, 2, 0), at(A, 0, 2)),
          "row 3 belongs to the word that looks; birds is the first word and sees no later one");
  to.claim(at(A, 2, 0) > 0.5 && at(A, 0, 2) == 0, "walk looks at birds, and birds not at walk");
}

/// The words' vectors with word j moved by d.
Tensor pushed(const Tensor& X, Dim j, const Tensor& d) {
  Array chosen = Array::zeros({3, 1});
  chosen.write()[j] = 1;
  return X + Tensor(chosen) * d;
}

// Walk after attention: with A as it was set, and with A = softmax(X·Xᵀ/√3), made of the words.
Tensor by_fixed(const Tensor& X) { return row(matmul(birds::hand_set_attention(), X), 2); }
Tensor by_made(const Tensor& X) { return row(attend(X, X, X, 1, causal()).output, 2); }

/// What is left of pushing birds by d and walk by e when the effect of each alone is taken off.
double interaction(Tensor (*walk)(const Tensor&), const Tensor& d, const Tensor& e) {
  const Tensor V = birds::word_vectors(), pushed_d = pushed(V, 0, d);
  return farthest(walk(pushed(pushed_d, 2, e)) - walk(pushed_d), walk(pushed(V, 2, e)) - walk(V));
}

void rows_as_terms(Lesson& to) {
  to.part("A row is a sum of terms, one for each word it may see");
  to.say(
      "The row of birds has one term, that of sometimes two, that of walk three. The note asks "
      "whether they are like the interaction terms of a regression. To find out, change the vector "
      "of one word and see which words change.\n");
  const Tensor V = birds::word_vectors(), A = birds::hand_set_attention();
  const Tensor d = Array({1, 3}, {0.6, -0.3, -0.6}), e = Array({1, 3}, {0.3, 0.5, -0.2});
  double worst = 0;
  for (Dim j = 0; j < 3; ++j)
    for (Dim i = 0; i < 3; ++i)
      worst = std::max(
          worst, farthest(row(matmul(A, pushed(V, j, d)) - matmul(A, V), i), at(A, i, j) * d));
  to.claim(worst < 1e-6,
           "A fixed: if word j changes by d, word i changes by a_ij d; all nine pairs");
  to.claim(interaction(by_fixed, d, e) < 1e-6,
           "A fixed: two changes at once add up, so there is no interaction");
  const double left = interaction(by_made, d, e);
  to.claim(left > 0.01,
           formatted("A computed from the words: %.3f is left over, an interaction", left));

  const AttentionOutput before = attend(V, V, V, 1, causal());
  const double a_31 = value_of(before.weights.value().at({0, 2, 0}));
  const Tensor seen = a_31 * d;
  const Tensor seeing =
      a_31 * dot(row(V, 2), d) / std::sqrt(3.0) * (row(V, 0) - row(before.output, 2));
  to.say("\nIf birds changes along d, walk changes by the two terms of the product rule:");
  to.show(
      text_of("      of the value    a_31 d                            %7.4f %7.4f %7.4f", seen));
  to.show(
      text_of("      of the weight   a_31 (v3.d / sqrt 3) (v1 - v3')   %7.4f %7.4f %7.4f", seeing));
  const Tensor X = parameter(birds::word_vectors()), h = 0.01;
  backward(by_made(X), e.value());
  to.claim_near(dot(seen + seeing, e), dot(row(X.grad(), 0), d), 1e-6,
                "both terms along e are what backward() gives");
  const Tensor difference =
      (by_made(pushed(V, 0, h * d)) - by_made(pushed(V, 0, -h * d))) / (2 * h);
  to.claim(farthest(seen + seeing, difference) < 1e-4 && farthest(seen, difference) > 1e-3,
           "differences agree with both terms together, not with the first alone");
}

}  // namespace

}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "04_worked_example",
                             "Birds sometimes walk: attention by hand, and as a sum of terms.",
                             [](support::Lesson& to) {
                               fledge::by_hand_and_by_engine(to);
                               fledge::rows_as_terms(to);
                             });
}
