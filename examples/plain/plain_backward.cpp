// Layer norm, attention and gelu as they are written by hand in C, and how check_backward.h checks
// their backward passes: a look at what you would write for your own.
//
//   g++ -std=c++17 -I. examples/plain/plain_backward.cpp && ./a.out
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "engine/gradcheck/check_backward.h"

// -- layer norm: y = (x - mean) * rstd * weight + bias, for each of N rows of C values --------------

static void layernorm_forward(float* out, float* mean, float* rstd, const float* inp,
                              const float* weight, const float* bias, int N, int C) {
  for (int n = 0; n < N; n++) {
    const float* x = inp + n * C;
    float m = 0.0f;
    for (int i = 0; i < C; i++) m += x[i];
    m = m / static_cast<float>(C);
    float v = 0.0f;
    for (int i = 0; i < C; i++) v += (x[i] - m) * (x[i] - m);
    v = v / static_cast<float>(C);
    float s = 1.0f / sqrtf(v + 1e-5f);
    for (int i = 0; i < C; i++) out[n * C + i] = s * (x[i] - m) * weight[i] + bias[i];
    mean[n] = m;
    rstd[n] = s;
  }
}

static void layernorm_backward(float* dinp, float* dweight, float* dbias, const float* dout,
                               const float* inp, const float* weight, const float* mean,
                               const float* rstd, int N, int C) {
  for (int n = 0; n < N; n++) {
    const float* dy = dout + n * C;
    const float* x = inp + n * C;
    float dnorm_mean = 0.0f;
    float dnorm_norm_mean = 0.0f;
    for (int i = 0; i < C; i++) {
      float norm = (x[i] - mean[n]) * rstd[n];
      float dnorm = weight[i] * dy[i];
      dnorm_mean += dnorm;
      dnorm_norm_mean += dnorm * norm;
    }
    dnorm_mean = dnorm_mean / static_cast<float>(C);
    dnorm_norm_mean = dnorm_norm_mean / static_cast<float>(C);
    for (int i = 0; i < C; i++) {
      float norm = (x[i] - mean[n]) * rstd[n];
      float dnorm = weight[i] * dy[i];
      dbias[i] += dy[i];
      dweight[i] += norm * dy[i];
      dinp[n * C + i] += (dnorm - dnorm_mean - norm * dnorm_norm_mean) * rstd[n];
    }
  }
}

// -- causal attention of one head: T queries, keys and values of size D; att holds the weights ------

template <class Real>
static void attention_forward(Real* out, Real* att, const Real* q, const Real* k, const Real* v,
                              int T, int D) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(D));
  for (int t = 0; t < T; t++) {
    Real* a = att + t * T;
    Real largest = -1e30;
    for (int s = 0; s <= t; s++) {
      a[s] = 0;
      for (int i = 0; i < D; i++) a[s] += q[t * D + i] * k[s * D + i];
      a[s] *= scale;
      if (a[s] > largest) largest = a[s];
    }
    Real sum = 0;
    for (int s = 0; s <= t; s++) {
      a[s] = exp(a[s] - largest);
      sum += a[s];
    }
    for (int s = 0; s < T; s++) a[s] = s <= t ? a[s] / sum : Real(0);
    for (int i = 0; i < D; i++) {
      out[t * D + i] = 0;
      for (int s = 0; s <= t; s++) out[t * D + i] += a[s] * v[s * D + i];
    }
  }
}

static void attention_backward(double* dq, double* dk, double* dv, const double* dout,
                               const double* q, const double* k, const double* v, const double* att,
                               int T, int D) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(D));
  std::vector<double> datt(static_cast<std::size_t>(T));
  for (int t = 0; t < T; t++) {
    const double* a = att + t * T;
    const double* dy = dout + t * D;
    double shared = 0.0;
    for (int s = 0; s <= t; s++) {
      double sum = 0.0;
      for (int i = 0; i < D; i++) {
        sum += dy[i] * v[s * D + i];
        dv[s * D + i] += a[s] * dy[i];
      }
      datt[static_cast<std::size_t>(s)] = sum;
      shared += a[s] * sum;
    }
    for (int s = 0; s <= t; s++) {
      double dscore = a[s] * (datt[static_cast<std::size_t>(s)] - shared) * scale;
      for (int i = 0; i < D; i++) {
        dq[t * D + i] += dscore * k[s * D + i];
        dk[s * D + i] += dscore * q[t * D + i];
      }
    }
  }
}

