// The loss of guessing the next word: −log of the probability given to the right one.
#include "engine/autograd.h"
#include "engine/errors.h"
#include "engine/kernels/rows.h"
#include "engine/kernels/sums.h"
#include "engine/ops.h"

namespace fledge::inline FLEDGE_BUILD {

/// y = −Σ_i log softmax(logits_i)[target_i] / n          over the n targets that are kept
///
///   dlogits_i = dy·(softmax(logits_i) − onehot(target_i)) / n,  0 for an ignored target
Tensor cross_entropy(const Tensor& logits, const Indices& targets, std::optional<Dim> ignored) {
  require(logits.rank() >= 1 && targets.shape() == logits.shape().without(-1), "cross_entropy",
          "targets of shape ", targets.shape(), " for logits of shape ", logits.shape(),
          "; one target per row of logits");
  const Rows m = rows_of(logits.shape());
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

  Array log_p(logits.shape()), losses({kept});
  kernels::log_softmax_rows(logits.value().data(), log_p.write(), m.count, m.length);
  Real* loss = losses.write();
  for (Dim i = 0; i < m.count; ++i)
    if (targets[i] != ignored) *loss++ = -log_p[i * m.length + targets[i]];
  const Real n = real(kept);
  const Array y = Array::full({}, kernels::sum(losses.data(), kept) / n);

  return record("cross_entropy", y, wrt(logits, [log_p, targets, ignored, m, n](const Array& dy) {
                  Array dlogits = Array::zeros(log_p.shape());
                  Real* d = dlogits.write();
                  for (Dim i = 0; i < m.count; ++i) {
                    if (targets[i] == ignored) continue;
                    for (Dim j = i * m.length; j < (i + 1) * m.length; ++j)
                      d[j] = dy[0] * exp(log_p[j]) / n;
                    d[i * m.length + targets[i]] -= dy[0] / n;
                  }
                  return dlogits;
                }));
}

}  // namespace fledge::inline FLEDGE_BUILD
