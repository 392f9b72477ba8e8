// Attention in one file, no library: as a model learns to predict the next word, it learns that walk
// has to look at birds. Text, model, random numbers and results are those of `make run`, part 3.
//   g++ -std=c++20 -O2 examples/birds_in_one_file.cpp -o birds
//   ./birds [SEED]   learns, shows the result, and checks every gradient by finite differences
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using std::size_t, std::string, std::uint64_t, std::vector;
constexpr double pi = 3.141592653589793;
const string text =
#include "support/built_in_text.inc"
    ;
// The words of the text in the order of their letters. Word 0 is the line end.
vector<string> words_of_text() {
  std::set<string> sorted{"\n"};
  std::istringstream stream(text);
  for (string word; stream >> word;) sorted.insert(word);
  return {sorted.begin(), sorted.end()};
}
const vector<string> words = words_of_text();
const size_t V = words.size(), context = 10, C = 16, hidden = 32;  // a word becomes C numbers

using Tokens = vector<size_t>;  // a sentence as the numbers of its words, after the line end's
Tokens tokens(const string& sentence) {
  Tokens numbers{0};
  std::istringstream stream(sentence);
  for (string word; stream >> word;)
    numbers.push_back(size_t(std::lower_bound(words.begin(), words.end(), word) - words.begin()));
  return numbers;
}

// Random numbers from a key and a counter (SplitMix64: Steele, Lea & Flood 2014).
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}
struct Random {
  static constexpr uint64_t gamma = 0x9E3779B97F4A7C15;
  uint64_t key = 0, counter = 0;
  Random stream(uint64_t number) const { return {mix(mix(key) ^ mix(number + gamma))}; }
  uint64_t bits() { return mix(key + gamma * ++counter); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double normal() {  // Box & Muller 1958
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * pi * uniform());
  }
};

// The numbers x of a matrix, and its gradient dx, which is short for ∂loss/∂x.
struct Matrix {
  size_t rows, columns;
  vector<double> x = vector<double>(rows * columns), dx = x, m = x, v = x;  // m and v: see learn()
  std::function<void()> rule{};  // from dx to the gradients of what the matrix was computed from
};
// Every result stands on the tape, behind what it was computed from. The newest result's rule is
// applied first: when a rule reads dx, all rules that add to this dx have been applied.
std::deque<Matrix> tape;
void backward(vector<Matrix>& weights) {
  for (Matrix& W : weights) W.dx.assign(W.x.size(), 0);
  tape.back().dx = {1};  // ∂loss/∂loss
  for (auto result = tape.rbegin(); result != tape.rend(); ++result)
    if (result->rule) result->rule();
}

