// Cross-entropy: −log of the probability that the model gives to the right word.
#include <algorithm>

#include "engine/autograd.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows.h"
#include "engine/kernels/sums.h"
#include "engine/ops.h"

namespace fledge {

namespace {

// What one row of V logits loses: own·(−log p_t) + Σ_c spread_c·(−log p_c).
struct ClassShares {
  double smoothing;
  Array weights;  // (V), or none: ones
  Dim V;

  Real weight(Dim c) const { return weights.exists() ? weights.data()[c] : Real(1); }
  Real own(Dim target) const { return Real(1 - smoothing) * weight(target); }
  Real spread(Dim c) const { return Real(smoothing) * weight(c) / real(V); }
  Real total_spread() const {
    double total = 0;
    for (Dim c = 0; smoothing > 0 && c < V; ++c) total += value_of(weight(c));
    return Real(smoothing * total / static_cast<double>(V));
  }
};

// A share of 0 loses nothing, also where the model gives probability 0 and loses ∞.
Real lost(Real share, Real loss) { return share == Real(0) ? Real(0) : share * loss; }

ClassShares shares_of(const CrossEntropyOptions& options, Dim V) {
  const Array& weights = options.weights;
  require<ValueError>(options.smoothing >= 0 && options.smoothing <= 1, "cross_entropy",
                      "the smoothing must be from 0 to 1: got ", options.smoothing);
  if (weights.exists())
    require(weights.shape() == Shape{V}, "cross_entropy", "one weight per class, shape ", Shape{V},
            ": got ", weights.shape());
  for (Dim c = 0; c < weights.size(); ++c)
    require<ValueError>(weights[c] >= Real(0) && isfinite(weights[c]), "cross_entropy",
                        "weights must be finite and 0 or more: got ", value_of(weights[c]),
                        " for class ", c);
  return {options.smoothing, weights, V};
}

}  // namespace

/// l_i = own_i·(−log p_it) + Σ_c spread_c·(−log p_ic), p_i = softmax(logits_i), t = target_i
///
///   dlogits_ic = dl_i·((own_i + Σ_j spread_j)·p_ic − spread_c − (own_i for c = t)),
///   0 for an ignored target; dl_i = dy / n for the mean, n = Σ_i w_t over the targets kept
Tensor cross_entropy(const Tensor& logits, const Indices& targets,
                     const CrossEntropyOptions& options) {
  require(logits.rank() >= 1 && targets.shape() == logits.shape().without(-1), "cross_entropy",
          "targets of shape ", targets.shape(), " for logits of shape ", logits.shape(),
          "; one target per row of logits");
  const RowShape m = rows_of(logits.shape());
  const ClassShares shares = shares_of(options, m.length);
  const std::optional<Dim> ignored = options.ignored;
  const bool averaged = options.reduction == Reduction::mean;
  const bool smooth = shares.smoothing > 0;
  double kept = 0;
  for (Dim i = 0; i < m.count; ++i) {
    if (targets[i] == ignored) continue;
    require<ValueError>(targets[i] >= 0 && targets[i] < m.length, "cross_entropy", "target ",
                        targets[i], " at position ", i, " is outside logits of shape ",
                        logits.shape());
    kept += value_of(shares.weight(targets[i]));
  }
  require<ValueError>(!averaged || kept > 0, "cross_entropy",
                      "no target is left to count: ", m.count,
                      " given, all ignored or of weight 0");

  Array p(logits.shape()), losses(targets.shape());
  const Real* x = logits.value().data();
  Real* to = p.write();
  Real* loss = losses.write();
  const Dim rows = kernels::blocking.task_rows;
  kernels::parallel_ranges(m.count, rows, 8 * logits.size(), [&](Dim begin, Dim end) {
    Buffer terms(smooth ? m.length : 0);
    for (Dim i = begin; i < end; ++i) {
      const Real* x_i = x + i * m.length;
      const auto [top, log_total] = kernels::softmax_row(x_i, to + i * m.length, m.length);
      loss[i] = Real(0);
      if (targets[i] == ignored) continue;
      const auto loss_of = [&, top = top, log_total = log_total](Dim c) {
        return log_total - (x_i[c] - top);
      };
      loss[i] = lost(shares.own(targets[i]), loss_of(targets[i]));
      if (!smooth) continue;
      for (Dim c = 0; c < m.length; ++c) terms.data()[c] = lost(shares.spread(c), loss_of(c));
      loss[i] += kernels::sum(terms.data(), m.length);
    }
  });
  const Real n = Real(averaged ? kept : 1);
  const bool each = options.reduction == Reduction::none;
  const Array y = each ? losses : Array::full({}, kernels::sum(losses.data(), m.count) / n);

  return record("cross_entropy", y, wrt(logits, [=](const Array& dy) {
                  Array dlogits(p.shape());
                  Real* d = dlogits.write();
                  const Real all_spread = shares.total_spread();
                  kernels::parallel_ranges(m.count, rows, p.size(), [&](Dim begin, Dim end) {
                    for (Dim i = begin; i < end; ++i) {
                      Real* d_i = d + i * m.length;
                      const Real* p_i = p.data() + i * m.length;
                      if (targets[i] == ignored) {
                        std::fill_n(d_i, m.length, Real(0));
                        continue;
                      }
                      const Real scale = dy.data()[each ? i : 0] / n;
                      const Real own = shares.own(targets[i]);
                      const Real both = scale * (own + all_spread);
                      for (Dim c = 0; c < m.length; ++c) d_i[c] = both * p_i[c];
                      for (Dim c = 0; smooth && c < m.length; ++c)
                        d_i[c] -= scale * shares.spread(c);
                      d_i[targets[i]] -= scale * own;
                    }
                  });
                  return dlogits;
                }));
}

Tensor cross_entropy(const Tensor& logits, const Indices& targets, std::optional<Dim> ignored) {
  return cross_entropy(logits, targets, CrossEntropyOptions{.ignored = ignored});
}

}  // namespace fledge
