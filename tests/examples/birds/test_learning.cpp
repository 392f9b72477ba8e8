// The worked example on three vectors; then Q, K and V on them: each subset raises its association,
// and how far it can go.
#include "examples/birds/learning.h"

#include <algorithm>
#include <cmath>

#include "examples/birds/by_hand.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::birds;

namespace {

const std::vector<std::string> subsets{"Q",       "K",       "V",         "Q and K",
                                       "Q and V", "K and V", "Q, K and V"};

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

TEST_CASE("birds by hand: each number of the worked example, and what is off in two of them") {
  CHECK(tests::same_bits(word_vectors(),
                         Array({3, 3}, {0.1, 0.2, 0.3, -0.8, 0.3, -0.1, 0.5, -0.1, -0.4})));
  CHECK(tests::same_bits(hand_set_attention(),
                         Array({3, 3}, {1.0, 0.0, 0.0, 0.1, 0.9, 0.0, 0.6, 0.1, 0.4})));
  const ByHand found = compute_by_hand();
  const std::vector<std::pair<double, double>> numbers{
      {found.before, -0.09},      {found.v_hat[0], 0.18},         {found.v_hat[1], 0.11},
      {found.v_hat[2], 0.01},     {found.association, 0.043},     {found.row_sum, 1.1},
      {found.as_labelled, 0.075}, {found.normalised, 0.043 / 1.1}};
  for (const auto& [number, wanted] : numbers) CHECK_THAT(number, WithinAbs(wanted, 1e-6));
}

TEST_CASE("birds learning: every subset climbs as in double by central differences") {
  for (const Objective objective : {Objective::product, Objective::cosine})
    for (const std::string& subset : subsets) {
      CAPTURE(subset, objective == Objective::cosine);
      const bool by_product = objective == Objective::product;
      const bool value_learns = subset.find('V') != std::string::npos;
      const Learned found = learn(subset, objective, 1, 100);
      const std::vector<Look>& path = found.path;
      REQUIRE(path.size() == 101);
      CHECK_THAT(path[0].association,
                 WithinAbs(by_product ? -0.0072 : -0.13211, by_product ? 5e-5 : 5e-6));
      CHECK_THAT(path[0].attention[0], WithinAbs(0.3141, 5e-5));
      CHECK_THAT(path[0].attention[1], WithinAbs(0.2642, 5e-5));
      CHECK_THAT(path[0].attention[2], WithinAbs(0.4217, 5e-5));
      CHECK(path[1].association > path[0].association + 1e-4);
      CHECK(path[100].association > path[1].association + 0.01);
      CHECK(std::isfinite(path[100].association));
      for (const Look& look : path) {
        const auto& a = look.attention;
        CHECK(std::min({a[0], a[1], a[2]}) >= 0);
        CHECK_THAT(a[0] + a[1] + a[2], WithinAbs(1, 1e-6));
        if (subset == "V") CHECK(a == path[0].attention);  // without Q and K it keeps every bit
      }
      Climber climber;
      for (int step = 0; step < 20; ++step) climber.step(subset, objective, 1);
      CHECK_THAT(path[20].association, WithinAbs(climber.association(objective), 1e-5));
      for (std::size_t j = 0; j < 3; ++j)
        CHECK_THAT(path[20].attention[j], WithinAbs(climber.row[j], 1e-5));
      CHECK(found.before.association == path[0].association);
      CHECK(found.after.association == path[100].association);
      CHECK(learn(subset, objective, 1, 20).after.association == path[20].association);
      CHECK(found.ceiling.has_value() == (by_product && !value_learns));
      if (found.ceiling) CHECK(found.ceiling == product_ceiling());
    }
}

TEST_CASE("birds learning: with the cosine every subset gets above 0.99, V and all to 1") {
  for (const std::string& subset : subsets) {
    CAPTURE(subset);
    const Learned found = learn(subset, Objective::cosine, 1, 400);
    CHECK(found.after.association > (subset.find('V') == std::string::npos ? 0.99 : 0.9999));
    CHECK(found.after.association < 1 + 1e-6);
  }
}

TEST_CASE("birds learning: Q and K reach 0.139 of 0.14 and never more, however long they learn") {
  CHECK_THAT(product_ceiling(), WithinAbs(0.14, 1e-6));
  for (std::size_t j = 0; j < 3; ++j)
    CHECK(dot(three_vectors[j], three_vectors[0]) < product_ceiling() + 1e-6);
  const std::vector<Look> path = learn("Q and K", Objective::product, 10, 4000).path;
  CHECK(path[400].association >= 0.139);
  CHECK(path[400].attention[0] > 0.999);
  double last = path[0].association;
  for (const std::size_t steps : {1u, 10u, 100u, 400u, 4000u}) {
    CHECK(path[steps].association > last);
    CHECK(path[steps].association <= product_ceiling());
    last = path[steps].association;
  }
  const Learned q = learn("Q", Objective::product), k = learn("K", Objective::product);
  CHECK_THAT(q.after.association, WithinAbs(0.134, 5e-4));
  CHECK_THAT(k.after.association, WithinAbs(q.after.association, 1e-5));
}

TEST_CASE("birds learning: by the product all three run away, while walk looks at itself") {
  const std::vector<Look> path = learn("Q, K and V", Objective::product, 1, 400).path;
  CHECK(path[100].association > 10 * product_ceiling());
  CHECK(path[100].attention[2] > 0.9);
  CHECK(path[100].attention[0] < 0.1);
  CHECK(path[400].association > 5 * path[100].association);
  CHECK(path[400].attention[2] > path[100].attention[2]);
}

TEST_CASE("birds learning: the six experiments of the story") {
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
}
