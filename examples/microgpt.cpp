// A GPT in one file: it reads names, learns to predict the next letter, and invents new names.
//   g++ -std=c++20 -O2 microgpt.cpp -o microgpt
//   ./microgpt names.txt   learns from names.txt of github.com/karpathy/makemore, invents 20 names
//   ./microgpt --check     compares every gradient with finite differences
// The model and the run are those of A. Karpathy's microgpt.py (2026). This program draws the same
// random numbers as Python does, so it repeats the losses and the names of the published run.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using std::size_t, std::string, std::vector;
// Token i is letter i; a line end stands before and after each name. The model turns a token into C
// numbers. Each of the H heads of attention works on D of them.
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz\n";
constexpr size_t V = letters.size(), context = 16, C = 16, H = 4, D = C / H, hidden = 4 * C;

// The functions of Python's module `random` after random.seed(42).
struct PythonRandom {
  using result_type = unsigned;
  std::mt19937 bits{*this};
  // Fills the 624 words of `bits`, as init_by_array([42]) of Matsumoto & Nishimura (2002) does.
  static void generate(unsigned* s, const unsigned*) {
    const auto mixed = [s](unsigned i) { return s[i] ^ (s[i] >> 30); };
    s[0] = 19650218;
    for (unsigned i = 1; i < 624; ++i) s[i] = 1812433253 * mixed(i - 1) + i;
    for (unsigned k = 0; k < 624 + 623; ++k) {
      const unsigned i = 1 + k % 623;
      if (k > 0 && i == 1) s[0] = s[623];
      s[i] ^= (k < 624 ? 1664525 : 1566083941) * mixed(i - 1);
      s[i] += k < 624 ? 42 : 0 - i;
    }
    s[0] = 0x80000000;
  }
  double random() {  // in [0, 1), with 53 random bits
    const size_t high = bits() >> 5, low = bits() >> 6;
    return static_cast<double>(high << 26 | low) * 0x1p-53;
  }
  void gauss(vector<double>& x, double deviation) {  // two at a time (Box & Muller 1958)
    for (size_t i = 0; i < x.size(); i += 2) {
      const double angle = 2 * std::numbers::pi * random();
      const double radius = std::sqrt(-2 * std::log(1 - random()));
      x[i] = std::cos(angle) * radius * deviation;
      x[i + 1] = std::sin(angle) * radius * deviation;
    }
  }
  void shuffle(vector<string>& items) {  // draws as many bits as i has, again until j < i
    for (size_t i = items.size(), j = i; i > 1; --i, j = i) {
      while (j >= i) j = bits() >> std::countl_zero(static_cast<unsigned>(i));
      std::swap(items[i - 1], items[j]);
    }
  }
  size_t choices(double* p, size_t n) {  // i with probability p_i; p becomes its running sum
    std::partial_sum(p, p + n, p);
    return static_cast<size_t>(std::upper_bound(p, p + n - 1, random() * p[n - 1]) - p);
  }
};

// x, row by row, and its gradient dx, which is short for ∂loss/∂x. Adam keeps m and v of weights.
struct Matrix {
  size_t rows, columns;
  vector<double> value = vector<double>(rows * columns), gradient = value, m{}, v{};
  double* operator[](size_t t) { return &value[t * columns]; }
  double* d(size_t t) { return &gradient[t * columns]; }
};

using Row = const double*;
double dot(Row a, Row b, size_t n) { return std::inner_product(a, a + n, b, 0.0); }
void add(double* y, double factor, Row x, size_t n) {  // y += factor·x
  for (size_t i = 0; i < n; ++i) y[i] += factor * x[i];
}
void softmax(double* x, size_t n, double temperature = 1) {  // x_i becomes exp(x_i)/Σ_j exp(x_j)
  double sum = 0, largest = *std::max_element(x, x + n);     // x_i − largest ≤ 0: no overflow
  for (size_t i = 0; i < n; ++i) sum += x[i] = std::exp((x[i] - largest) / temperature);
  for (size_t i = 0; i < n; ++i) x[i] /= sum;
}

