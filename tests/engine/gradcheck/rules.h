// Ops whose rules may be wrong: what the tests of the checker check.
#pragma once

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/gradcheck/op_cases.h"
#include "tests/support/arrays.h"

namespace tests {

using In = const std::vector<Tensor>&;

/// dx_i = dx(dy, i) for a function of one argument.
template <class F>
Tensor ruled(const Tensor& x, const Array& y, F dx) {
  return record("ruled", y, wrt(x, [shape = x.shape(), dx](const Array& dy) {
                  Array result(shape);
                  Real* to = result.write();
                  for (Dim i = 0; i < result.size(); ++i) to[i] = dx(dy, i);
                  return result;
                }));
}

/// y = x·σ(x) with dx = dy·(first·σ + second·x·σ·(1 − σ))
inline Tensor own_silu(const Tensor& x, double first = 1, double second = 1) {
  const Array X = x.value(), s = sigmoid(x).value();
  return ruled(x, X * s, [=](const Array& dy, Dim i) {
    return dy[i] * (Real(first) * s[i] + Real(second) * X[i] * s[i] * (Real(1) - s[i]));
  });
}

/// x, with dx_i = factor(x_i, i)·dy_i.
template <class Factor>
Tensor spoiled(const Tensor& x, Factor factor) {
  const Array X = x.value();
  return ruled(x, X.clone(), [X, factor](const Array& dy, Dim i) {
    return dy[i] * Real(factor(value_of(X[i]), i));
  });
}

inline Tensor scaled(const Tensor& x, double factor) {
  return spoiled(x, [factor](double, Dim) { return factor; });
}
inline Tensor spoiled_at(const Tensor& x, Dim at, double factor) {
  return spoiled(x, [=](double, Dim i) { return i == at ? factor : 1; });
}

template <class Bend>
Tensor bent(const Tensor& x, Bend bend) {
  return ruled(x, x.value().clone(), [bend](const Array& dy, Dim i) { return bend(dy[i]); });
}

/// relu, with this slope at 0.
inline Tensor relu_with(const Tensor& x, double at_zero) {
  const Array X = x.value();
  return ruled(x, relu(x).value(), [=](const Array& dy, Dim i) {
    return dy[i] * Real(X[i] == Real(0) ? at_zero : X[i] > Real(0) ? 1 : 0);
  });
}

/// x, with dx_i = dy_from(i), or 0 where from(i) is −1.
template <class From>
Tensor moved(const Tensor& x, From from) {
  return ruled(x, x.value().clone(), [from](const Array& dy, Dim i) {
    const Dim j = from(i);
    return j < 0 ? Real(0) : dy[j];
  });
}

inline Tensor variance(const Tensor& x) { return mean(x * x) - mean(x) * mean(x); }

/// C = A·B with a part of its rules wrong.
inline Tensor product_of(const Tensor& a, const Tensor& b, const std::string& wrong) {
  const Array A = a.value(), B = b.value();
  return record("product", product(A, B),
                wrt(a,
                    [=](const Array& dC) {
                      if (wrong == "A: B") return product(dC, B);
                      if (wrong == "A: transposed")
                        return transpose(Tensor(product(dC, transposed(B)))).value().clone();
                      return product(dC, transposed(B));
                    }),
                wrt(b, [=](const Array& dC) {
                  return wrong == "B: A" ? product(A, dC) : product(transposed(A), dC);
                }));
}

/// x + b over rows; db from row `row` alone, or from all; times `factor`
inline Tensor add_bias(const Tensor& x, const Tensor& b, Dim row = -1, double factor = 1) {
  const Dim columns = b.size();
  return record("add_bias", x.value() + b.value(), wrt(x, [](const Array& dy) { return dy; }),
                wrt(b, [=](const Array& dy) {
                  Array db = Array::zeros({columns});
                  for (Dim i = 0; i < dy.size(); ++i)
                    if (row < 0 || row == i / columns)
                      db.write()[i % columns] += dy[i] * Real(factor);
                  return db;
                }));
}

}  // namespace tests
