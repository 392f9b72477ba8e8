// One head: query, key and value, with every number of 'the fluffy blue bird'. a_ij = softmax over
// j of q_i·k_j/√d, and word i receives Σ_j a_ij·v_j. Words are rows here and columns in note 002.
#include "examples/lessons/vocabulary.h"
#include "nn/layers/attention.h"

namespace fledge::lessons::in_one_head {

constexpr std::size_t n = 4, C = 4, d = 2;  // words; numbers of a word; the head size
using Pair = std::array<double, d>;
using Four = std::array<double, C>;
template <std::size_t columns>
using Matrix = std::array<std::array<double, columns>, 4>;

const char* const words[] = {"the", "fluffy", "blue", "bird"};
// x: noun, adjective, soft, blue
constexpr Matrix<C> X{{{0, 0, 0, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}, {1, 0, 0, 0}}};
constexpr Matrix<d> W_Q{{{3, 0}, {0, 1}, {0, 0}, {0, 0}}};  // a noun looks for adjectives
constexpr Matrix<d> W_K{{{0, 1}, {2, 0}, {0, 0}, {0, 0}}};  // (adjective, noun)
constexpr Matrix<d> W_V{{{0, 0}, {0, 0}, {1, 0}, {0, 1}}};  // soft and blue are passed on

/// x·W: each number of x times its row of W, added up.
constexpr Matrix<d> product(const Matrix<C>& x, const Matrix<d>& W) {
  Matrix<d> y{};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < C; ++c)
      for (std::size_t m = 0; m < d; ++m) y[i][m] += x[i][c] * W[c][m];
  return y;
}

/// One row of the head; word i sees the words 0 … i.
struct Row {
  Four products{}, scores{}, exps{}, weights{};  // for each word j
  double sum = 0;
  Pair received{};
};

Row look(std::size_t i, const Pair& q, const Matrix<d>& k, const Matrix<d>& v) {
  Row row;
  for (std::size_t j = 0; j <= i; ++j) {
    row.products[j] = q[0] * k[j][0] + q[1] * k[j][1];
    row.scores[j] = row.products[j] / std::sqrt(double{d});
    row.sum += row.exps[j] = std::exp(row.scores[j]);
  }
  for (std::size_t j = 0; j <= i; ++j) {
    row.weights[j] = row.exps[j] / row.sum;
    for (std::size_t m = 0; m < d; ++m) row.received[m] += row.weights[j] * v[j][m];
  }
  return row;
}

/// At most three digits after the point: "(1.5, 0.333)".
template <std::size_t size>
std::string digits(const std::array<double, size>& x) {
  std::string text;
  for (const double number : x)
    text += (text.empty() ? "(" : ", ") + formatted("%.4g", std::round(1000 * number) / 1000);
  return text + ")";
}

/// x + what the word received: soft and blue are the last two numbers of x.
std::string becomes(std::size_t i, const Row& row) {
  return digits(Four{X[i][0], X[i][1], X[i][2] + row.received[0], X[i][3] + row.received[1]});
}

constexpr Matrix<d> q = product(X, W_Q), k = product(X, W_K), v = product(X, W_V);

void three_vectors(LessonText& to) {
  const char* const parts[] = {"noun", "adjective", "soft", "blue"};
  Table matrices({{"x has a 1 for"}, {"W_Q adds to q"}, {"W_K adds to k"}, {"W_V adds to v"}});
  Table table({{"word"}, {"x"}, {"query q"}, {"key k"}, {"value v"}});
  for (std::size_t i = 0; i < 4; ++i) {
    matrices.row({parts[i], digits(W_Q[i]), digits(W_K[i]), digits(W_V[i])});
    table.row({words[i], digits(X[i]), digits(q[i]), digits(k[i]), digits(v[i])});
  }
  to.set_all("matrices", matrices, "queries, keys, values", table);
  to.claim("query and key", q[3] == Pair{3, 0} && k[1] == Pair{2, 0} && k[1] == k[2]);
}

void one_row(LessonText& to) {
  const Row row = look(3, q[3], k, v);
  Table table(
      {{"'bird' looks at"}, {"q.k"}, {"score"}, {"exp(score)"}, {"weight"}, {"weight * value"}});
  for (std::size_t j = 0; j < n; ++j)
    table.row("%s | %.3g | %.4f | %.2f | %.4f | %s", words[j], row.products[j], row.scores[j],
              row.exps[j], row.weights[j],
              digits(Pair{row.weights[j] * v[j][0], row.weights[j] * v[j][1]}).c_str());
  table.row("sum |  |  | %.2f | %.4f | %s", row.sum,
            std::accumulate(row.weights.begin(), row.weights.end(), 0.0),
            digits(row.received).c_str());
  to.set_all("row of 'bird'", table, "becomes", becomes(3, row), "exp", row.exps[1], "sum", row.sum,
             "received", row.received[0]);
  const double w = 1 / (2 + 2 * std::exp(-6 / std::sqrt(2.0)));
  to.claim("bird", std::abs(row.received[0] - w) + std::abs(row.received[1] - w) < 1e-12 &&
                       std::abs(row.exps[1] - 69.6) < 0.05 && std::abs(row.sum - 141.2) < 0.05);
}

void all_rows(LessonText& to) {
  const auto tensor = [](const Matrix<d>& m) -> Tensor {
    return Array({4, 2}, {m[0][0], m[0][1], m[1][0], m[1][1], m[2][0], m[2][1], m[3][0], m[3][1]});
  };
  const Tensor V = tensor(v);
  const auto [mixed, weights] = attend(tensor(q), tensor(k), V, 1, causal());
  const std::vector<double> results = numbers(mixed);
  double worst = 0;
  Table table({{"looks at"}, {"the"}, {"fluffy"}, {"blue"}, {"bird"}, {"becomes"}});
  for (std::size_t i = 0; i < n; ++i) {
    const Row row = look(i, q[i], k, v);
    std::vector<std::string> cells{words[i]};
    for (std::size_t j = 0; j < n; ++j)
      cells.push_back(j > i ? "." : formatted("%.3f", row.weights[j]));
    cells.push_back(becomes(i, row));
    table.row(cells);
    for (std::size_t m = 0; m < d; ++m)
      worst = std::max(worst, std::abs(results[d * i + m] - row.received[m]));
  }
  to.set("four rows", table);
  to.claim("attend", worst < 1e-12);
  to.claim("no sum", !common_shape(reshape(weights, {4, 4}).shape(), V.shape()));
}

const LessonProgram program({three_vectors, one_row, all_rows});

}  // namespace fledge::lessons::in_one_head
