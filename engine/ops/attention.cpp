// Attention in one op: the weights are computed again in the backward pass, not kept.
//
//     y = softmax(Q·Kᵀ/√D)·V, per head                                 (Vaswani et al. 2017, eq. 1)
//
// The rules are those of kernels/attention.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/sums.h"
#include "engine/ops.h"
#include "engine/ops/attention_heads.h"

namespace fledge {

Tensor attention(const Tensor& qkv, HeadCount heads, const Mask& mask, const Tensor& sink) {
  const Dim C = query_columns("attention", qkv.shape(), heads), step = qkv.dim(-1);
  const Dim v = C + (step - C) / 2;  // where the values begin; the keys do at C
  const Shape y_shape = qkv.shape().with(-1, C);
  const AttentionHeads all("attention", y_shape, qkv.dim(-2), heads, mask, sink);
  const Array X = qkv.value();
  const Real* const q = X.data();
  Array y(y_shape), log_sums(all.log_sums_shape());
  all.attend({q, step}, {q + C, step}, {q + v, step}, {y.write(), C}, log_sums.write());
  auto rule = [X, y, log_sums, all, C, v, step](const Array& dy, std::array<bool, 2>) {
    Array dX(X.shape());
    const Real* const x = X.data();
    Real* const dx = dX.write();
    all.attend_vjp({x, step}, {x + C, step}, {x + v, step}, {y.data(), C}, {dy.data(), C},
                   log_sums.data(), {dx, step}, {dx + C, step}, {dx + v, step});
    return std::array<Array, 2>{dX, all.sink_vjp({y.data(), C}, {dy.data(), C}, log_sums.data())};
  };
  return record("attention", y, wrt({qkv, sink}, std::move(rule)));
}

// The same with q, k and v in separate tensors: only pointers and steps differ.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, HeadCount heads,
                 const Mask& mask, const Tensor& sink) {
  require_q_k_v("attention", q.shape(), k.shape(), v.shape(), heads);
  const Dim C = q.dim(-1), step = k.dim(-1);
  const AttentionHeads all("attention", q.shape(), k.dim(-2), heads, mask, sink);
  const Array Q = q.value(), K = k.value(), V = v.value();
  Array y(q.shape()), log_sums(all.log_sums_shape());
  all.attend({Q.data(), C}, {K.data(), step}, {V.data(), step}, {y.write(), C}, log_sums.write());
  auto rule = [Q, K, V, y, log_sums, all, C, step](const Array& dy, std::array<bool, 4>) {
    Array dQ(Q.shape()), dK(K.shape()), dV(V.shape());
    all.attend_vjp({Q.data(), C}, {K.data(), step}, {V.data(), step}, {y.data(), C}, {dy.data(), C},
                   log_sums.data(), {dQ.write(), C}, {dK.write(), step}, {dV.write(), step});
    return std::array<Array, 4>{dQ, dK, dV,
                                all.sink_vjp({y.data(), C}, {dy.data(), C}, log_sums.data())};
  };
  return record("attention", y, wrt({q, k, v, sink}, std::move(rule)));
}

// How the heads of a batch call the kernel.

namespace {

// Head h of a document of batch element b.
struct Head {
  const AttentionHeads& all;
  Dim b, h;
  AttentionHeads::Document document;

  kernels::HeadSizes sizes() const {
    return {document.queries.size(),
            document.keys.size(),
            all.D,
            Real(1 / std::sqrt(static_cast<double>(all.D))),
            all.spans.data() + b / all.share * all.queries + document.queries.begin,
            all.sink.exists() ? all.sink.data()[h] : Real(-infinity)};
  }
  Dim key_head() const { return h * all.key_heads / all.heads; }
  Dim query_blocks() const { return kernels::attention_blocks(all.D, document.queries.size()); }
  Dim key_blocks() const { return kernels::attention_blocks(all.D, document.keys.size()); }
  // Where its queries begin in a table (batch, heads, queries).
  Dim first() const { return (b * all.heads + h) * all.queries + document.queries.begin; }
  // The rows of this head in a table of queries, or those of a head in a table of keys.
  template <class Strided>
  Strided queries(Strided x) const {
    return {x.data + (b * all.queries + document.queries.begin) * x.step + h * all.D, x.step};
  }
  template <class Strided>
  Strided keys(Strided x, Dim head) const {
    return {x.data + (b * all.keys + document.keys.begin) * x.step + head * all.D, x.step};
  }
};

// Head number i of all documents of the batch: neighbours are the heads of one document.
Head head_of(const AttentionHeads& all, Dim i) {
  const Dim documents = std::ssize(all.documents), d = i / all.heads;
  return {all, d / documents, i % all.heads,
          all.documents[static_cast<std::size_t>(d % documents)]};
}

}  // namespace