// Layers take row x_t to row y_t. Below each stands its gradient, from dy_t back to dx_t.
//   y_t += W·x_t                                 dx_t = Wᵀ·dy_t     dW_i = Σ_t dy_ti·x_t
void linear(Matrix& W, Matrix& x, Matrix& y, size_t t) {
  for (size_t i = 0; i < W.rows; ++i) y[t][i] += dot(W[i], x[t], W.columns);
}
void linear_back(Matrix& W, Matrix& x, Matrix& y, size_t t) {
  for (size_t i = 0; i < W.rows; ++i) {
    add(x.d(t), y.d(t)[i], W[i], W.columns);
    add(W.d(i), y.d(t)[i], x[t], W.columns);
  }
}
//   y_t = r·x_t, r = (x_t·x_t/C + 1e-5)^(−½)     dx_t = r·(dy_t − y_t·(y_t·dy_t)/C)
double r(Row x) { return 1 / std::sqrt(dot(x, x, C) / C + 1e-5); }
void rms(Matrix& x, Matrix& y, size_t t) { add(y[t], r(x[t]), x[t], C); }
void rms_back(Matrix& x, Matrix& y, size_t t) {
  add(x.d(t), r(x[t]), y.d(t), C);
  add(x.d(t), -r(x[t]) * dot(y[t], y.d(t), C) / C, y[t], C);
}
//   In each head, j ≤ t: scores s_tj = q_t·k_j/√D, weights w_t = softmax(s_t), y_t = Σ_j w_tj·v_j
//   dw_tj = dy_t·v_j           ds_tj = w_tj·(dw_tj − Σ_i w_ti·dw_ti)
//   dv_j = Σ_t w_tj·dy_t       dq_t = Σ_j ds_tj·k_j/√D      dk_j = Σ_t ds_tj·q_t/√D
void attention(Matrix& qkv, Matrix& weights, Matrix& y, size_t t) {
  for (size_t q = 0, k = C, v = 2 * C; q < C; q += D, k += D, v += D) {  // first columns of a head
    double* w = weights[t] + q / D * context;
    for (size_t j = 0; j <= t; ++j) w[j] = dot(qkv[t] + q, qkv[j] + k, D) / std::sqrt(double{D});
    softmax(w, t + 1);
    for (size_t j = 0; j <= t; ++j) add(y[t] + q, w[j], qkv[j] + v, D);
  }
}
void attention_back(Matrix& qkv, Matrix& weights, Matrix& y, size_t t) {
  for (size_t q = 0, k = C, v = 2 * C; q < C; q += D, k += D, v += D) {
    double *w = weights[t] + q / D * context, *dw = weights.d(t) + q / D * context;
    for (size_t j = 0; j <= t; ++j) dw[j] = dot(y.d(t) + q, qkv[j] + v, D);
    const double mean = dot(w, dw, t + 1);
    for (size_t j = 0; j <= t; ++j) {
      const double ds = w[j] * (dw[j] - mean) / std::sqrt(double{D});
      add(qkv.d(j) + v, w[j], y.d(t) + q, D);
      add(qkv.d(t) + q, ds, qkv[j] + k, D);
      add(qkv.d(j) + k, ds, qkv[t] + q, D);
    }
  }
}

enum { wte, wpe, lm_head, wqkv, wo, fc1, fc2 };  // letters, places, output; attention; MLP
using Model = vector<Matrix>;
Model new_model(PythonRandom& random, double deviation) {
  Model w{{V, C}, {context, C}, {V, C}, {3 * C, C}, {C, C}, {hidden, C}, {C, hidden}};
  for (Matrix& W : w) random.gauss(W.value, deviation);
  return w;
}

// What a model computes as it reads a name. Row t belongs to the letter at place t.
struct Pass {
  Model& w;
  Matrix e{context, C}, x = e, n = e, mixed = e, y = e, s = e, z = e, qkv{context, 3 * C};
  Matrix weights{context, H*context}, f{context, hidden}, g = f, p{context, V};

