// Linear attention: a sum over all pairs of key and value is one matrix, so the table of weights is
// never made. The delta rule corrects this matrix, where linear attention only adds to it.
#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_linear_attention {

const char* const verbs[] = {"walk", "sleep", "fly"};

/// The matrix S after all pairs.   k (…, n, d)   v (…, n, m)   S (…, d, m)
using Memory = Tensor (*)(const Tensor& k, const Tensor& v);

/// S = Σ_j k_jᵀ·v_j                                                   Katharopoulos et al. 2020
Tensor sum_of_pairs(const Tensor& k, const Tensor& v) { return matmul(transpose(k), v); }

/// S ← S + k_jᵀ·(v_j − k_j·S) for one pair after the other.   Widrow & Hoff 1960; Schlag et al. 2021
Tensor delta_rule(const Tensor& k, const Tensor& v) {
  Tensor S = matmul(transpose(slice(k, -2, 0, 1)), slice(v, -2, 0, 1));
  for (Dim j = 1; j < k.dim(-2); ++j) {
    const Tensor key = slice(k, -2, j, j + 1), value = slice(v, -2, j, j + 1);
    S = S + matmul(transpose(key), value - matmul(key, S));
  }
  return S;
}

/// What a query reads from softmax attention: y = softmax(q·Kᵀ)·V.
Tensor softmax_read(const Tensor& q, const Tensor& k, const Tensor& v) {
  return matmul(softmax(matmul(q, transpose(k))), v);
}

/// Rows of random directions with the length 1.
Tensor unit_rows(const Tensor& x) { return x / sqrt(sum(x * x, {-1}, true)); }

void same_sum(LessonText& to) {
  constexpr Dim T = 64, d = 8;
  Rng rng(1);
  const Tensor q = normal({T, d}, rng), k = normal({T, d}, rng), v = normal({T, d}, rng);
  const Tensor from_table = weighted_sum(matmul(q, transpose(k)), v, causal());
  std::vector<Tensor> from_memory;
  for (Dim t = 0; t < T; ++t)
    from_memory.push_back(
        matmul(row(q, t), sum_of_pairs(slice(k, 0, 0, t + 1), slice(v, 0, 0, t + 1))));
  to.claim("same", farthest(from_table, concat(from_memory, 0)) < 1e-4);
}

void one_key_twice(LessonText& to) {
  const Tensor k = Array({3, 2}, {1, 0, 0, 1, 1, 0});  // birds, cats, birds
  const Tensor v = identity(3), birds = row(k, 0);     // walk, sleep, fly
  const Tensor summed = matmul(birds, sum_of_pairs(k, v)), looked = softmax_read(10 * birds, k, v),
               corrected = matmul(birds, delta_rule(k, v));
  Table table = Table::of_numbers({"", "sum of pairs", "softmax", "delta rule"});
  for (Dim i = 0; i < 3; ++i)
    table.row("%s | %.2f | %.2f | %.2f", verbs[i], number(summed, i), number(looked, i),
              number(corrected, i));
  to.set("read", table);
  to.claim("added", farthest(summed, Array({1, 3}, {1, 0, 1})) == 0);
  to.claim("corrected", farthest(corrected, Array({1, 3}, {0, 0, 1})) == 0);

  Rng rng(2);
  const Tensor key = unit_rows(normal({1, 8}, rng)), value = normal({1, 8}, rng),
               S = parameter(normal({8, 8}, rng));
  const Tensor error = value - matmul(key, S);
  backward(0.5 * sum(error * error));
  to.claim("gradient step", farthest(-S.grad(), matmul(transpose(key), error)) < 1e-5);
}

/// The numbers a_j of y = Σ_j a_j·v_j, where y = read(v): the gradients of a number of y.
template <class Read>
std::vector<double> weights_of(Read read) {
  const Tensor v = parameter(Array::zeros({3, 1}));
  backward(sum(read(v)));
  return numbers(v.grad());
}

void weights_without_a_table(LessonText& to) {
  const Tensor k = Array({3, 2}, {1, 0, 0.6, 0.8, 1, 0}), birds = row(k, 0), cats = row(k, 1);
  const auto delta = [&](const Tensor& q) {
    return weights_of([&](const Tensor& v) { return matmul(q, delta_rule(k, v)); });
  };
  Table table = Table::of_numbers({"cats", "birds walk", "cats sleep", "birds fly"});
  const auto add = [&](const char* name, const std::vector<double>& a) {
    table.row("%s | %.2f | %.2f | %.2f", name, a[0], a[1], a[2]);
  };
  add("sum of pairs",
      weights_of([&](const Tensor& v) { return matmul(cats, sum_of_pairs(k, v)); }));
  add("softmax", weights_of([&](const Tensor& v) { return softmax_read(10 * cats, k, v); }));
  add("delta rule", delta(cats));
  to.set("weights", table);
  to.claim("written over",
           std::abs(delta(birds)[0]) < 1e-6 && std::abs(delta(birds)[2] - 1) < 1e-6);
}

/// Of n random pairs in a memory of 16 × 16, the share for which the right value is the nearest.
double recalled(Memory memory, Dim n) {
  Rng rng(static_cast<std::uint64_t>(n));
  int right = 0;
  constexpr int texts = 20;
  for (int text = 0; text < texts; ++text) {
    const Tensor k = unit_rows(normal({n, 16}, rng)), v = unit_rows(normal({n, 16}, rng));
    const Tensor y = memory == nullptr ? softmax_read(50 * k, k, v) : matmul(k, memory(k, v));
    const Indices nearest = argmax(matmul(y, transpose(v)));
    for (Dim i = 0; i < n; ++i) right += nearest[i] == i ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(texts * n);
}

void how_many(LessonText& to) {
  Table table = Table::of_numbers({"pairs", "sum of pairs", "delta rule", "softmax"});
  for (const Dim n : {4, 8, 16, 32, 64}) {
    const double sum = recalled(sum_of_pairs, n), corrected = recalled(delta_rule, n),
                 looked = recalled(nullptr, n);
    table.row("%d | %s | %s | %s", static_cast<int>(n), percent(sum).c_str(),
              percent(corrected).c_str(), percent(looked).c_str());
    if (n == 64) to.claim("table wins", looked == 1 && sum < 0.5 && corrected < 0.5);
  }
  to.set("recalled", table);
}

const LessonProgram program({same_sum, one_key_twice, weights_without_a_table, how_many});

}  // namespace fledge::lessons::in_linear_attention
