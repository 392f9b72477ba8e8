// How a gradient turns a head: from the goal to the scores, to W_Q and W_K, and on for 100 steps.
// ds_j = a_j (v_j.v1 - v3'.v1).
#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_turning_a_head {

using Three = std::array<double, 3>;  // one number for each word, or the numbers of a vector

const double root = std::sqrt(3.0);
const char* const words[] = {"'birds'", "'sometimes'", "'walk'"};

Three three(const Tensor& x) { return {number(x, 0), number(x, 1), number(x, 2)}; }

/// u_j = v_j.v1, (1, 3)
const Tensor v = vectors_of_note_000();
Tensor products() { return matmul_transposed(row(v, 0), v); }
/// G = a1 u1 + a2 u2 + a3 u3 = v3'.v1, from the scores of 'walk'
Tensor goal(const Tensor& scores) { return sum(softmax(scores) * products()); }

struct Head {
  Tensor W_Q = identity(3), W_K = identity(3);  // W_V stays the identity: the values are v1, v2, v3
};

/// What 'walk' computes. ds is the derivative of G with respect to s, and so on.
struct Look {
  Tensor q, k, s, a, G, ds, dq, dk, dW_Q, dW_K;
};

Look look(const Head& head) {
  const Tensor v3 = row(v, 2);
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

/// Gradient ascent: what 'walk' computes before each of 100 steps, and after the last.
std::vector<Look> learn(double rate) {
  Head head;
  std::vector<Look> path{look(head)};
  for (int n = 0; n < 100; ++n) {
    head = {head.W_Q + rate * path.back().dW_Q, head.W_K + rate * path.back().dW_K};
    path.push_back(look(head));
  }
  return path;
}

void from_goal_to_scores(LessonText& to) {
  const Look at = look({});
  const Three s = three(at.s), a = three(at.a), u = three(products()), ds = three(at.ds);
  const double G = at.G.item();
  to.set("weighted mean", "%.4f x 0.14 + %.4f x (-0.05) + %.4f x (-0.09) = %.4f", a[0], a[1], a[2],
         G);
  const Tensor scores = parameter(at.s.value().clone());
  backward(goal(scores));
  double apart = farthest(Tensor(scores.grad()), at.ds);
  Table table = Table::of_numbers({"   word j", "s_j", "a_j", "u_j", "u_j - G", "ds_j"});
  for (std::size_t j = 0; j < 3; ++j) {
    table.row("   %s | %.4f | %.4f | %.2f | %+.4f | %+.4f", words[j], s[j], a[j], u[j], u[j] - G,
              ds[j]);
    const Tensor h = 1e-5 * row(identity(3), static_cast<Dim>(j));
    const double moved = (goal(at.s + h) - goal(at.s - h)).item() / 2e-5;
    apart = std::max(apart, std::abs(moved - ds[j]));
  }
  to.set("derivatives", table);
  to.set("sum of ds_j", "%.4f %+.4f %+.4f", ds[0], ds[1], ds[2]);
  to.claim("ds_j", apart < 1e-10 && std::abs(ds[0] + ds[1] + ds[2]) < 1e-15);
}

void from_scores_to_matrices(LessonText& to) {
  const Look at = look({});
  const Three ds = three(at.ds), dq = three(at.dq);
  to.set("first of dq", "(%.4f x 0.1 + (%.4f) x (-0.8) + (%.4f) x 0.5) / 1.732 = %.4f", ds[0],
         ds[1], ds[2], dq[0]);
  to.set("first of dW_Q", "0.5 x (%.4f) = %.4f", dq[0], 0.5 * dq[0]);
  const Tensor W_Q = parameter(identity(3).value()), W_K = parameter(identity(3).value());
  backward(look({W_Q, W_K}).G);
  to.claim("dW_Q and dW_K", farthest(Tensor(W_Q.grad()), at.dW_Q) < 1e-15 &&
                                farthest(Tensor(W_K.grad()), at.dW_K) < 1e-15);
}

void a_surprise(LessonText& to) {
  const std::vector<Look> path = learn(10);
  Table table = Table::of_numbers(
      {"   step", "'birds'", "'sometimes'", "'walk'", "G = v3'.v1", "largest ds_j"});
  for (const std::size_t n : {0UL, 1UL, 2UL, 5UL, 13UL, 20UL, 50UL, 100UL}) {
    const Three a = three(path[n].a);
    table.row("   %4zu | %.4f | %.4f | %.4f | %.4f | %.4f", n, a[0], a[1], a[2], path[n].G.item(),
              largest(path[n].ds));
  }
  to.set("steps", table);
  const Three ds = three(path[0].ds), change = three(path[1].s - path[0].s);
  const Three v2 = three(matmul_transposed(row(v, 1), v));  // v_i.v2
  double sum = 0;
  std::string parts;
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = 20 * ds[i] * v2[i] * 0.42 / 3;
    sum += part;
    parts += formatted("%s      from %-11s  20 x (%+.4f) x (%+.2f) x 0.42 / 3 = %+.4f",
                       i == 0 ? "" : "\n", words[i], ds[i], v2[i], part);
  }
  to.set_all("parts", parts, "sum of parts", sum);
  to.set("changes of scores", "%+.4f, %+.4f and %+.4f", change[0], change[1], change[2]);
  to.claim_near("after 100 steps", three(path[100].a)[0], 0.9977, 5e-5);
  bool rises = true;
  for (std::size_t step = 0; step < 3; ++step)
    rises = rises && number(path[step].a, 1) < number(path[step + 1].a, 1) &&
            number(path[step].ds, 1) < 0;
  to.claim("surprise", rises);
}

void why_it_slows_down(LessonText& to) {
  const std::vector<Look> path = learn(10);
  const Three u = three(products());
  std::string lines;
  bool is_equal = true;
  for (const std::size_t n : {0UL, 100UL}) {
    const Three a = three(path[n].a);
    const double m = (a[1] * u[1] + a[2] * u[2]) / (a[1] + a[2]);
    const double ds = a[0] * (1 - a[0]) * (u[0] - m);
    is_equal = is_equal && std::abs(ds - three(path[n].ds)[0]) < 1e-15;
    lines += formatted("%s      step %3zu:  %.4f x %.4f x %.4f = %.4f", n == 0 ? "" : "\n", n, a[0],
                       1 - a[0], u[0] - m, ds);
  }
  to.set("ds_1 twice", lines);
  to.claim("ds_1", is_equal);
  to.claim("slow", largest(path[100].ds) < 0.02 * largest(path[0].ds));
}

const LessonProgram program({from_goal_to_scores, from_scores_to_matrices, a_surprise,
                             why_it_slows_down});

}  // namespace fledge::lessons::in_turning_a_head