Dim require_heads(std::string_view op, Dim channels, Dim heads) {
  require<ValueError>(heads > 0 && channels > 0 && channels % heads == 0, op, channels,
                      " channels do not split into ", heads, " equal heads");
  return heads;
}

HeadCount::HeadCount(Dim heads, Dim key_heads) : queries(heads), keys(key_heads) {
  constexpr Dim most = Dim{1} << 31;  // sums and multiples of heads do not overflow
  require<ValueError>(heads > 0 && heads <= most && keys > 0 && heads % keys == 0, "HeadCount",
                      "the heads of keys must divide those of queries, at most 2^31: got ", keys,
                      " and ", heads);
}

namespace {

// What a message says of heads that share keys.
std::string for_heads(HeadCount heads) {
  if (heads.keys == heads.queries) return "";
  return " for " + std::to_string(heads.queries) + " heads of queries and " +
         std::to_string(heads.keys) + " of keys";
}

}  // namespace

Dim query_columns(std::string_view op, const Shape& qkv, HeadCount heads) {
  const bool shared = heads.keys != heads.queries;
  const Dim parts = shared ? heads.queries + 2 * heads.keys : 3;
  require(qkv.rank() >= 2 && qkv.dim(-1) % parts == 0, op, "needs q, k and v side by side, ",
          shared ? "(..., T, (H + 2G)*D)" : "(..., T, 3C)", ": got shape ", qkv, for_heads(heads));
  return qkv.dim(-1) / parts * (shared ? heads.queries : 1);
}

void require_q_k_v(std::string_view op, const Shape& q, const Shape& k, const Shape& v,
                   HeadCount heads) {
  const Dim share = heads.keys == heads.queries ? 1 : heads.queries / heads.keys;
  require(q.rank() >= 2 && k.rank() >= 2 && k == v && q.dim(-1) == k.dim(-1) * share, op,
          "needs q (..., T, H*D) and k, v (..., S, G*D): got ", q, ", ", k, ", ", v,
          for_heads(heads));
  require(q.rank() == k.rank() && q.without(-1).without(-1) == k.without(-1).without(-1), op,
          "needs the same leading axes: ", q, " and ", k);
}

void require_sink(std::string_view op, const Tensor& sink, Dim heads) {
  require(!sink.exists() || sink.shape() == Shape{heads}, op, "needs a sink of shape ",
          Shape{heads}, ": got ", sink.exists() ? sink.shape() : Shape{});
}

AttentionHeads::AttentionHeads(std::string_view op, const Shape& q, Dim key_count, HeadCount count,
                               const Mask& mask, const Tensor& sinks)
    : batch(q.without(-1).without(-1).size()),
      heads(require_heads(op, q.dim(-1), count.queries)),
      key_heads(count.keys),
      queries(q.dim(-2)),
      keys(key_count),
      D(q.dim(-1) / heads),
      most_queries(queries),
      most_keys(keys),
      documents{{{0, queries}, {0, keys}}},
      share(batch),
      sink(sinks.exists() ? sinks.value() : Array()) {
  require_sink(op, sinks, heads);
  const Dim first = q.rank() > 2 ? q[0] : 1;  // axis 0 is the batch of a mask
  spans = mask.spans({first, heads, queries, keys}, op);
  const bool one_for_all = static_cast<Dim>(spans.size()) == queries;
  if (!one_for_all && batch > 0) share = batch / first;
  const std::vector<Dim> lengths = mask.document_lengths();
  if (lengths.empty()) return;
  documents.clear();
  most_queries = most_keys = *std::max_element(lengths.begin(), lengths.end());
  for (Dim begin = 0; const Dim length : lengths) {
    const IndexRange rows{begin, begin + length};
    documents.push_back({rows, rows});
    begin = rows.end;
  }
  const std::vector<Dim> positions = positions_in(lengths);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::size_t row = i % positions.size();
    const Dim begin = static_cast<Dim>(row) - positions[row];
    spans[i] = {std::max<Dim>(spans[i].begin - begin, 0), std::max<Dim>(spans[i].end - begin, 0)};
  }
}

// The last blocks of queries come first: with a causal mask they take longest.
void AttentionHeads::attend(StridedRows q, StridedRows k, StridedRows v, StridedRowsOut y,
                            Real* log_sums) const {
  const Dim blocks = kernels::attention_blocks(D, most_queries);
  const Dim all = batch * heads * std::ssize(documents);
  kernels::parallel_for(all * blocks, batch * heads * queries * most_keys * D, [&](Dim i) {
    const Head at = head_of(*this, i / blocks);
    const Dim block = blocks - 1 - i % blocks;
    if (block >= at.query_blocks()) return;
    kernels::attention_head(at.sizes(), block, at.queries(q), at.keys(k, at.key_head()),
                            at.keys(v, at.key_head()), at.queries(y), log_sums + 2 * at.first());
  });
}

