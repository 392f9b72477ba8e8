// How a gradient turns a head: from the goal to the scores, to W_Q and W_K, and on for 100 steps.
//
// Works out note 000, item 15: "a learnt A". Key idea: ds_j = a_j (v_j.v1 - v3'.v1). A score should
// rise if its word is better than the present mixture. All words share W_Q and W_K.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/lessons/attention/triangle.h"
#include "examples/lessons/lesson_page.h"
#include "examples/lessons/tensors.h"
#include "examples/support/table.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Svg, support::Table;
using Three = Triangle::Row;  // three numbers: one for each word, or the numbers of a vector

const double root = std::sqrt(3.0);
const char* const words[] = {"'birds'", "'sometimes'", "'walk'"};

/// v1, v2 and v3 of note 000, as in examples/birds/by_hand.cpp, which computes in float.
Tensor vectors() { return Array({3, 3}, {0.1, 0.2, 0.3, -0.8, 0.3, -0.1, 0.5, -0.1, -0.4}); }
Array identity() { return Array({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}); }

Three three(const Tensor& x) {
  const std::vector<double> n = to_vector(x.value());
  return {n[0], n[1], n[2]};
}

/// u_j = v_j.v1, (1, 3)
Tensor products() { return matmul_transposed(row(vectors(), 0), vectors()); }
/// G = a1 u1 + a2 u2 + a3 u3 = v3'.v1, from the scores of 'walk'
Tensor goal(const Tensor& scores) { return sum(softmax(scores) * products()); }

struct Head {
  Tensor W_Q = identity(), W_K = identity();  // W_V stays the identity: the values are v1, v2, v3
};

/// What 'walk' computes. ds is the derivative of G with respect to s, and so on.
struct Look {
  Tensor q, k, s, a, G, ds, dq, dk, dW_Q, dW_K;
};

Look look(const Head& head) {
  const Tensor v = vectors(), v3 = row(v, 2);
  Look at;
  at.q = matmul(v3, head.W_Q);                    // (1, 3)
  at.k = matmul(v, head.W_K);                     // (3, 3)   a key in each row
  at.s = matmul_transposed(at.q, at.k) / root;    // (1, 3)   s_j = q.k_j / √3
  at.a = softmax(at.s);                           // (1, 3)
  at.G = goal(at.s);                              // v3'.v1
  at.ds = at.a * (products() - at.G);             // (1, 3)   ds_j = a_j (u_j - G)
  at.dq = matmul(at.ds, at.k) / root;             // (1, 3)   Σ_j ds_j k_j / √3
  at.dk = matmul(transpose(at.ds), at.q) / root;  // (3, 3)   dk_j = ds_j q / √3
  at.dW_Q = matmul(transpose(v3), at.dq);         // (3, 3)   [i][c]: v3[i] dq[c]
  at.dW_K = matmul(transpose(v), at.dk);          // (3, 3)   [i][c]: Σ_j v_j[i] dk_j[c]
  return at;
}

/// Gradient ascent: what 'walk' computes before each step, and after the last.
std::vector<Look> learn(double rate, int steps) {
  Head head;
  std::vector<Look> path{look(head)};
  for (int n = 0; n < steps; ++n) {
    head = {head.W_Q + rate * path.back().dW_Q, head.W_K + rate * path.back().dW_K};
    path.push_back(look(head));
  }
  return path;
}

