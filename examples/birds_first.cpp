// Attention in one file: the text to read first. Birds walk slowly, cats walk quietly. A small model
// learns to predict the next word of such sentences. So it learns that in 'birds sometimes walk' the
// word walk has to look back at birds.
//   g++ -std=c++20 -O2 examples/birds_first.cpp -o birds_first && ./birds_first
// From the top: attention, the model, how it learns, how gradients are computed; main() is last.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using std::size_t, std::string, std::vector;
using Tokens = vector<size_t>;  // words as numbers

// The numbers x of a matrix, and its gradient dx, short for ∂loss/∂x: how fast the loss rises with
// each of them. Comments give (rows, columns): T words are read, V are known.
struct Matrix {
  size_t rows, columns;
  vector<double> x = vector<double>(rows * columns), dx = x, m = x, v = x;  // m and v: see learn()
  std::function<void()> rule{};  // from dx to the gradients of what the matrix was computed from
};
std::deque<Matrix> tape;  // every result, behind those from which it was computed
Matrix& full(size_t rows, size_t columns, double number) {
  tape.push_back({rows, columns});
  tape.back().x.assign(rows * columns, number);
  return tape.back();
}
Matrix& operator*(Matrix& a, Matrix& b);                 // a·b
Matrix& product(Matrix& a, Matrix& b, bool transposed);  // a·b, or a·bᵀ
Matrix& operator+(Matrix& a, Matrix& b);                 // a_ij + b_ij
Matrix& operator/(Matrix& a, Matrix& b);                 // a_ij / b_ij
Matrix& relu(Matrix& a);                                 // the larger of a_ij and 0
Matrix& softmax(Matrix& a);                              // exp a_ij / Σ_k exp a_ik
constexpr size_t C = 16, hidden = 32, longest = 10;      // C numbers for a word, and for a place
struct Model {                                           // what is learned
  Matrix words, places{longest, C};                      // words (V, C)
  Matrix Q{C, C}, K{C, C}, V{C, C}, out{C, C}, up{C, hidden}, down{hidden, C};
  vector<Matrix*> all{&words, &places, &Q, &K, &V, &out, &up, &down};
};

// 1. Attention. Each word makes a query q, a key k and a value v of its vector. Word i scores word j
// with q_i·k_j / √C. The softmax turns a row of scores into weights, which are positive and add up to
// 1. Word i receives Σ_j weight_ij·v_j, so most of it comes from the words with the largest scores.
std::pair<Matrix&, Matrix&> attention(Model& w, Matrix& x, Matrix& mask) {           // x (T, C)
  Matrix &q = x * w.Q, &k = x * w.K, &v = x * w.V;                                   // (T, C)
  Matrix& scores = product(q, k, true) / full(x.rows, x.rows, std::sqrt(C)) + mask;  // (T, T)
  Matrix& weights = softmax(scores);                                                 // (T, T)
  return {weights, weights * v * w.out};                                             // (T, C)
}

// 2. The model. Word 0, the line end, begins a sentence. A word sees its sentence, up to itself: the
// next word is to be predicted. The mask hides all others by a score of −∞, since exp −∞ = 0. Returns
// the weights of attention (T, T), and p (T, V), where p_ij is how likely word j follows word i.
std::pair<Matrix&, Matrix&> read(Model& w, const Tokens& words) {
  tape.clear();
  const size_t T = words.size(), V = w.words.rows;
  Matrix &mask = full(T, T, -INFINITY), &which = full(T, V, 0), &where = full(T, longest, 0);
  for (size_t i = 0, place = 0; i < T; ++i, ++place) {
    if (words[i] == 0) place = 0;  // in the sentence
    which.x[i * V + words[i]] = where.x[i * longest + place] = 1;
    std::fill_n(&mask.x[i * T + i - place], place + 1, 0.0);
  }
  Matrix& x = which * w.words + where * w.places;  // (T, C)   a 1 takes a row out of the table
  const auto [weights, received] = attention(w, x, mask);
  Matrix& y = x + received;                 // (T, C)   what each word is, and what it received
  Matrix& z = y + relu(y * w.up) * w.down;  // (T, C)   the MLP: each word by itself
  return {weights, softmax(product(z, w.words, true))};
}

