// Softmax, masked softmax and log softmax.
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/kernels/rows.h"
#include "engine/ops.h"

namespace fledge {

/// Softmax over the last axis: positive numbers that sum to 1.
///
///   y_i = exp(x_i) / Σ_j exp(x_j)            ∂y_i/∂x_j = y_i·(δ_ij − y_j)
///
///   dx = y ⊙ (dy − ⟨dy, y⟩)                  needs only y, so x is not kept
Tensor softmax(const Tensor& x) {
  require(x.rank() >= 1, "softmax", "needs an axis to sum over: got shape ", x.shape());
  const Rows m = rows_of(x.shape());
  Array y(x.shape());
  kernels::softmax_rows(x.value().data(), y.write(), m.count, m.length);
  return record("softmax", y, wrt(x, [y, m](const Array& dy) {
                  Array dx(dy.shape());
                  kernels::softmax_rows_vjp(y.data(), dy.data(), dx.write(), m.count, m.length);
                  return dx;
                }));
}

/// The same over the visible keys of each row; everywhere else y and dx are exactly 0.
Tensor softmax(const Tensor& x, const Mask& mask) {
  const std::vector<unsigned char> visible = mask.table(x.shape(), "softmax");
  const Rows m = rows_of(x.shape());
  Array y(x.shape());
  kernels::masked_softmax_rows(x.value().data(), visible.data(), y.write(), m.count, m.length);
  return record("masked_softmax", y, wrt(x, [y, m, visible](const Array& dy) {
                  Array dx(dy.shape());
                  kernels::masked_softmax_rows_vjp(y.data(), dy.data(), visible.data(), dx.write(),
                                                   m.count, m.length);
                  return dx;
                }));
}

/// y = x − log Σ_j exp(x_j), through the row's maximum: exact where log(softmax(x)) is log 0.
///
///   dx = dy − softmax(x)·Σ_j dy_j            softmax(x) = exp(y)
Tensor log_softmax(const Tensor& x) {
  require(x.rank() >= 1, "log_softmax", "needs an axis to sum over: got shape ", x.shape());
  const Rows m = rows_of(x.shape());
  Array y(x.shape());
  kernels::log_softmax_rows(x.value().data(), y.write(), m.count, m.length);
  return record("log_softmax", y, wrt(x, [y, m](const Array& dy) {
                  Array dx(dy.shape());
                  kernels::log_softmax_rows_vjp(y.data(), dy.data(), dx.write(), m.count, m.length);
                  return dx;
                }));
}

}  // namespace fledge
