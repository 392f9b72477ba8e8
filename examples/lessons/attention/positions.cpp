// Positions: without them attention does not know the order of the words.
#include "examples/lessons/vocabulary.h"
#include "nn/layers/attention.h"
#include "nn/optim/adamw.h"

namespace fledge::lessons::in_positions {

struct Sentence {
  std::array<const char*, 3> words{};
  Tensor x;  // (3, 2), a vector in each row
};
Sentence dog_first() { return {{"dog", "bites", "man"}, Array({3, 2}, {1, 0, 1, 1, 0, 2})}; }
Sentence man_first() { return {{"man", "bites", "dog"}, Array({3, 2}, {0, 2, 1, 1, 1, 0})}; }

/// x = word vector + position vector
Sentence with_positions(const Sentence& sentence) {
  return {sentence.words, sentence.x + Tensor(Array({3, 2}, {1, 0, 0, 0, 1, 1}))};
}

struct Result {
  Tensor mixed;  // (2), the new vector of 'bites': the sum of a_j x_j
  std::string table;
};

/// a = softmax(x_bites . x_j / sqrt(2)) over the words of the sentence
Result bites_looks_at(const Sentence& sentence) {
  const Tensor X = sentence.x, Q_K = matmul_transposed(row(X, 1), X);  // (3, 2) and (1, 3)
  const Tensor E = exp(Q_K / std::sqrt(2.0)), A = E / sum(E);
  const Tensor parts = transpose(A) * X, mixed = sum(parts, {0});
  const std::vector<double> x = numbers(X), q_k = numbers(Q_K), e = numbers(E), a = numbers(A);
  const std::vector<double> part = numbers(parts), total = numbers(mixed);
  Table table =
      Table::of_numbers({"word", "x", "q.k", "q.k / sqrt(2)", "exp", "weight", "weight * x"});
  for (std::size_t j = 0; j < 3; ++j)
    table.row("%s | (%.0f, %.0f) | %.0f | %.3f | %.3f | %.3f | (%.3f, %.3f)", sentence.words[j],
              x[2 * j], x[2 * j + 1], q_k[j], q_k[j] / std::sqrt(2), e[j], a[j], part[2 * j],
              part[2 * j + 1]);
  table.row("sum |  |  |  | %.3f | %.3f | (%.3f, %.3f)", sum(E).item(), sum(A).item(), total[0],
            total[1]);
  return {mixed, table.text()};
}

/// How far the new vectors of 'bites' in the two sentences are apart.
double apart(const Sentence& a, const Sentence& b) {
  return length(bites_looks_at(a).mixed - bites_looks_at(b).mixed);
}

void order_is_lost(LessonText& to) {
  to.set("without positions", bites_looks_at(dog_first()).table);
  to.claim("same vector", apart(dog_first(), man_first()) < 1e-15);
  Rng rng(1);
  const Attention attention(8, 2, rng);
  const Tensor x = normal({5, 8}, rng), given = attention(x), masked = attention(x, causal());
  std::vector<Dim> order{0, 1, 2, 3, 4};
  double moved = 0, last = 0;
  do {
    const Indices in_order({5}, order);  // embedding() takes the rows in this order
    const Tensor z = embedding(x, in_order);
    moved = std::max(moved, farthest(attention(z), embedding(given, in_order)));
    if (order[4] == 4) last = std::max(last, largest(row(attention(z, causal()) - masked, 4)));
  } while (std::next_permutation(order.begin(), order.end()));
  to.claim("every order", moved < 1e-14);
  to.claim("causal mask", last < 1e-14);
}

void order_is_in_the_vectors(LessonText& to) {
  const Sentence first = with_positions(dog_first()), second = with_positions(man_first());
  to.set_all("with positions", bites_looks_at(first).table + "\n" + bites_looks_at(second).table,
             "distance", apart(first, second));
  to.claim("two vectors", apart(first, second) > 0.1);
}

void distance_has_no_influence(LessonText& to) {
  const double expected = std::exp(5) / (std::exp(5) + 1000);
  double off = 0;
  for (const int before : {1, 30, 1000}) {
    Array keys = Array::zeros({1001, 1});
    keys.write()[1000 - before] = 5;
    const Array weights = attend(Array::full({1, 1}, 1), keys, keys, 1, Mask()).weights.value();
    const double weight = value_of(weights.at({0, 0, 1000 - before}));
    off = std::max(off, std::abs(weight - expected));
  }
  to.set_all("even split", 1. / 1001, "weight", expected);
  to.claim("each distance", off < 1e-14);
}

/// The loss after training. The model reads "a b ?" and predicts a: 6 words, 30 pairs, '?' is 6.
double trained_loss(bool has_positions, std::uint64_t seed) {
  std::vector<Dim> texts, answers;
  for (Dim a = 0; a < 6; ++a)
    for (Dim b = 0; b < 6; ++b)
      if (a != b) texts.insert(texts.end(), {a, b, 6}), answers.push_back(a);
  const Indices ids({30, 3}, texts), targets({30}, answers);
  Rng rng(seed);
  const Tensor words = parameter(normal({7, 8}, rng));
  const Attention attention(8, 1, rng);
  const Tensor positions = parameter(normal({3, 8}, rng));
  const auto loss = [&] {
    const Tensor x = has_positions ? embedding(words, positions, ids) : embedding(words, ids);
    const Tensor y = reshape(slice(attention(x), 1, 2, 3), {30, 8});  // the new vector of '?'
    return cross_entropy(matmul_transposed(y, slice(words, 0, 0, 6)), targets);
  };
  std::vector<Tensor> all = parameters(attention);
  all.insert(all.end(), {words, positions});
  minimise(AdamW(all, {.rate = 0.02, .decay = 0}), 200, loss);
  return loss().item();
}

void a_task(LessonText& to) {
  Table table = Table::of_numbers({"seed", "loss with positions", "loss without"});
  int learned = 0, guessed = 0;
  for (const std::uint64_t seed : std::vector<std::uint64_t>{1, 2, 3}) {
    const double with = trained_loss(true, seed), without = trained_loss(false, seed);
    table.row("%d | %.3f | %.3f", int(seed), with, without);
    learned += with < 0.01 ? 1 : 0;
    guessed += without > std::log(2) - 1e-9 ? 1 : 0;
  }
  to.set("losses", table);
  to.claim_rate("learned", learned, 3, 3);
  to.claim_rate("guessed", guessed, 3, 3);
}

const LessonProgram program({order_is_lost, order_is_in_the_vectors, distance_has_no_influence,
                             a_task});

}  // namespace fledge::lessons::in_positions