// Only two operations have rules. All others are made of these two.
// y = a·b, or a·bᵀ if transposed        da = dy·bᵀ     db = aᵀ·dy
Matrix& product(Matrix& a, Matrix& b, bool transposed) {
  Matrix& y = tape.emplace_back(Matrix{a.rows, transposed ? b.rows : b.columns});
  const auto for_each = [&a, &b, transposed, n = y.columns](auto f) {
    for (size_t i = 0; i < a.rows; ++i)
      for (size_t k = 0; k < a.columns; ++k)
        for (size_t j = 0; j < n; ++j)
          f(i * n + j, i * a.columns + k, transposed ? j * b.columns + k : k * b.columns + j);
  };
  for_each([&](size_t ij, size_t ik, size_t kj) { y.x[ij] += a.x[ik] * b.x[kj]; });
  y.rule = [&, for_each] {
    for_each([&](size_t ij, size_t ik, size_t kj) { a.dx[ik] += y.dx[ij] * b.x[kj]; });
    for_each([&](size_t ij, size_t ik, size_t kj) { b.dx[kj] += a.x[ik] * y.dx[ij]; });
  };
  return y;
}
Matrix& operator*(Matrix& a, Matrix& b) { return product(a, b, false); }
// y_ij = f(a_ij, b_ij)                  da_ij = dy_ij·∂f/∂a     db_ij = dy_ij·∂f/∂b
using Slopes = std::array<double, 3>;  // f, ∂f/∂a, ∂f/∂b
Matrix& each(Slopes (*f)(double, double), Matrix& a, Matrix& b) {
  Matrix& y = tape.emplace_back(Matrix{a.rows, a.columns});
  for (size_t i = 0; i < y.x.size(); ++i) y.x[i] = f(a.x[i], b.x[i])[0];
  y.rule = [&, f] {
    for (size_t i = 0; i < y.x.size(); ++i) {
      a.dx[i] += y.dx[i] * f(a.x[i], b.x[i])[1];
      b.dx[i] += y.dx[i] * f(a.x[i], b.x[i])[2];
    }
  };
  return y;
}
Slopes plus(double a, double b) { return {a + b, 1, 1}; }
Slopes times(double a, double b) { return {a * b, b, a}; }
Slopes over(double a, double b) { return {a / b, 1 / b, -a / (b * b)}; }
Slopes exponential(double a, double) { return {std::exp(a), std::exp(a), 0}; }
Slopes logarithm(double a, double) { return {std::log(a), 1 / a, 0}; }
Slopes root(double a, double) { return {std::sqrt(a), 0.5 / std::sqrt(a), 0}; }
Slopes gelu(double a, double) {  // a·s, s = 1/(1 + exp(−√(8/π)·(a + 0.044715·a³)))
  const double c = std::sqrt(8 / pi), s = 1 / (1 + std::exp(-c * (a + 0.044715 * a * a * a)));
  return {a * s, s + a * s * (1 - s) * c * (1 + 3 * 0.044715 * a * a), 0};
}
Matrix& operator+(Matrix& a, Matrix& b) { return each(plus, a, b); }
Matrix& full(size_t rows, size_t columns, double number = 1) {
  Matrix& y = tape.emplace_back(Matrix{rows, columns});
  y.x.assign(rows * columns, number);
  return y;
}
// Row i is 1 in column chosen_i, so row i of the product with a table is the table's row chosen_i.
Matrix& one_hot(const Tokens& chosen, size_t columns) {
  Matrix& y = full(chosen.size(), columns, 0);
  for (size_t i = 0; i < chosen.size(); ++i) y.x[i * columns + chosen[i]] = 1;
  return y;
}
Matrix& columns(Matrix& a, size_t first, size_t n) {
  Matrix& chosen = full(a.columns, n, 0);
  for (size_t i = 0; i < n; ++i) chosen.x[(first + i) * n + i] = 1;
  return a * chosen;
}
// Each number over the sum of its row: after exp, which overflows beyond 709, this is softmax.
Matrix& shares(Matrix& a) { return each(over, a, a * full(a.columns, 1) * full(1, a.columns)); }
// Each row minus its mean, divided by its standard deviation; times gain, plus bias.
Matrix& layer_norm(Matrix& a, Matrix& gain, Matrix& bias) {
  Matrix &centred = a + a * full(C, C, -1.0 / C), &ones = full(a.rows, 1);
  Matrix& variance = each(times, centred, centred) * full(C, C, 1.0 / C) + full(a.rows, C, 1e-5);
  Matrix& unit = each(over, centred, each(root, variance, variance));
  return each(times, unit, ones * gain) + ones * bias;
}

using Model = vector<Matrix>;  // words, places; attention; two layers; the last layer
enum { wte, wpe, gain1, bias1, wqkv, bqkv, wo, bo, gain2, bias2, w1, b1, w2, b2, gain3, bias3 };
// Reads sentences. Returns the weights of attention, and for each word the probabilities of the next.
std::pair<Matrix&, Matrix&> read(Model& w, const Tokens& stream) {
  tape.clear();
  const size_t T = stream.size();
  Tokens place(T);  // in its sentence
  Matrix &ones = full(T, 1), &mask = full(T, T, 0), &scale = full(T, T, 1 / std::sqrt(C));
  for (size_t i = 0; i < T; ++i) {  // a word looks at itself and at the words before it
    place[i] = stream[i] == 0 ? 0 : place[i - 1] + 1;
    std::fill_n(&mask.x[i * T + i - place[i]], place[i] + 1, 1.0);
  }
  Matrix& x = one_hot(stream, V) * w[wte] + one_hot(place, context) * w[wpe];
  Matrix& qkv = layer_norm(x, w[gain1], w[bias1]) * w[wqkv] + ones * w[bqkv];
  Matrix &q = columns(qkv, 0, C), &k = columns(qkv, C, C), &v = columns(qkv, 2 * C, C);
  Matrix& scores = each(times, product(q, k, true), scale);
  Matrix& weights = shares(each(times, each(exponential, scores, scores), mask));
  Matrix& y = x + (weights * v * w[wo] + ones * w[bo]);
  Matrix& h = layer_norm(y, w[gain2], w[bias2]) * w[w1] + ones * w[b1];
  Matrix& z = y + (each(gelu, h, h) * w[w2] + ones * w[b2]);
  Matrix& logits = product(layer_norm(z, w[gain3], w[bias3]), w[wte], true);
  return {weights, shares(each(exponential, logits, logits))};
}

