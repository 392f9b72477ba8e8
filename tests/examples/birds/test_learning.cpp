// The worked example on three vectors; then Q, K and V on them: each subset raises its association,
// and how far it can go. The numbers at the end of each experiment stand in examples/birds/README.md.
#include "examples/birds/learning.h"

#include <algorithm>
#include <cmath>

#include "examples/birds/by_hand.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::birds;

namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

constexpr Matrix three_vectors{{{0.1, 0.2, 0.3}, {-0.8, 0.3, -0.1}, {0.5, -0.1, -0.4}}};

double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) result[i][j] += a[i][k] * b[k][j];
  return result;
}

/// The same model in double and without an engine: W_Q, W_K, W_V, climbed by central differences.
struct Climber {
  std::array<Matrix, 3> w{};
  std::array<double, 3> row{};  // where walk looks

  Climber() {
    for (Matrix& matrix : w)
      for (std::size_t i = 0; i < 3; ++i) matrix[i][i] = 1;
  }

  double association(Objective objective) {
    const Matrix q = product(three_vectors, w[0]), k = product(three_vectors, w[1]),
                 v = product(three_vectors, w[2]);
    double sum = 0;
    for (std::size_t j = 0; j < 3; ++j) sum += row[j] = std::exp(dot(q[2], k[j]) / std::sqrt(3.0));
    std::array<double, 3> walk{};
    for (std::size_t j = 0; j < 3; ++j) {
      row[j] /= sum;
      for (std::size_t c = 0; c < 3; ++c) walk[c] += row[j] * v[j][c];
    }
    const double lengths = std::sqrt(dot(walk, walk) * dot(three_vectors[0], three_vectors[0]));
    return dot(walk, three_vectors[0]) / (objective == Objective::cosine ? lengths : 1);
  }

  void step(const std::string& learns, Objective objective, double rate) {
    constexpr double h = 1e-6;
    std::array<Matrix, 3> next = w;
    for (std::size_t m = 0; m < 3; ++m) {
      if (learns.find("QKV"[m]) == std::string::npos) continue;
      for (std::size_t i = 0; i < 9; ++i) {
        double& entry = w[m][i / 3][i % 3];
        const double old = entry;
        entry = old + h;
        const double above = association(objective);
        entry = old - h;
        next[m][i / 3][i % 3] += rate * (above - association(objective)) / (2 * h);
        entry = old;
      }
    }
    w = next;
  }
};

}  // namespace

TEST_CASE("birds learning: every subset climbs as in double by central differences") {
  for (const Objective objective : {Objective::product, Objective::cosine})
    for (const std::string subset :
         {"Q", "K", "V", "Q and K", "Q and V", "K and V", "Q, K and V"}) {
      CAPTURE(subset, objective == Objective::cosine);
      const bool has_ceiling =
          objective == Objective::product && subset.find('V') == std::string::npos;
      const Learned found = learn(subset, objective, 1, 100);
      const std::vector<Look>& path = found.path;
      REQUIRE(path.size() == 101);
      Climber climber;
      for (std::size_t step = 0; step <= 20; ++step) {
        CHECK_THAT(path[step].association, WithinAbs(climber.association(objective), 1e-5));
        for (std::size_t j = 0; j < 3; ++j)
          CHECK_THAT(path[step].attention[j], WithinAbs(climber.row[j], 1e-5));
        climber.step(subset, objective, 1);
      }
      CHECK(path[100].association > path[1].association + 0.01);
      if (subset == "V")  // without Q and K every weight keeps its bits
        for (const Look& look : path) CHECK(look.attention == path[0].attention);
      CHECK(found.before.association == path[0].association);
      CHECK(found.after.association == path[100].association);
      CHECK(found.ceiling.has_value() == has_ceiling);
      if (found.ceiling) CHECK(found.ceiling == product_ceiling());
      const double most = learn(subset, Objective::cosine, 1, 400).after.association;
      CHECK(most > (subset.find('V') == std::string::npos ? 0.99 : 0.9999));
      CHECK(most < 1 + 1e-6);
    }
}

TEST_CASE("birds learning: Q and K reach 0.139 of 0.14 and never more, however long they learn") {
  CHECK_THAT(product_ceiling(), WithinAbs(0.14, 1e-6));
  const std::vector<Look> path = learn("Q and K", Objective::product, 10, 4000).path;
  CHECK(path[400].association >= 0.139);
  for (std::size_t step = 1; step < path.size(); ++step)
    CHECK((path[step].association >= path[step - 1].association - 1e-7 &&
           path[step].association <= product_ceiling()));
}

TEST_CASE("birds learning: the six experiments of the story, each with its rate and steps") {
  const std::vector<Learned> all = learn_all();
  const std::vector<std::string> learns{"Q", "K", "Q and K", "V", "Q, K and V", "Q, K and V"};
  REQUIRE(all.size() == learns.size());
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(all[i].learns == learns[i]);
    CHECK(all[i].objective == (i == 3 || i == 4 ? Objective::cosine : Objective::product));
    const Learned again = learn(learns[i], all[i].objective, i < 3 ? 10 : 1, i < 5 ? 400 : 100);
    CHECK(again.after.association == all[i].after.association);
    CHECK(again.after.attention == all[i].after.attention);
  }
  CHECK(tests::same_bits(word_vectors(),
                         Array({3, 3}, {0.1, 0.2, 0.3, -0.8, 0.3, -0.1, 0.5, -0.1, -0.4})));
  CHECK(tests::same_bits(hand_set_attention(),
                         Array({3, 3}, {1.0, 0.0, 0.0, 0.1, 0.9, 0.0, 0.6, 0.1, 0.4})));
}