// -- gelu with tanh: y = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) --------------------------

template <class Real>
static void gelu_forward(Real* out, const Real* inp, int N) {
  for (int i = 0; i < N; i++) {
    Real x = inp[i];
    Real cube = 0.044715f * x * x * x;
    out[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + cube)));
  }
}

static void gelu_backward(float* dinp, const float* dout, const float* inp, int N) {
  for (int i = 0; i < N; i++) {
    float x = inp[i];
    float cube = 0.044715f * x * x * x;
    float tanh_out = tanhf(0.79788456f * (x + cube));
    float sech = 1.0f - tanh_out * tanh_out;
    float local = 0.5f * (1.0f + tanh_out) +
                  0.5f * x * sech * 0.79788456f * (1.0f + 3.0f * 0.044715f * x * x);
    dinp[i] += local * dout[i];
  }
}

// -- the checks -------------------------------------------------------------------------------------

template <class T>
static std::vector<T> random_array(std::mt19937& random, int size, double scale, double shift) {
  std::vector<T> x;
  for (int i = 0; i < size; i++)
    x.push_back(static_cast<T>(shift + scale * (static_cast<int>(random() % 4001) / 1000.0 - 2)));
  return x;
}

/// Prints the report of a gradient that is wrong, or each if `all`. Returns how many are not ok.
static int refused(unsigned seed, bool all) {
  using backward_check::check_backward;
  std::mt19937 random(seed);
  const int T = 2 + static_cast<int>(seed % 4), D = 4, N = T * D;
  int count = 0;
  const auto show = [&](const char* name, const backward_check::Report& report) {
    if (all || !report) std::printf("%s: %s\n", name, report.text().c_str());
    count += !report;
  };

  // C code in float, as it is: differences. What forward keeps for backward stays outside.
  std::vector<float> mean(static_cast<std::size_t>(T)), rstd = mean;
  show("layer norm",
       check_backward(
           [&](const std::vector<float>& x, const std::vector<float>& w,
               const std::vector<float>& b) {
             std::vector<float> y(x.size());
             layernorm_forward(&y[0], &mean[0], &rstd[0], &x[0], &w[0], &b[0], T, D);
             return y;
           },
           [&](const auto& dy, const auto& x, const auto& w, const auto&, auto& dx, auto& dw,
               auto& db) {
             layernorm_backward(&dx[0], &dw[0], &db[0], &dy[0], &x[0], &w[0], &mean[0], &rstd[0], T,
                                D);
           },
           random_array<float>(random, N, 1, 0.5), random_array<float>(random, D, 0.5, 1.5),
           random_array<float>(random, D, 1, 0)));

  // A template in double: dual numbers, exact.
  std::vector<double> weights;
  const auto attention = [&](const auto& q, const auto& k, const auto& v) {
    auto y = q, att = q;
    att.resize(static_cast<std::size_t>(T * T));
    attention_forward(&y[0], &att[0], &q[0], &k[0], &v[0], T, D);
    if constexpr (std::is_same_v<decltype(att), std::vector<double>>) weights = att;
    return y;
  };
  show("attention",
       check_backward(
           attention,
           [&](const auto& dy, const auto& q, const auto& k, const auto& v, auto& dq, auto& dk,
               auto& dv) {
             attention_backward(&dq[0], &dk[0], &dv[0], &dy[0], &q[0], &k[0], &v[0], &weights[0], T,
                                D);
           },
           random_array<double>(random, N, 1, 0), random_array<double>(random, N, 1, 0),
           random_array<double>(random, N, 1, 0)));

  // A template in float: derivatives are exact, and what rounding in float hides is undecided.
  show("gelu", check_backward(
                   [&](const auto& x) {
                     auto y = x;
                     gelu_forward(&y[0], &x[0], N);
                     return y;
                   },
                   [&](const auto& dy, const auto& x, auto& dx) {
                     gelu_backward(&dx[0], &dy[0], &x[0], N);
                   },
                   random_array<float>(random, N, 1.5, 0)));
  return count;
}

int main() { return refused(1, true) == 0 ? 0 : 1; }
