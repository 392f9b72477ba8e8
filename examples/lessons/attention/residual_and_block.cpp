// The residual connection, layer norm, and the block: dirty quantum plumbing. Note 003 writes words
// in columns.
#include "examples/lessons/vocabulary.h"
#include "nn/layers/block.h"
#include "nn/optim/sgd.h"

namespace fledge::lessons::in_residual_and_block {

constexpr std::array words{"dirty", "quantum", "plumbing"};

/// The words, one a row: is it an adjective; how much dirt, physics, pipes.
Tensor embeddings() { return Array({3, 4}, {1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1}); }
/// W_V, in the note M_V: it passes on all but the first number.
Tensor value_matrix() { return Array({4, 4}, {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}); }
/// The note's pattern: its columns are these rows.
Tensor wanted() { return Array({3, 3}, {1, 0, 0, 0.9, 0.1, 0, 0.55, 0.4, 0.05}); }

struct Projections {
  Tensor query, key;  // W_Q, W_K (4, 4)
};

/// W_K is the identity matrix. The query of 'quantum' is the third row of W_Q, and that of
/// 'plumbing' the fourth. The 2 undoes the scale 1/√4.
Projections by_hand() {
  const double nine = 2 * std::log(9), eleven = 2 * std::log(11), eight = 2 * std::log(8);
  return {Array({4, 4}, {0, 0, 0, 0, 0, 0, 0, 0, 0, nine, 0, 0, 0, eleven, eight, 0}), identity(4)};
}

/// softmax(Q·Kᵀ/√4, causal), and the same times V: dE.                                E (3, 4)
AttentionOutput attend_to(const Tensor& E, const Projections& W) {
  return attend(matmul(E, W.query), matmul(E, W.key), matmul(E, value_matrix()), 1, causal());
}
Tensor pattern(const Projections& W) { return reshape(attend_to(embeddings(), W).weights, {3, 3}); }

/// SGD on L = −Σ a*_ij·ln a_ij over the visible words, which is least where a is a*. Returns the
/// largest error of the pattern.
double error_after_training(std::uint64_t seed) {
  Rng rng(seed);
  const auto draw = [&] { return parameter(random_normal({4, 4}, 0, 0.5, rng)); };
  const Projections W{draw(), draw()};
  minimise(Sgd({W.query, W.key}, {.rate = 0.5, .momentum = 0.9}), 300,
           [&] { return -sum(wanted() * log(where(wanted().value(), pattern(W), 1.0))); });
  return farthest(pattern(W), wanted());
}

void pattern_by_hand(LessonText& to) {
  const Tensor S = matmul(matmul(embeddings(), by_hand().query), transpose(embeddings())) / 2;
  Table table = Table::of_numbers({"   word", "scores", "exp of the scores", "sum", "weights"});
  for (Dim i = 1; i < 3; ++i) {
    const Tensor s = slice(row(S, i), 1, 0, i + 1);  // the visible words
    table.row({formatted("   %s", words[std::size_t(i)]), text_of(s), text_of(exp(s)),
               text_of(sum(exp(s)), "%5.2f"), text_of(softmax(s))});
  }
  to.set("pattern", table);
  const int reached =
      count_seeds(100, [](std::uint64_t seed) { return error_after_training(seed) < 1e-4; });
  to.claim("by hand", farthest(pattern(by_hand()), wanted()) < 1e-12);
  to.claim_rate("by training", reached, 100, 100);
  const Tensor longer = row(pattern({by_hand().query * 3.0, by_hand().key}), 2);  // of 'plumbing'
  to.claim_near("longer query", number(longer, 0), 1331.0 / 1844, 1e-12);
}

void residual(LessonText& to) {
  const Tensor E = parameter(embeddings().value()), V = matmul(embeddings(), value_matrix());
  const Tensor dE = matmul(wanted(), V), after = embeddings() + dE;
  Table table = Table::of_numbers({"   word", "E", "dE", "E' = E + dE"});
  for (Dim i = 0; i < 3; ++i)
    table.row({formatted("   %s", words[static_cast<std::size_t>(i)]), text_of(row(E, i), "%3.0f"),
               text_of(row(dE, i)), text_of(row(after, i))});
  to.set("changes", table);
  backward(row(E + matmul(wanted(), matmul(E, value_matrix())), 2), Array({1, 4}, {0, 0, 0, 1}));
  const double slope = number(E.grad(), 11);
  to.set_all("with E", std::pow(1.05, 12), "without E", std::pow(0.05, 12));
  to.claim("dE", farthest(attend_to(embeddings(), by_hand()).output, dE) < 1e-12);
  to.claim_near("slope", slope, 1.05, 1e-12);
  bool refused = false;
  try {
    embeddings() + matmul(wanted(), Array::ones({3, 6}));
  } catch (const ShapeError&) {
    refused = true;
  }
  to.claim("six numbers", refused);
}

/// (x − mean)/√variance of each row.
Tensor norm(const Tensor& x) {
  const Tensor centred = x - mean(x, {-1}, true);
  return centred / sqrt(mean(pow(centred, 2.0), {-1}, true));
}

/// The root of the mean square of all numbers.
double size_of(const Tensor& x) { return std::sqrt(mean(pow(x, 2.0)).item()); }

/// x ← x + attention(norm(x)) or x + attention(x), 12 times, with random matrices.     x (8, 16)
/// Returns the size of x before the first layer and after each layer.
std::vector<double> twelve_layers(bool has_norm, std::uint64_t seed) {
  Rng rng(seed);
  const auto draw = [&](Dim rows, double sd) { return random_normal({rows, 16}, 0, sd, rng); };
  Tensor x = draw(8, 1);
  std::vector<double> sizes{size_of(x)};
  for (int layer = 0; layer < 12; ++layer) {
    const Tensor read = has_norm ? norm(x) : x;
    const Tensor W_Q = draw(16, 0.4), W_K = draw(16, 0.4), W_V = draw(16, 0.4);
    x = x + attend(matmul(read, W_Q), matmul(read, W_K), matmul(read, W_V), 1, Mask()).output;
    sizes.push_back(size_of(x));
  }
  return sizes;
}

void norm_and_block(LessonText& to) {
  const Tensor x = Array({1, 4}, {0, 0.55, 0.4, 1.05});
  const Tensor centred = x - mean(x), squares = pow(centred, 2.0);
  to.set_all("x", text_of(x, "%8.4f"), "mean", mean(x).item(), "centred", text_of(centred, "%8.4f"),
             "variance", mean(squares).item(), "root", std::sqrt(mean(squares).item()), "norm",
             text_of(norm(x), "%8.4f"));
  Table table = Table::of_numbers({"   after layer", "0", "3", "6", "9", "12"});
  for (const bool has_norm : {false, true}) {
    const std::vector<double> x_n = twelve_layers(has_norm, 1);
    table.row("   x + attention(%s) | %.1f | %.1f | %.1f | %.1f | %.1f", has_norm ? "norm(x)" : "x",
              x_n[0], x_n[3], x_n[6], x_n[9], x_n[12]);
  }
  to.set("sizes", table);
  const int holds = count_seeds(20, [](std::uint64_t seed) {
    return twelve_layers(false, seed)[12] > 20 * twelve_layers(true, seed)[12];
  });
  to.claim("norm", std::abs(size_of(norm(x)) - 1) < 1e-12 && std::abs(sum(norm(x)).item()) < 1e-12);
  to.claim_rate("growth", holds, 20, 20);
  Rng rng(1);
  const Block block(16, 2, 32, rng);
  const Tensor input = normal({8, 16}, rng);
  const Tensor seen = input + block.attn(block.ln_1(input));
  to.claim("block", farthest(block(input), seen + block.mlp(block.ln_2(seen))) == 0);
  const std::int64_t n = 768, layers = 12, table_rows = 50257 + 1024;  // GPT-2 small
  const std::int64_t qkv = layers * 3 * n * n, matrices = layers * 4 * n * n;
  const std::int64_t attention = matrices + layers * 4 * n;
  const std::int64_t second = layers * (8 * n * n + 5 * n), norms = (2 * layers + 1) * 2 * n;
  const std::int64_t all = attention + second + norms + table_rows * n;
  to.claim("GPT-2", all == 124439808 && matrices == 28311552);
  const auto share = [&](std::int64_t part) {
    return percent(static_cast<double>(part) / static_cast<double>(all));
  };
  to.set_all("in W_Q, W_K, W_V", thousands(qkv), "in all", thousands(all), "share of these",
             share(qkv), "with output", thousands(matrices), "share with output", share(matrices),
             "share of second parts", share(second), "share of embeddings", share(table_rows * n));
}

const LessonProgram program({residual, norm_and_block, pattern_by_hand});

}  // namespace fledge::lessons::in_residual_and_block
