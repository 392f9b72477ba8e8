#include "examples/birds/learning.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "examples/birds/by_hand.h"
#include "nn/optim/sgd.h"

namespace fledge::birds {

namespace {

struct Projections {
  Tensor query, key, value;  // W_Q, W_K and W_V
};

struct Result {
  Tensor weights, products, association;
};

Result look(const Projections& w, Objective objective) {
  const Tensor X = word_vectors();
  const Tensor q = matmul(X, w.query), k = matmul(X, w.key), v = matmul(X, w.value);
  const Tensor scores = attention_scores(q, k, causal()) / std::sqrt(3.0);
  const Tensor weights = softmax(scores, causal());
  const Tensor walk = slice(weighted_sum(weights, v, causal()), 0, 2, 3);
  const Tensor birds = slice(X, 0, 0, 1);
  return {
      weights, matmul_transposed(v, birds),
      objective == Objective::product ? sum(walk * birds) : sum(cosine_similarity(walk, birds))};
}

Look seen(const Result& result) {
  const std::vector<double> a = to_vector(result.weights.value()),  // walk has the third row
      u = to_vector(result.products.value());
  return {{a[6], a[7], a[8]}, {u[0], u[1], u[2]}, result.association.item()};
}

}  // namespace

double product_ceiling() {
  const Tensor X = word_vectors();
  return max(matmul(X, transpose(slice(X, 0, 0, 1)))).item();
}

Learned learn(const std::string& learns, Objective objective, double rate, Dim steps) {
  std::vector<Tensor> learning;
  const auto start = [&](char letter) {
    const Array identity({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
    if (learns.find(letter) == std::string::npos) return Tensor(identity);
    return learning.emplace_back(parameter(identity));
  };
  const Projections w{start('Q'), start('K'), start('V')};
  Sgd ascent(learning, {.rate = rate});
  Learned learned{learns, objective, {}, {}, {}, rate, steps, {}};
  for (Dim step = 0; step < steps; ++step) {
    const Result now = look(w, objective);
    learned.path.push_back(seen(now));
    ascent.zero_grad();
    backward(-now.association);
    ascent.step();
  }
  learned.path.push_back(seen(look(w, objective)));
  learned.before = learned.path.front();
  learned.after = learned.path.back();
  if (objective == Objective::product && !w.value.needs_grad()) learned.ceiling = product_ceiling();
  return learned;
}

Learned learn(const std::string& learns, Objective objective) {
  const bool value_learns = learns.find('V') != std::string::npos;
  const bool has_ceiling = objective == Objective::cosine || !value_learns;
  return learn(learns, objective, value_learns ? 1 : 10, has_ceiling ? 400 : 100);
}

std::vector<Learned> learn_all() {
  return {
      learn("Q", Objective::product),         learn("K", Objective::product),
      learn("Q and K", Objective::product),   learn("V", Objective::cosine),
      learn("Q, K and V", Objective::cosine), learn("Q, K and V", Objective::product),
  };
}

}  // namespace fledge::birds