void from_goal_to_scores(Lesson& to) {
  const Look at = look({});
  const Three s = three(at.s), a = three(at.a), u = three(products()), ds = three(at.ds);
  const double G = at.G.item();
  to.part("Which score should rise?");
  to.say(
      "As in lesson 02, 'birds', 'sometimes' and 'walk' have the vectors v1 = (0.1, 0.2, 0.3), v2 "
      "= (-0.8, 0.3, -0.1) and v3 = (0.5, -0.1, -0.4). W_Q, W_K and W_V begin as the identity "
      "matrix.");
  to.define("identity matrix",
            "The matrix that leaves every vector as it is: ones on the diagonal, zeros elsewhere.");
  to.say(
      "At first the query, the key and the value of a word are its vector. j is 1, 2 or 3. 'walk' "
      "gives word j the score s_j = v3.v_j / sqrt(3) and the weight a_j. After attention 'walk' is "
      "v3' = a1 v1 + a2 v2 + a3 v3. We write G for the number v3'.v1. The goal is a large G. And "
      "we write u_j for v_j.v1: how useful word j is for the goal. G is the mean of the u_j, "
      "weighted by the a_j (rounded here to four digits):\n");
  to.say(formatted("   G = %.4f x 0.14 + %.4f x (-0.05) + %.4f x (-0.09) = %.4f\n", a[0], a[1],
                   a[2], G));
  to.say(
      "Let E be the sum of the three exp(s_j). Then a1 = exp(s1) / E. Let the score s1 of 'birds' "
      "rise by a small number h. exp(s1 + h) is exp(s1) times exp(h), and exp(h) is nearly 1 + h. "
      "So exp(s1), which is a1 E, grows by h a1 E. E grows by the same number, to E (1 + h a1). G "
      "is the sum of the exp(s_j) u_j, divided by E. This sum was E G, and it grows by h a1 E u1. "
      "So the new G is (G + h a1 u1) / (1 + h a1). The change of G is\n\n   (G + h a1 u1) / (1 + h "
      "a1) - G = h a1 (u1 - G) / (1 + h a1)\n\nThe divisor is nearly 1. So G rises by h times a1 "
      "(u1 - G). The same is true of each word. We write ds_j, as one symbol, for the derivative "
      "of G with respect to the score s_j:\n\n   ds_j = a_j (u_j - G)\n\nSo a score should rise if "
      "its word is more useful than the mixture.\n");
  Table table = Table::of_numbers({"   word j", "s_j", "a_j", "u_j", "u_j - G", "ds_j"});
  for (std::size_t j = 0; j < 3; ++j)
    table.row({formatted("   %s", words[j]), formatted("%.4f", s[j]), formatted("%.4f", a[j]),
               formatted("%.2f", u[j]), formatted("%+.4f", u[j] - G), formatted("%+.4f", ds[j])});
  to.show(table.text());
  to.say(
      formatted("The sum is %.4f %+.4f %+.4f = 0. This must be so: if all scores rise by the same "
                "number, no weight changes. ",
                ds[0], ds[1], ds[2]) +
      "If you predicted that only the score of 'birds' should rise, you were right.");
  to.define(
      "backward pass",
      "The pass from the result back to the inputs that computes all gradients; in fledge the "
      "function backward().");
  const Tensor scores = parameter(at.s.value().clone());
  backward(goal(scores));
  double apart = largest(Tensor(scores.grad()) - at.ds);
  for (Dim j = 0; j < 3; ++j) {
    const Tensor h = 1e-5 * row(Tensor(identity()), j);
    const double moved = (goal(at.s + h) - goal(at.s - h)).item() / 2e-5;
    apart = std::max(apart, std::abs(moved - ds[static_cast<std::size_t>(j)]));
  }
  to.claim(apart < 1e-10 && std::abs(ds[0] + ds[1] + ds[2]) < 1e-15,
           "backward() gives these ds_j, and so does moving each score a little");
}

void from_scores_to_matrices(Lesson& to) {
  const Look at = look({});
  const Three ds = three(at.ds), dq = three(at.dq);
  to.part("From the scores to W_Q and W_K");
  to.say(
      "W_V stays the identity matrix. Only the numbers of W_Q and W_K are parameters. They make "
      "the query q = v3 W_Q and the keys k_j = v_j W_K. If a number of q rises by h, s_j rises by "
      "h times the number of k_j in the same place, divided by sqrt(3). Then G rises by ds_j times "
      "that. The query is in all three scores, so these parts are added. dq has a derivative for "
      "each number of q, and dk_j for each number of key j:\n\n   dq   = (ds_1 k_1 + ds_2 k_2 + "
      "ds_3 k_3) / sqrt(3)\n   dk_j = ds_j q / sqrt(3)\n");
  to.say(
      formatted("The first number of dq is (%.4f x 0.1 + (%.4f) x (-0.8) + (%.4f) x 0.5) / ", ds[0],
                ds[1], ds[2]) +
      formatted("1.732 = %.4f. ", dq[0]) +
      "The first number of q is v3 times the first column of W_Q. So if the number in row 1, "
      "column 1 of W_Q rises by h, the first number of q rises by h times the first number of v3, "
      "which is 0.5. " +
      formatted("Its derivative is 0.5 x (%.4f) = %.4f. In the same way:\n", dq[0], 0.5 * dq[0]) +
      "\n   dW_Q, row r, column c: number r of v3, times number c of dq\n   dW_K, row r, column c: "
      "number r of v_j, times number c of dk_j; sum over j\n");
  to.define("gradient ascent",
            "Changing parameters a little along the gradient, so that a number rises; descent goes "
            "the other way.");
  to.define("step", "One change of all parameters at once, computed from their gradients.");
  to.define("learning rate", "The factor by which the gradient is multiplied in a step.");
  const Tensor W_Q = parameter(identity()), W_K = parameter(identity());
  backward(look({W_Q, W_K}).G);
  to.claim(largest(Tensor(W_Q.grad()) - at.dW_Q) < 1e-15 &&
               largest(Tensor(W_K.grad()) - at.dW_K) < 1e-15,
           "backward() gives the same dW_Q and dW_K, 9 numbers each");
}