// The mean of −ln p, where p is the probability of the word that follows.
double loss(Model& w, const Tokens& stream) {
  const Tokens now(stream.begin(), stream.end() - 1), next(stream.begin() + 1, stream.end());
  Matrix& following = read(w, now).second;
  Matrix& p = each(times, following, one_hot(next, V)) * full(V, 1);
  return (full(1, p.rows, -1 / double(p.rows)) * each(logarithm, p, p)).x[0];
}
// Step t = 1 … 500 of AdamW (Loshchilov & Hutter 2019). The gradient is shortened to length 1.
void learn(Model& w, const Tokens& batch, int t) {
  loss(w, batch);
  backward(w);
  double squares = 0;
  for (const Matrix& W : w)
    for (const double g : W.dx) squares += g * g;
  const double clip = std::min(1.0, 1 / std::sqrt(squares));
  const double rate = 0.04 * (t <= 100 ? t / 100.0 : 0.55 + 0.45 * std::cos(pi * (t - 101) / 400));
  for (Matrix& W : w)
    for (size_t i = 0; i < W.x.size(); ++i) {
      W.m[i] = 0.9 * W.m[i] + 0.1 * clip * W.dx[i];
      W.v[i] = 0.999 * W.v[i] + 0.001 * clip * W.dx[i] * clip * W.dx[i];
      const double size = std::sqrt(W.v[i] / (1 - std::pow(0.999, t))) + 1e-8;
      W.x[i] -= rate * ((W.rows > 1 ? 0.01 * W.x[i] : 0) + W.m[i] / (1 - std::pow(0.9, t)) / size);
    }
}

// Element i of a random permutation of 0 … n − 1, n ≤ 256 (Feistel; Black & Rogaway 2002).
size_t permuted(size_t i, size_t n, const Random& order) {
  size_t left = i >> 4, right = i & 15;
  for (uint64_t round = 1; round <= 6; ++round)
    left = std::exchange(right, left ^ (order.stream(round << 32 | right).bits() & 15));
  i = left << 4 | right;
  return i < n ? i : permuted(i, n, order);
}

int main(int argc, char** argv) {
  uint64_t seed = 1;
  if (argc > 1 && (!(std::istringstream(argv[1]) >> seed) || std::to_string(seed) != argv[1]))
    return std::fputs("birds_in_one_file: the seed must be a whole number\n", stderr), 2;
  Random random{mix(seed + Random::gamma)};
  Model w{{V, C}, {context, C}, {1, C},      {1, C},      {C, 3 * C},  {1, 3 * C}, {C, C}, {1, C},
          {1, C}, {1, C},       {C, hidden}, {1, hidden}, {hidden, C}, {1, C},     {1, C}, {1, C}};
  for (const auto gain : {gain1, gain2, gain3}) w[gain].x.assign(C, 1);
  for (const auto weight : {wte, wpe, wqkv, wo, w1, w2}) {
    if (weight == wqkv) random.counter += 2048;  // the library draws twice what follows
    const double deviation = weight == wo || weight == w2 ? 0.02 / std::sqrt(2) : 0.02;
    for (double& x : w[weight].x) x = deviation * random.normal();
  }
  vector<Tokens> sentences;
  std::istringstream lines(text);
  for (string line; std::getline(lines, line);) sentences.push_back(tokens(line));
  const auto look = [&] { return read(w, tokens("birds sometimes walk")).first.x[3 * 4 + 1]; };
  const double before = look();
  for (int t = 1; t <= 500; ++t) {
    Tokens batch;
    for (size_t drawn = size_t(t - 1) * 12; drawn < size_t(t) * 12; ++drawn) {
      const size_t n = sentences.size(), epoch = drawn / n;
      const Tokens& next = sentences[permuted(drawn % n, n, random.stream(1).stream(epoch))];
      batch.insert(batch.end(), next.begin(), next.end());
    }
    batch.push_back(0);
    learn(w, batch, t);
  }
  std::printf("birds sometimes walk,  walk -> birds  %.2f -> %.2f\n", before, look());
  for (const char* prompt : {"birds sometimes", "birds sometimes walk", "but birds are good at"}) {
    const vector<double>& p = read(w, tokens(prompt)).second.x;
    const auto last = p.end() - long(V), best = std::max_element(last, p.end());
    std::printf("%-23s%-8s %.2f\n", prompt, words[size_t(best - last)].c_str(), *best);
  }
  const Tokens sentence = tokens("birds sometimes walk slowly .");
  loss(w, sentence);
  backward(w);
  const Model exact = w;
  int wrong = 0;
  for (size_t k = 0; k < w.size(); ++k)
    for (size_t i = 0; i < w[k].x.size(); ++i) {
      const auto loss_at = [&](double x) { return w[k].x[i] = x, loss(w, sentence); };
      const double x = w[k].x[i], h = 1e-5, slope = (loss_at(x + h) - loss_at(x - h)) / (2 * h);
      w[k].x[i] = x;
      wrong += std::abs(exact[k].dx[i] - slope) < 1e-8 ? 0 : 1;
    }
  std::printf("%d gradients differ from finite differences by 1e-8 or more\n", wrong);
  return wrong == 0 && std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? 0 : 1;
}