// 3. Learning. The loss is the mean of −ln p, where p is the probability of the word that follows.
double loss(Model& w, const Tokens& text) {
  Matrix& p = read(w, {text.begin(), text.end() - 1}).second;
  double sum = 0, T = double(p.rows);
  for (size_t i = 0; i < p.rows; ++i) {
    const size_t next = i * p.columns + text[i + 1];
    sum -= std::log(p.x[next]);
    p.dx[next] = -1 / (T * p.x[next]);  // ∂loss/∂p
  }
  return sum / T;
}
// A step moves each number against its gradient, so that the loss falls. All move about equally far:
// the mean of recent dx is divided by the root of that of dx² (Adam, Kingma & Ba 2015, shortened).
void learn(Model& w, const Tokens& batch, double rate) {
  loss(w, batch);
  for (Matrix* W : w.all) W->dx.assign(W->x.size(), 0);
  for (auto result = tape.rbegin(); result != tape.rend(); ++result)
    if (result->rule) result->rule();  // the newest first: when it passes its dx on, dx is complete
  for (Matrix* W : w.all)
    for (size_t i = 0; i < W->x.size(); ++i) {
      W->m[i] = 0.9 * W->m[i] + 0.1 * W->dx[i];
      W->v[i] = 0.99 * W->v[i] + 0.01 * W->dx[i] * W->dx[i];
      W->x[i] -= rate * W->m[i] / (std::sqrt(W->v[i]) + 1e-8);
    }
}

// 4. Two operations have rules, the others are made of them. Rules add: a result may be used twice.
// y = a·b, or a·bᵀ if transposed        da = dy·bᵀ     db = aᵀ·dy
Matrix& product(Matrix& a, Matrix& b, bool transposed) {
  Matrix& y = full(a.rows, transposed ? b.rows : b.columns, 0);
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
// y_ij = f(a_ij, b_ij)                  da_ij = dy_ij·∂f/∂a     db_ij = dy_ij·∂f/∂b
using Slopes = std::array<double, 3>;  // f, ∂f/∂a, ∂f/∂b
Matrix& each(Slopes (*f)(double, double), Matrix& a, Matrix& b) {
  Matrix& y = full(a.rows, a.columns, 0);
  for (size_t i = 0; i < y.x.size(); ++i) y.x[i] = f(a.x[i], b.x[i])[0];
  y.rule = [&, f] {
    for (size_t i = 0; i < y.x.size(); ++i) a.dx[i] += y.dx[i] * f(a.x[i], b.x[i])[1];
    for (size_t i = 0; i < y.x.size(); ++i) b.dx[i] += y.dx[i] * f(a.x[i], b.x[i])[2];
  };
  return y;
}
Slopes plus(double a, double b) { return {a + b, 1, 1}; }
Slopes over(double a, double b) { return {a / b, 1 / b, -a / (b * b)}; }
Slopes exponential(double a, double) { return {std::exp(a), std::exp(a), 0}; }
Slopes positive(double a, double) { return {std::max(a, 0.0), a > 0 ? 1.0 : 0.0, 0}; }
Matrix& operator*(Matrix& a, Matrix& b) { return product(a, b, false); }
Matrix& operator+(Matrix& a, Matrix& b) { return each(plus, a, b); }
Matrix& operator/(Matrix& a, Matrix& b) { return each(over, a, b); }
Matrix& relu(Matrix& a) { return each(positive, a, a); }
Matrix& softmax(Matrix& a) {
  Matrix& e = each(exponential, a, a);
  return e / (e * full(a.columns, 1, 1) * full(1, a.columns, 1));
}

int main() {
  std::istringstream text(
#include "support/built_in_text.inc"
  );
  vector<string> words{"\n"};
  const auto tokens = [&](const string& line) {
    Tokens read{0};
    std::istringstream stream(line);
    for (string word; stream >> word;) {
      read.push_back(size_t(std::find(words.begin(), words.end(), word) - words.begin()));
      if (read.back() == words.size()) words.push_back(word);
    }
    return read;
  };
  vector<Tokens> lines;
  for (string line; std::getline(text, line);) lines.push_back(tokens(line));
  Model w{{words.size(), C}};
  std::mt19937 random(1);  // another number is another start
  for (Matrix* W : w.all)
    for (double& x : W->x) x = 0.2 * double(random()) / 0xFFFFFFFF - 0.1;
  std::puts("step   loss   walk looks at: line end  birds  sometimes  walk   next word");
  double mean = std::log(double(words.size()));
  for (int t = 0; t <= 500; ++t) {
    Tokens batch;
    for (int i = 0; i < 12; ++i)
      for (const size_t word : lines[random() % lines.size()]) batch.push_back(word);
    batch.push_back(0);
    mean += 0.05 * (loss(w, batch) - mean);  // of the last twenty steps or so
    if (t > 0) learn(w, batch, 0.04 * (1 - t / 500.0));
    if (t % 100 != 0) continue;
    const auto [weights, p] = read(w, tokens("birds sometimes walk"));
    const double *a = &weights.x[3 * 4], *next = &p.x[3 * p.columns];  // the rows of 'walk'
    const auto best = size_t(std::max_element(next, next + p.columns) - next);
    std::printf("%4d  %.3f  %22.2f  %5.2f  %9.2f  %4.2f   %s (%.2f)\n", t, mean, a[0], a[1], a[2],
                a[3], words[best].c_str(), next[best]);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