std::string table_of_steps(const std::vector<Look>& path) {
  Table table = Table::of_numbers(
      {"   step", "'birds'", "'sometimes'", "'walk'", "G = v3'.v1", "largest ds_j"});
  for (const std::size_t n : {0UL, 1UL, 2UL, 5UL, 10UL, 20UL, 50UL, 100UL}) {
    const Three a = three(path[n].a);
    table.row({formatted("   %4d", static_cast<int>(n)), formatted("%.4f", a[0]),
               formatted("%.4f", a[1]), formatted("%.4f", a[2]),
               formatted("%.4f", path[n].G.item()), formatted("%.4f", largest(path[n].ds))});
  }
  return table.text();
}

void a_surprise(Lesson& to) {
  const std::vector<Look> path = learn(10, 100);
  const Three ds = three(path[0].ds), change = three(path[1].s - path[0].s);
  to.part("A hundred steps, and a surprise");
  to.say(
      "The learning rate is 10: in a step W_Q becomes W_Q + 10 dW_Q, and W_K becomes W_K + 10 "
      "dW_K. The table has the weights of 'walk', G, and the largest ds_j without its sign.\n");
  to.show(table_of_steps(path));
  to.say(
      "The weight of 'birds' comes near 1, and G near u1 = 0.14. A weighted mean of the u_j cannot "
      "be larger than the largest u_j.\nThe surprise is 'sometimes'. Its derivative ds_2 is "
      "negative, and yet its weight rises in steps 1 and 2. The reason: all words share W_Q and "
      "W_K. So each ds_i changes the score s_j of each word j.\nBefore the first step q is v3 and "
      "k_i is v_i. So ds_i v_i / sqrt(3) is the part of dq that comes from ds_i. Row r of W_Q "
      "changes by 10 times number r of v3, times this part. The query is the sum of number r of v3 "
      "times row r of W_Q. So it changes by 10 (v3.v3) ds_i v_i / sqrt(3). That moves s_j = q.v_j "
      "/ sqrt(3) by 10 (v3.v3) ds_i (v_i.v_j) / 3.\nThe keys: dk_i is ds_i v3 / sqrt(3). So key j "
      "changes by 10 (v_j.v_i) ds_i v3 / sqrt(3). That moves s_j by the same number again, so 10 "
      "becomes 20. For 'sometimes', j is 2. The parts (v3.v3 is 0.42):\n");
  const Three v2 = three(matmul_transposed(row(vectors(), 1), vectors()));  // v_i.v2
  double sum_of_parts = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = 20 * ds[i] * v2[i] * 0.42 / 3;
    sum_of_parts += part;
    to.show(formatted("      from %-11s  20 x (%+.4f) x (%+.2f) x 0.42 / 3 = %+.4f", words[i],
                      ds[i], v2[i], part));
  }
  to.say(
      formatted("\nThe sum is %+.4f. ", sum_of_parts) +
      "The part from 'walk' is positive, because ds_3 and v3.v2 = -0.39 are both negative. It is "
      "larger than the other two together. So what lowers the score of 'walk' raises the score of "
      "'sometimes'. " +
      formatted("In the whole step the scores change by %+.4f, %+.4f and %+.4f. ", change[0],
                change[1], change[2]) +
      "(This is not exactly the sum above, because the query and the keys change at the same "
      "time.) 'sometimes' rises more than the weighted mean of the three changes, so its weight "
      "rises: it takes weight from 'walk'. If you predicted that its weight falls at first, you "
      "used ds_2 only.");
  to.claim_near(three(path[100].a)[0], 0.9977, 5e-5, "the weight of 'birds' after 100 steps");
  to.claim(three(path[0].a)[1] < three(path[1].a)[1] && three(path[1].a)[1] < three(path[2].a)[1] &&
               ds[1] < 0 && three(path[1].ds)[1] < 0,
           "'sometimes' rises in steps 1 and 2, and ds_2 is negative before both");
}

