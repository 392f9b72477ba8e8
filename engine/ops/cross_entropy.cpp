// Cross-entropy: the mean of −log of the probability that the model gives to the right word.
#include <algorithm>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows.h"
#include "engine/kernels/sums.h"
#include "engine/ops.h"

namespace fledge {

/// y = −Σ_i log softmax(logits_i)[target_i] / n          over the n targets that are kept
///
///   dlogits_i = dy·(softmax(logits_i) − onehot(target_i)) / n,  0 for an ignored target
Tensor cross_entropy(const Tensor& logits, const Indices& targets, std::optional<Dim> ignored) {
  require(logits.rank() >= 1 && targets.shape() == logits.shape().without(-1), "cross_entropy",
          "targets of shape ", targets.shape(), " for logits of shape ", logits.shape(),
          "; one target per row of logits");
  const RowShape m = rows_of(logits.shape());
  Dim kept = 0;
  for (Dim i = 0; i < m.count; ++i) {
    if (targets[i] == ignored) continue;
    require<ValueError>(targets[i] >= 0 && targets[i] < m.length, "cross_entropy", "target ",
                        targets[i], " at position ", i, " is outside logits of shape ",
                        logits.shape());
    ++kept;
  }
  require<ValueError>(kept > 0, "cross_entropy", "no target is left to count: ", m.count,
                      " given, all ignored");

  Array p(logits.shape()), losses({m.count});
  const Real* x = logits.value().data();
  Real* to = p.write();
  Real* loss = losses.write();
  const Dim rows = kernels::blocking.task_rows;
  kernels::parallel_ranges(m.count, rows, 8 * logits.size(), [&](Dim begin, Dim end) {
    for (Dim i = begin; i < end; ++i) {
      const Real* x_i = x + i * m.length;
      const auto [top, log_total] = kernels::softmax_row(x_i, to + i * m.length, m.length);
      loss[i] = targets[i] == ignored ? Real(0) : log_total - (x_i[targets[i]] - top);
    }
  });
  const Real n = real(kept);
  const Array y = Array::full({}, kernels::sum(losses.data(), m.count) / n);

  return record("cross_entropy", y, wrt(logits, [p, targets, ignored, m, n, rows](const Array& dy) {
                  Array dlogits(p.shape());
                  Real* d = dlogits.write();
                  const Real scale = dy[0] / n;
                  kernels::parallel_ranges(m.count, rows, p.size(), [&](Dim begin, Dim end) {
                    for (Dim i = begin; i < end; ++i) {
                      Real* d_i = d + i * m.length;
                      const Real* p_i = p.data() + i * m.length;
                      if (targets[i] == ignored) {
                        std::fill_n(d_i, m.length, Real(0));
                        continue;
                      }
                      for (Dim j = 0; j < m.length; ++j) d_i[j] = scale * p_i[j];
                      d_i[targets[i]] -= scale;
                    }
                  });
                  return dlogits;
                }));
}

}  // namespace fledge
