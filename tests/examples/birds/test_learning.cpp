// Q, K and V on three vectors: each subset raises its association, and how far it can go.
#include "examples/birds/learning.h"

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

double look_sum(const Look& look) {
  return look.attention[0] + look.attention[1] + look.attention[2];
}

}  // namespace

TEST_CASE(
    "birds learning: it starts at -0.0072, looking at birds 0.31, sometimes 0.26, walk 0.42") {
  for (const std::string& subset : subsets) {
    CAPTURE(subset);
    const Look start = learn(subset, Objective::product, 1, 1).before;
    CHECK_THAT(start.association, WithinAbs(-0.0072, 5e-5));
    CHECK_THAT(start.attention[0], WithinAbs(0.3141, 5e-5));
    CHECK_THAT(start.attention[1], WithinAbs(0.2642, 5e-5));
    CHECK_THAT(start.attention[2], WithinAbs(0.4217, 5e-5));
    CHECK_THAT(learn(subset, Objective::cosine, 1, 1).before.association,
               WithinAbs(-0.13211, 5e-6));
  }
}

TEST_CASE("birds learning: the ceiling is 0.14, the largest product of a vector with birds") {
  CHECK_THAT(product_ceiling(), WithinAbs(0.14, 1e-6));
  CHECK_THAT(product_ceiling(), WithinAbs(dot(three_vectors[0], three_vectors[0]), 1e-6));
  CHECK_THAT(dot(three_vectors[1], three_vectors[0]), WithinAbs(-0.05, 1e-12));
  CHECK_THAT(dot(three_vectors[2], three_vectors[0]), WithinAbs(-0.09, 1e-12));
}

TEST_CASE("birds learning: Q and K reach 0.139 of 0.14 and never more, however long they learn") {
  const Learned found = learn("Q and K", Objective::product, 10, 400);
  CHECK(found.after.association >= 0.139);
  CHECK(found.after.attention[0] > 0.999);
  double last = found.before.association;
  for (const Dim steps : {1, 10, 100, 400, 4000}) {
    const Learned longer = learn("Q and K", Objective::product, 10, steps);
    CHECK(longer.after.association > last);
    CHECK(longer.after.association <= product_ceiling());
    last = longer.after.association;
  }
}

TEST_CASE("birds learning: Q alone and K alone get to 0.134, on the same path") {
  const Learned q = learn("Q", Objective::product, 10, 400);
  const Learned k = learn("K", Objective::product, 10, 400);
  CHECK_THAT(q.after.association, WithinAbs(0.134, 5e-4));
  CHECK_THAT(k.after.association, WithinAbs(q.after.association, 1e-5));
  CHECK(q.after.association < learn("Q and K", Objective::product, 10, 400).after.association);
}

TEST_CASE("birds learning: every subset raises its association, from the first step on") {
  for (const Objective objective : {Objective::product, Objective::cosine})
    for (const std::string& subset : subsets) {
      CAPTURE(subset, objective == Objective::cosine);
      const Learned one = learn(subset, objective, 1, 1);
      const Learned many = learn(subset, objective, 1, 100);
      CHECK(one.after.association > one.before.association + 1e-4);
      CHECK(many.after.association > one.after.association + 0.01);
      CHECK(std::isfinite(many.after.association));
    }
}

TEST_CASE("birds learning: every subset climbs the path of central differences in double") {
  for (const Objective objective : {Objective::product, Objective::cosine})
    for (const std::string& subset : subsets) {
      CAPTURE(subset, objective == Objective::cosine);
      Climber climber;
      for (int step = 0; step < 20; ++step) climber.step(subset, objective, 1);
      const Look found = learn(subset, objective, 1, 20).after;
      CHECK_THAT(found.association, WithinAbs(climber.association(objective), 1e-5));
      for (std::size_t j = 0; j < 3; ++j)
        CHECK_THAT(found.attention[j], WithinAbs(climber.row[j], 1e-5));
    }
}

TEST_CASE("birds learning: with the cosine every subset gets above 0.99, V and all to 1") {
  for (const std::string& subset : subsets) {
    CAPTURE(subset);
    const Learned found = learn(subset, Objective::cosine, 1, 400);
    CHECK(found.after.association > 0.99);
    CHECK(found.after.association < 1 + 1e-6);
    if (subset.find('V') != std::string::npos) CHECK(found.after.association > 0.9999);
  }
}

TEST_CASE("birds learning: without Q and K the attention weights keep every bit") {
  for (const Objective objective : {Objective::product, Objective::cosine}) {
    const Learned found = learn("V", objective, 1, 400);
    CHECK(found.after.attention == found.before.attention);
  }
}

TEST_CASE("birds learning: by the product all three run away, while walk looks at itself") {
  const Learned found = learn("Q, K and V", Objective::product, 1, 100);
  CHECK(found.after.association > 10 * product_ceiling());
  CHECK(found.after.attention[2] > 0.9);
  CHECK(found.after.attention[0] < 0.1);
  CHECK(found.after.attention[0] < found.before.attention[0]);
  const Learned longer = learn("Q, K and V", Objective::product, 1, 400);
  CHECK(longer.after.association > 5 * found.after.association);
  CHECK(longer.after.attention[2] > found.after.attention[2]);
}

TEST_CASE("birds learning: rows of attention sum to 1, before and after") {
  for (const Objective objective : {Objective::product, Objective::cosine})
    for (const std::string& subset : subsets) {
      const Learned found = learn(subset, objective, 10, 50);
      CHECK_THAT(look_sum(found.before), WithinAbs(1, 1e-6));
      CHECK_THAT(look_sum(found.after), WithinAbs(1, 1e-6));
      for (const double weight : found.after.attention) CHECK(weight >= 0);
    }
}

TEST_CASE("birds learning: the ceiling is there for the product with V fixed, and nowhere else") {
  for (const std::string& subset : subsets) {
    CAPTURE(subset);
    const bool value_fixed = subset.find('V') == std::string::npos;
    CHECK(learn(subset, Objective::product, 1, 1).ceiling.has_value() == value_fixed);
    CHECK_FALSE(learn(subset, Objective::cosine, 1, 1).ceiling.has_value());
    if (value_fixed) CHECK(learn(subset, Objective::product, 1, 1).ceiling == product_ceiling());
  }
}

TEST_CASE("birds learning: the six experiments of the story, each as told there") {
  const std::vector<Learned> all = learn_all();
  REQUIRE(all.size() == 6);
  const std::vector<std::string> learns{"Q", "K", "Q and K", "V", "Q, K and V", "Q, K and V"};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(all[i].learns == learns[i]);
    CHECK(all[i].objective == (i == 3 || i == 4 ? Objective::cosine : Objective::product));
    CHECK(all[i].ceiling.has_value() == (i < 3));
    CHECK(all[i].after.association > all[i].before.association);
    const Learned again = learn(all[i].learns, all[i].objective, i < 3 ? 10 : 1, all[i].steps);
    CHECK(again.after.association == all[i].after.association);
    CHECK(again.after.attention == all[i].after.attention);
  }
  CHECK(all[2].after.association >= 0.139);
  CHECK(all[3].after.association > 0.99);
  CHECK(all[4].after.association > 0.99);
  CHECK(all[5].after.attention[2] > 0.9);
}
