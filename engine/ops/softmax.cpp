// Softmax, masked softmax and log softmax.
#include "engine/autograd.h"
#include "engine/kernels/rows.h"
#include "engine/ops.h"

namespace fledge {

namespace {

const unsigned char* data_of(const VisibleTable& visible) {
  return visible.empty() ? nullptr : visible.data();
}

/// Softmax over the last axis: positive numbers that sum to 1, over the visible keys of each row;
/// everywhere else y and dx are exactly 0.
///
///   y_i = exp(x_i) / Σ_j exp(x_j)            ∂y_i/∂x_j = y_i·(δ_ij − y_j)
///
///   dx = y ⊙ (dy − ⟨dy, y⟩)                  needs only y, so x is not kept
Tensor softmax_over(std::string_view op, const Tensor& x, VisibleTable visible) {
  const RowShape m = rows_of(x.shape());
  Array y(x.shape());
  kernels::softmax_rows(x.value().data(), data_of(visible), y.write(), m.count, m.length);
  return record(op, y, wrt(x, [y, m, visible = std::move(visible)](const Array& dy) {
                  Array dx(dy.shape());
                  kernels::softmax_rows_vjp(y.data(), dy.data(), data_of(visible), dx.write(),
                                            m.count, m.length);
                  return dx;
                }));
}

}  // namespace

Tensor softmax(const Tensor& x) {
  require(x.rank() >= 1, "softmax", "needs an axis to sum over: got shape ", x.shape());
  return softmax_over("softmax", x, {});
}

Tensor softmax(const Tensor& x, const Mask& mask) {
  return softmax_over("masked_softmax", x, mask.table(x.shape(), "softmax"));
}

/// y = (x − top) − log Σ_j exp(x_j − top), where top, the largest number of the row, is a constant:
/// exact where log(softmax(x)) is log 0, because the sum is at least 1.
Tensor log_softmax(const Tensor& x) {
  require(x.rank() >= 1, "log_softmax", "needs an axis to sum over: got shape ", x.shape());
  if (x.size() == 0) return reshape(x, x.shape());  // max of nothing is not defined
  const Tensor shifted = x - max(x, {-1}, true).detach();
  return shifted - log(sum(exp(shifted), {-1}, true));
}

}  // namespace fledge
