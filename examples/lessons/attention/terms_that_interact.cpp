// Is attention linear? With fixed weights yes; with weights computed from the words, no.
#include "examples/lessons/vocabulary.h"
#include "nn/layers/attention.h"

namespace fledge::lessons::in_terms_that_interact {

const double root = std::sqrt(3.0);

const Tensor V = vectors_of_note_000();
// Two changes: 'birds' moves by d, 'walk' by e.
const Tensor d = Array({1, 3}, {0.6, -0.3, -0.6}), e = Array({1, 3}, {0.3, 0.5, -0.2});

std::string digits(const Tensor& x, const char* format = "%7.4f %7.4f %7.4f") {
  std::vector<double> n = numbers(x);
  for (double& number : n) number = std::abs(number) < 1e-12 ? 0 : number;  // -0.0000 is 0
  return formatted(format, n[0], n[1], n[2]);
}

/// All weights, (3, 3), computed from the words: W_Q and W_K are the identity matrix. The scores are
/// multiplied by `scale` more.
Tensor weights(const Tensor& X, double scale = 1) {
  return softmax(scale * attention_scores(X, X, causal()) / root, causal());
}

/// The words, with 'birds' moved by t·d and 'walk' by u·e.
Tensor moved(double t, double u) {
  return V + concat({t * d, Tensor(Array::zeros({1, 3})), u * e}, 0);
}

/// v3' = Σ_j a_j x_j for these words, (1, 3). The weights are those of the words before they moved.
Tensor with_fixed_weights(double t, double u) { return row(matmul(weights(V), moved(t, u)), 2); }
/// The same with the weights of the moved words.
Tensor with_computed_weights(double t, double u, double scale = 1) {
  const Tensor X = moved(t, u);
  return row(matmul(weights(X, scale), X), 2);
}

/// What is left of the change by both, after the changes by each alone are taken off.
Tensor left_over(double size, double scale = 1) {
  return with_computed_weights(size, size, scale) - with_computed_weights(size, 0, scale) -
         with_computed_weights(0, size, scale) + with_computed_weights(0, 0, scale);
}

void two_changes(LessonText& to) {
  const std::vector<double> a = numbers(weights(V));
  to.set("v1'", "%.4f v1", a[0]);
  to.set("v2'", "%.4f v1 + %.4f v2", a[3], a[4]);
  to.set("v3'", "%.4f v1 + %.4f v2 + %.4f v3", a[6], a[7], a[8]);
  const Tensor start = with_fixed_weights(0, 0);  // the same for both kinds of weights
  const auto changes = [&](double t, double u) {
    return std::pair(with_fixed_weights(t, u) - start, with_computed_weights(t, u) - start);
  };
  const auto [fixed_d, d_alone] = changes(1, 0);
  const auto [fixed_e, e_alone] = changes(0, 1);
  const auto [fixed_both, both] = changes(1, 1);
  const Tensor fixed_left = fixed_both - fixed_d - fixed_e;
  Table table({{"   what changes"}, {"fixed weights"}, {"computed weights"}});
  table.row({"   'birds' by d", digits(fixed_d), digits(d_alone)});
  table.row({"   'walk' by e", digits(fixed_e), digits(e_alone)});
  table.row({"   sum of these two", digits(fixed_d + fixed_e), digits(d_alone + e_alone)});
  table.row({"   both at once", digits(fixed_both), digits(both)});
  table.row({"   left over", digits(fixed_left), digits(left_over(1))});
  const double left = largest(left_over(1));
  to.set_all("changes", table, "weight of birds", a[6], "weight of walk", a[8], "left", left);
  to.claim("fixed", largest(fixed_left) < 1e-15);
  to.claim("computed", left > 0.01);
}

void two_parts_of_a_change(LessonText& to) {
  const Tensor v1 = row(V, 0), v3 = row(V, 2), after = with_computed_weights(0, 0);
  const double a1 = number(weights(V), 6), h = 1e-4;
  const Tensor by_value = a1 * d;
  const Tensor by_weights = a1 * (sum(v3 * d) / root) * (v1 - after);
  const Tensor difference = (with_computed_weights(h, 0) - with_computed_weights(-h, 0)) / (2 * h);
  Table parts({{"   part"}, {"formula"}, {"change of v3' divided by h"}});
  parts.row({"   by the value", "a1 d", digits(by_value)});
  parts.row({"   by the weights", "a1 (v3.d / sqrt(3)) (v1 - v3')", digits(by_weights)});
  parts.row({"   sum", "", digits(by_value + by_weights)});
  parts.row({"   finite difference", formatted("h = %g", h), digits(difference)});
  to.set_all("parts", parts, "v3.d", sum(v3 * d).item());
  to.claim("both parts", largest(by_value + by_weights - difference) < 1e-7 &&
                             largest(by_value - difference) > 0.01);
}

void nearly_0_or_1(LessonText& to) {
  Table table = Table::of_numbers(
      {"   scores times", "weights of 'walk'", "after 'birds' + d", "d/10, e/10", "d and e"});
  for (const double scale : {0., 1., 100.})
    table.row("   %g | %s | %s | %.4f | %.4f", scale,
              digits(row(weights(V, scale), 2), "%.3f %.3f %.3f").c_str(),
              digits(row(weights(moved(1, 0), scale), 2), "%.3f %.3f %.3f").c_str(),
              largest(left_over(0.1, scale)), largest(left_over(1, scale)));
  to.set("scales", table);
  to.claim("scales", largest(left_over(1, 0)) < 1e-15 && largest(left_over(0.1, 100)) < 1e-9 &&
                         largest(left_over(1, 100)) > 0.1);
}

const LessonProgram program({two_changes, two_parts_of_a_change, nearly_0_or_1});

}  // namespace fledge::lessons::in_terms_that_interact
