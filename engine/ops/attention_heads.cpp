#include "engine/ops/attention_heads.h"

#include <cmath>

#include "engine/base/errors.h"
#include "engine/kernels/parallel.h"

namespace fledge {

namespace {

// Head h of batch element b.
struct Head {
  const AttentionHeads& all;
  Dim b, h;

  kernels::HeadSizes sizes() const {
    return {all.queries, all.keys, all.D, Real(1 / std::sqrt(static_cast<double>(all.D))),
            all.spans.data() + b / all.share * all.queries};
  }
  // The rows of this head in a table of queries, or of keys.
  template <class Rows>
  Rows queries(Rows x) const {
    return {x.data + b * all.queries * x.step + h * all.D, x.step};
  }
  template <class Rows>
  Rows keys(Rows x) const {
    return {x.data + b * all.keys * x.step + h * all.D, x.step};
  }
};

}  // namespace

Dim require_heads(std::string_view op, Dim channels, Dim heads) {
  require<ValueError>(heads > 0 && channels > 0 && channels % heads == 0, op, channels,
                      " channels do not split into ", heads, " equal heads");
  return heads;
}

AttentionHeads::AttentionHeads(std::string_view op, const Shape& q, Dim key_count, Dim head_count,
                               const Mask& mask)
    : batch(q.without(-1).without(-1).size()),
      heads(require_heads(op, q.dim(-1), head_count)),
      queries(q.dim(-2)),
      keys(key_count),
      D(q.dim(-1) / heads),
      share(batch) {
  const Dim first = q.rank() > 2 ? q[0] : 1;  // axis 0 is the batch of a mask
  spans = mask.spans({first, heads, queries, keys}, op);
  const bool one_for_all = static_cast<Dim>(spans.size()) == queries;
  if (!one_for_all && batch > 0) share = batch / first;
}

// Calls f(head) for every head of every batch element, several at once.
template <class F>
void AttentionHeads::each(F f) const {
  kernels::parallel_for(batch * heads, batch * heads * queries * keys * D, [&](Dim i) {
    f(Head{*this, i / heads, i % heads});
  });
}

void AttentionHeads::attend(Rows q, Rows k, Rows v, RowsOut y, Real* log_sums) const {
  each([&](const Head& at) {
    kernels::attention_head(at.sizes(), at.queries(q), at.keys(k), at.keys(v), at.queries(y),
                            log_sums + (at.b * heads + at.h) * 2 * queries);
  });
}

void AttentionHeads::attend_vjp(Rows q, Rows k, Rows v, Rows y, Rows dy, const Real* log_sums,
                                RowsOut dq, RowsOut dk, RowsOut dv) const {
  each([&](const Head& at) {
    const Real* const sums = log_sums + (at.b * heads + at.h) * 2 * queries;
    kernels::attention_head_vjp(at.sizes(), at.queries(q), at.keys(k), at.keys(v), at.queries(y),
                                at.queries(dy), sums, at.queries(dq), at.keys(dk), at.keys(dv));
  });
}

}  // namespace fledge