  void forward(char letter, size_t t, double temperature = 1) {  // p_t: what follows at t + 1
    for (size_t i = 0; i < C; ++i) e[t][i] = w[wte][letters.find(letter)][i] + w[wpe][t][i];
    rms(e, x, t);
    rms(x, n, t);  // attention: y = x + attention(rms(x))
    linear(w[wqkv], n, qkv, t);
    attention(qkv, weights, mixed, t);
    linear(w[wo], mixed, y, t);
    add(y[t], 1, x[t], C);
    rms(y, s, t);  // MLP: two layers with max(·, 0) between them; z = y + MLP(rms(y))
    linear(w[fc1], s, f, t);
    for (size_t i = 0; i < hidden; ++i) g[t][i] = std::max(f[t][i], 0.0);
    linear(w[fc2], g, z, t);
    add(z[t], 1, y[t], C);
    linear(w[lm_head], z, p, t);
    softmax(p[t], V, temperature);  // scores become probabilities; p.d(t) belongs to the scores
  }
  // From −share·ln p_t[next] back to the weights. The last place comes first: it uses all values.
  void backward(char letter, char next, size_t t, double share) {
    for (size_t i = 0; i < V; ++i) p.d(t)[i] = share * (p[t][i] - (letters[i] == next ? 1 : 0));
    linear_back(w[lm_head], z, p, t);
    add(y.d(t), 1, z.d(t), C);
    linear_back(w[fc2], g, z, t);
    for (size_t i = 0; i < hidden; ++i) f.d(t)[i] = f[t][i] > 0 ? g.d(t)[i] : 0;
    linear_back(w[fc1], s, f, t);
    rms_back(y, s, t);
    add(x.d(t), 1, y.d(t), C);
    linear_back(w[wo], mixed, y, t);
    attention_back(qkv, weights, mixed, t);
    linear_back(w[wqkv], n, qkv, t);
    rms_back(x, n, t);
    rms_back(e, x, t);
    add(w[wpe].d(t), 1, e.d(t), C);
    add(w[wte].d(letters.find(letter)), 1, e.d(t), C);
  }
};

// The mean of −ln p over the letters of a name. Adds its gradients to those of the weights.
double loss(Model& w, const string& name) {
  const size_t T = std::min(context, name.size() - 1);
  Pass pass{w};
  double sum = 0;
  for (size_t t = 0; t < T; ++t) {
    pass.forward(name[t], t);
    sum -= std::log(pass.p[t][letters.find(name[t + 1])]);
  }
  for (size_t t = T; t-- > 0;) pass.backward(name[t], name[t + 1], t, 1 / double(T));
  return sum / double(T);
}

// Adam (Kingma & Ba 2015), at a rate that falls to 0. Removes the gradients.
void adam(Model& w, int step) {
  const double rate = 0.01 * (1 - (step - 1) / 1000.0) / (1 - std::pow(0.85, step));
  for (Matrix& W : w)
    for (size_t i = 0; i < W.value.size(); ++i) {
      W.m[i] = 0.85 * W.m[i] + (1 - 0.85) * W.gradient[i];
      W.v[i] = 0.99 * W.v[i] + (1 - 0.99) * W.gradient[i] * W.gradient[i];
      W.value[i] -= rate * W.m[i] / (std::sqrt(W.v[i] / (1 - std::pow(0.99, step))) + 1e-8);
      W.gradient[i] = 0;
    }
}

// Compares each gradient with (loss(x + h) − loss(x − h))/2h, on one name.
int check() {
  PythonRandom random;
  Model w = new_model(random, 0.5), moved = w;
  const string name = "\nsavannah\n";
  loss(w, name);
  int wrong = 0;
  for (size_t k = 0; k < w.size(); ++k)
    for (size_t i = 0; i < w[k].value.size(); ++i) {
      const auto loss_at = [&](double x) { return moved[k].value[i] = x, loss(moved, name); };
      const double x = w[k].value[i], h = 1e-5, slope = (loss_at(x + h) - loss_at(x - h)) / (2 * h);
      moved[k].value[i] = x;
      wrong += std::abs(w[k].gradient[i] - slope) < 1e-7 ? 0 : 1;
    }
  std::printf("%d gradients differ from finite differences by 1e-7 or more\n", wrong);
  return wrong == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  const string argument = argc == 2 ? argv[1] : "";
  if (argument == "--check") return check();
  std::ifstream file(argument);
  vector<string> names;
  string text;
  for (string line; std::getline(file >> std::ws, line); text += line) names.push_back(line);
  if (text.empty() || text.find_first_not_of(letters) != string::npos) {
    std::fputs("microgpt FILE: the file must have one name per line, in letters a to z\n", stderr);
    return 2;
  }
  PythonRandom random;
  random.shuffle(names);
  Model w = new_model(random, 0.08);
  for (Matrix& W : w) W.m = W.v = W.gradient;  // zeros
  for (int step = 1; step <= 1000; ++step) {
    std::printf("%4d  %.16f\n", step,
                loss(w, "\n" + names[size_t(step - 1) % names.size()] + "\n"));
    adam(w, step);
  }
  for (int i = 0; i < 20; ++i) {
    Pass pass{w};
    string name = "\n";
    for (size_t t = 0; t < context && (t == 0 || name[t] != '\n'); ++t) {
      pass.forward(name[t], t, 0.5);
      name += letters[random.choices(pass.p[t], V)];
    }
    std::puts(name.substr(1, name.find('\n', 1) - 1).c_str());
  }
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? 0 : 1;
}