void why_it_slows_down(Lesson& to) {
  const std::vector<Look> path = learn(10, 100);
  const Three u = three(products());
  to.part("Why it slows down");
  to.say(
      "After step 13 the largest ds_j falls: see the last column of the table. Let m = (a2 u2 + a3 "
      "u3) / (a2 + a3), the mean of the other two. a2 + a3 is 1 - a1. So G = a1 u1 + (1 - a1) m, "
      "and u1 - G = (1 - a1) (u1 - m). So ds_1 = a1 (1 - a1) (u1 - m):\n");
  bool is_equal = true;
  for (const std::size_t n : {0UL, 100UL}) {
    const Three a = three(path[n].a);
    const double m = (a[1] * u[1] + a[2] * u[2]) / (a[1] + a[2]);
    const double ds = a[0] * (1 - a[0]) * (u[0] - m);
    is_equal = is_equal && std::abs(ds - three(path[n].ds)[0]) < 1e-15;
    to.show(formatted("      step %3d:  %.4f x %.4f x %.4f = %.4f", static_cast<int>(n), a[0],
                      1 - a[0], u[0] - m, ds));
  }
  to.say(
      "\nWith a1 near 1 the factor 1 - a1 is almost 0. If a wrong word has all the weight, a1 and "
      "ds_1 are almost 0. Large scores make such rows. So lesson 04 divides them.");
  to.claim(is_equal, "ds_1 = a1 (1 - a1) (u1 - m) at both steps");
  to.claim(largest(path[100].ds) < 0.02 * largest(path[0].ds),
           "after 100 steps the largest ds_j is below 2 % of that at step 0");
}

void with_rate(Lesson& to, double rate) {
  const std::vector<Look> path = learn(rate, 100);
  to.say(formatted("The three weights of 'walk' at a learning rate of %g:\n", rate));
  to.show(table_of_steps(path));
  to.say("G should rise in each row. At a rate that is too large it falls in the first step.");
}

Svg picture() {
  Svg svg(700, 500);
  svg.text(20, 26, "How a gradient turns a head: the attention weights of 'walk', step by step",
           Svg::Anchor::start, 14);
  Triangle triangle(svg, 130, 460, 420);
  for (const double level : {-0.08, -0.04, 0.0, 0.04, 0.08, 0.12}) triangle.contour(level);
  const std::string& blue = support::svg_colours()[0];
  std::vector<Three> rows;
  for (const Look& at : learn(10, 100)) rows.push_back(three(at.a));
  triangle.path(rows, blue);
  triangle.dot(rows[0], blue, "step 0", Svg::Anchor::start);
  for (const std::size_t n : {10UL, 15UL, 20UL, 100UL})
    triangle.dot(rows[n], blue, formatted("step %d", static_cast<int>(n)));
  return svg;
}

void lesson(Lesson& to) {
  from_goal_to_scores(to);
  from_scores_to_matrices(to);
  a_surprise(to);
  why_it_slows_down(to);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/07_turning_a_head",
       .title = "How a gradient turns a head",
       .question =
           "A head gets only a goal, a number that should rise. How does it change W_Q and W_K, so "
           "that 'walk' looks at 'birds'?",
       .prediction =
           "'walk' gives 'birds' 0.31, 'sometimes' 0.26 and itself 0.42 (rounded). The dot "
           "products of their vectors with that of 'birds' are 0.14, -0.05 and -0.09. The goal is "
           "a large dot product of 'walk', after attention, with 'birds'. Which of the three "
           "scores should rise? Does the weight of 'sometimes' rise or fall at first?",
       .body = fledge::lesson,
       .reading = {{"engine/ops/softmax.cpp", "softmax", "ds_j = a_j (u_j - G) for any goal"},
                   {"examples/birds/learning.cpp", "learn",
                    "the same path in make run, which goes on to step 400"}},
       .plays = {{.option = "--rate",
                  .value = "1000",
                  .help = "the table of steps at another learning rate: when is it too large?",
                  .limits = {0.001, 1000},
                  .with_number = fledge::with_rate}},
       .picture = fledge::picture});
}