// A pair of blocks adds to what the pairs before it, of the same queries or of the same keys, left.
// So pairs run in rounds: in a round the numbers of the two blocks have the same sum. Heads that
// share keys write their dk and dv apart, (batch, keys, H·D), and these are summed in the end.
void AttentionHeads::attend_vjp(StridedRows q, StridedRows k, StridedRows v, StridedRows y,
                                StridedRows dy, const Real* log_sums, StridedRowsOut dq,
                                StridedRowsOut dk, StridedRowsOut dv) const {
  const Dim query_blocks = kernels::attention_blocks(D, most_queries);
  const Dim key_blocks = kernels::attention_blocks(D, most_keys);
  const Dim all = batch * heads * std::ssize(documents);
  const Dim work = batch * heads * queries * most_keys * D /
                   (query_blocks * key_blocks);  // of a pair of each head
  Buffer means(batch * heads * queries);
  const bool shared = key_heads < heads;
  Buffer apart(shared ? 2 * batch * heads * keys * D : 0);
  StridedRowsOut own_dk = dk, own_dv = dv;
  if (shared)
    own_dk = {apart.data(), heads * D},
    own_dv = {own_dk.data + batch * heads * keys * D, heads * D};
  for (Dim round = 0; round < query_blocks + key_blocks - 1; ++round) {
    const Dim first = std::max(Dim{0}, round - key_blocks + 1);
    const Dim pairs = std::min(query_blocks, round + 1) - first;
    kernels::parallel_for(all * pairs, work * pairs, [&](Dim i) {
      const Head at = head_of(*this, i / pairs);
      const Dim block = first + i % pairs, key_block = round - block;
      if (block >= at.query_blocks() || key_block >= at.key_blocks()) return;
      kernels::attention_head_vjp(
          at.sizes(), block, key_block, at.queries(q), at.keys(k, at.key_head()),
          at.keys(v, at.key_head()), at.queries(y), at.queries(dy), log_sums + 2 * at.first(),
          means.data() + at.first(), at.queries(dq), at.keys(own_dk, at.h), at.keys(own_dv, at.h));
    });
  }
  if (!shared) return;
  const Dim group = heads / key_heads;
  kernels::parallel_for(batch * keys, 2 * batch * heads * keys * D, [&](Dim row) {
    for (const auto& [from, to] : {std::pair{own_dk, dk}, std::pair{own_dv, dv}})
      for (Dim g = 0; g < key_heads; ++g)
        for (Dim d = 0; d < D; ++d) {
          const Real* const own = from.data + row * from.step + g * group * D + d;
          Real sum = own[0];
          for (Dim h = 1; h < group; ++h) sum += own[h * D];
          to.data[row * to.step + g * D + d] = sum;
        }
  });
}

/// db_h = −Σ_i w_i·⟨dy_i, y_i⟩   w_i = exp(b_h)/(exp(b_h) + Σ_j exp(s_ij)): what i gives to the sink
Array AttentionHeads::sink_vjp(StridedRows y, StridedRows dy, const Real* log_sums) const {
  if (!sink.exists()) return {};
  Array db({heads});
  Real* const to = db.write();
  kernels::parallel_for(heads, batch * heads * queries * D, [&](Dim h) {
    Buffer weights(batch * queries), means(batch * queries);
    for (Dim b = 0; b < batch; ++b) {
      const Head at{*this, b, h, {{0, queries}, {0, keys}}};
      const kernels::HeadSizes sizes = at.sizes();
      const StridedRows own_y = at.queries(y), own_dy = at.queries(dy);
      for (Dim i = 0; i < queries; ++i) {
        Real &w = weights.data()[b * queries + i], &mean = means.data()[b * queries + i];
        w = mean = Real(0);
        if (!sizes.has_sink() || sizes.spans[i].begin >= sizes.spans[i].end) continue;
        const Real* const sums = log_sums + ((b * heads + h) * queries + i) * 2;
        w = exp((sizes.sink_score() - sums[0]) * sizes.scale - sums[1]);
        mean = kernels::dot(own_dy.data + i * own_dy.step, own_y.data + i * own_y.step, D);
      }
    }
    to[h] = -kernels::dot(weights.data(), means.data(), batch * queries);
  });
  return db;
}

}  // namespace fledge
