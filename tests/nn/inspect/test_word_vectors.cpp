#include "nn/inspect/word_vectors.h"

#include <cmath>
#include <utility>

#include "engine/base/errors.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

// Two groups of tokens, and one that is like none.
const Array two_groups({5, 3}, {1, 0, 0, 0.9, 0.1, 0, 0, 2, 0.1, 0, 2, 0, -1, -1, -5});

using TokenPairs = std::vector<std::pair<Dim, Dim>>;
TokenPairs pairs_of(const std::vector<SimilarTokens>& list) {
  TokenPairs pairs;
  for (const SimilarTokens& similar : list) pairs.emplace_back(similar.a, similar.b);
  return pairs;
}

double squared(double x, double y) { return x * x + y * y; }

}  // namespace

TEST_CASE("nearest tokens: by the cosine, whatever the lengths") {
  const auto found = nearest_tokens(two_groups, 3, 3);
  CHECK(pairs_of(found) == TokenPairs{{3, 2}, {3, 1}, {3, 0}});
  CHECK_THAT(found[0].cosine, WithinAbs(2 / std::sqrt(4.01), 1e-6));
  CHECK(nearest_tokens(two_groups, 0, 99).size() == 4);
  const auto of_zeros = nearest_tokens(Array::zeros({3, 2}), 1, 2);
  CHECK(pairs_of(of_zeros) == TokenPairs{{1, 0}, {1, 2}});
  CHECK(of_zeros[0].cosine == 0);
  for (const Dim token : {-1, 5}) CHECK_THROWS_AS(nearest_tokens(two_groups, token, 1), ValueError);
}

TEST_CASE("the most similar pairs are those of the groups") {
  CHECK(pairs_of(most_similar_pairs(two_groups, 2)) == TokenPairs{{2, 3}, {0, 1}});
  CHECK(most_similar_pairs(two_groups, 9, 2).size() == 1);
  CHECK(most_similar_pairs(Array::zeros({1, 2}), 4).empty());
  // Of equals the smaller numbers first.
  CHECK(pairs_of(most_similar_pairs(Array::ones({4, 2}), 5)) ==
        TokenPairs{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}});
}

TEST_CASE("a map of points in a plane is a rotation of them") {
  // Four points in a plane of four dimensions, around their mean.
  const double points[4][2]{{3, 0}, {-3, 0}, {0, 1}, {0, -1}};
  std::vector<double> numbers;
  for (const auto& [a, b] : points)
    for (const double number : {0.6 * a + 5, 0.8 * a - 1, 0.8 * b, 0.6 * b + 2})
      numbers.push_back(number);
  const TokenMap map = token_map(Array({4, 4}, numbers));
  CHECK_THAT(map.share, WithinAbs(1, 1e-6));
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      CHECK_THAT(
          squared(map.x[i] - map.x[j], map.y[i] - map.y[j]),
          WithinAbs(squared(points[i][0] - points[j][0], points[i][1] - points[j][1]), 1e-4));
  CHECK_THAT(map.x[0], WithinAbs(3, 1e-5));  // the largest coefficient is positive
  CHECK_THAT(map.y[2], WithinAbs(1, 1e-5));
}

TEST_CASE("a map of two tokens is a line, one of what does not vary is zeros") {
  const TokenMap map = token_map(Array({2, 3}, {0.3, -1.7, 2.9, 1.1, 0.7, -0.4}));
  CHECK(map.x[0] != map.x[1]);
  CHECK(map.y == std::vector<double>{0, 0});
  CHECK_THAT(map.share, WithinAbs(1, 1e-6));
  for (const Array& same : {Array::ones({3, 2}), Array::ones({1, 4}), Array::ones({2, 1})}) {
    const std::vector<double> zeros(static_cast<std::size_t>(same.dim(0)));
    CHECK(token_map(same).x == zeros);
    CHECK(token_map(same).y == zeros);
    CHECK(token_map(same).share == 0);
  }
}

TEST_CASE("the most similar pair of many tokens is not lost") {
  Rng rng(1);
  Array table = random_uniform({1'500, 3}, -1, 1, rng);
  for (Dim c = 0; c < 3; ++c) table.write()[c] = table.write()[3 + c] = Real(c + 1);
  const auto found = most_similar_pairs(table, 1);
  CHECK((found[0].a == 0 && found[0].b == 1));
}
