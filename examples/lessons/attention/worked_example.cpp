// The worked example: 'birds sometimes walk', every number by hand: v3' = a31·v1 + a32·v2 + a33·v3.
#include "examples/birds/by_hand.h"
#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_worked_example {

using Three = std::array<double, 3>;
constexpr std::array<Three, 3> V{{{0.1, 0.2, 0.3},      // v1: birds
                                  {-0.8, 0.3, -0.1},    // v2: sometimes
                                  {0.5, -0.1, -0.4}}};  // v3: walk
constexpr std::array<Three, 3> A{{{1.0, 0.0, 0.0},      // row i: how much word i takes of each word
                                  {0.1, 0.9, 0.0},      //
                                  {0.6, 0.1, 0.4}}};
const char* const words[] = {"birds", "sometimes", "walk"};

double dot(const Three& x, const Three& y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }
double length(const Three& x) { return std::sqrt(dot(x, x)); }
double cosine(const Three& x, const Three& y) {  // of a vector of zeros: taken as 0
  const double lengths = length(x) * length(y);
  return lengths > 0 ? dot(x, y) / lengths : 0;
}
double distance(const Three& x, const Three& y) {
  return length({x[0] - y[0], x[1] - y[1], x[2] - y[2]});
}

/// Σ_j a_j·v_j, number by number
Three mixed(const Three& a) {
  Three v{};
  for (std::size_t c = 0; c < 3; ++c) v[c] = a[0] * V[0][c] + a[1] * V[1][c] + a[2] * V[2][c];
  return v;
}

double total(const Three& a) { return a[0] + a[1] + a[2]; }
bool near(double x, double y, double tolerance = 1e-12) { return std::abs(x - y) <= tolerance; }

const Three after = mixed(A[2]);  // v3'
const Three legal{A[2][0] / total(A[2]), A[2][1] / total(A[2]),
                  A[2][2] / total(A[2])};  // row 3, so that it adds up to 1
const double product = dot(after, V[0]), legal_product = dot(mixed(legal), V[0]);

void nine_products(LessonText& to) {
  Table table({{"word"}, {"vector"}, {"weight of 'birds'"}, {"of 'sometimes'"}, {"of 'walk'"}});
  std::string sums;
  for (std::size_t i = 0; i < 3; ++i) {
    table.row("%s | v%zu = (%4.1f, %4.1f, %4.1f) | %.1f | %.1f | %.1f", words[i], i + 1, V[i][0],
              V[i][1], V[i][2], A[i][0], A[i][1], A[i][2]);
    std::string products, terms;  // of number i of v3'
    for (std::size_t j = 0; j < 3; ++j) {
      const double term = A[2][j] * V[j][i];
      products += formatted(j == 0 ? "%.1f * %.1f" : " + %.1f * %.1f", A[2][j], V[j][i]);
      terms += (j == 0 ? "" : term < 0 ? " - " : " + ") + formatted("%.2f", std::abs(term));
    }
    sums += formatted("%s   %-36s = %s = %.2f", i == 0 ? "" : "\n", products.c_str(), terms.c_str(),
                      after[i]);
  }
  to.set_all("words", table, "three sums", sums);
  to.claim("new vector", distance(after, {0.18, 0.11, 0.01}) < 1e-12 &&
                             distance(after, birds::compute_by_hand().v_hat) < 1e-6);
}

void closer_or_not(LessonText& to) {
  Table table({{"measure"}, {"v3 and v1 (before)"}, {"v3' and v1 (after)"}});
  for (const auto& [name, measure] :
       {std::pair{"distance", &distance}, {"cosine", &cosine}, {"dot product", &dot}})
    table.row("%s | %6.3f | %6.3f", name, measure(V[2], V[0]), measure(after, V[0]));
  to.set("measures", table);
  const auto rounds_to = [](double x, double y) { return near(x, y, 0.0005); };
  to.claim("'birds'",
           near(dot(V[2], V[0]), -0.09) && near(product, 0.043) &&
               rounds_to(cosine(V[2], V[0]), -0.371) && rounds_to(cosine(after, V[0]), 0.544) &&
               rounds_to(distance(V[2], V[0]), 0.86) && rounds_to(distance(after, V[0]), 0.314));
  to.claim("control",
           near(dot(V[2], V[1]), -0.39) && near(dot(after, V[1]), -0.112) &&
               near(0.6 * dot(V[0], V[1]), -0.03) && near(0.1 * dot(V[1], V[1]), 0.074) &&
               near(0.4 * dot(V[2], V[1]), -0.156) && cosine(after, V[1]) > cosine(V[2], V[1]) &&
               distance(after, V[1]) < distance(V[2], V[1]));
}

void triangle_of_rows(LessonText& to) {
  Table table({{"'birds'"}, {"'sometimes'"}, {"'walk'"}, {"v3'.v1"}, {"point"}});
  const auto point = [&](const Three& a, const char* name) {
    const double rounded = std::round(1000 * dot(mixed(a), V[0])) / 1000 + 0.0;  // no "-0.000"
    table.row("%.3f | %.3f | %.3f | %6.3f | %s", a[0], a[1], a[2], rounded, name);
  };
  point({1, 0, 0}, "corner 'birds'");
  point({0, 1, 0}, "corner 'sometimes'");
  point({0, 0, 1}, "corner 'walk', as before attention");
  point({1 / 3., 1 / 3., 1 / 3.}, "the middle");
  point(legal, "the row of the example, divided by 1.1");
  double largest = -1;
  int rows = 0, best = -1;  // the weights in hundredths
  for (int i = 0; i <= 100; ++i)
    for (int j = 0; i + j <= 100; ++j, ++rows) {
      const double found = dot(mixed({i / 100., j / 100., (100 - i - j) / 100.}), V[0]);
      if (found > largest) largest = found, best = i;
    }
  to.set_all("some rows", table, "rows", rows);
  to.claim("corner", best == 100 && near(largest, 0.14));
  to.claim("divided row", near(legal_product, 0.043 / 1.1) &&
                              near(cosine(mixed(legal), V[0]), cosine(after, V[0])));
}

const LessonProgram program({nine_products, closer_or_not, triangle_of_rows});

}  // namespace fledge::lessons::in_worked_example
