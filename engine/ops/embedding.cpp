// Rows of a table, looked up by id.
#include <algorithm>

#include "engine/autograd.h"
#include "engine/kernels/parallel.h"
#include "engine/ops.h"

namespace fledge {

namespace {

void require_ids(const Tensor& table, const Indices& ids) {
  require(table.rank() == 2, "embedding", "needs a table (V, C): got shape ", table.shape());
  for (Dim i = 0; i < ids.size(); ++i)
    require<ValueError>(ids[i] >= 0 && ids[i] < table.dim(0), "embedding", "id ", ids[i],
                        " at position ", i, " is outside a table of shape ", table.shape());
}

// Calls f(i, begin, end) for all i and the columns begin … end − 1 of C. A task has all i of its
// columns, in their order: so the sums of a table do not depend on the number of threads.
template <class F>
void for_columns(Dim count, Dim C, F f) {
  const Dim grain = C / kernels::blocking.tasks / 16 * 16 + 16;  // whole cache lines
  kernels::parallel_ranges(C, grain, count * C, [=](Dim begin, Dim end) {
    for (Dim i = 0; i < count; ++i) f(i, begin, end);
  });
}

// dtable[ids_i] += dy_i
auto add_rows(const Indices& ids, Dim C) {
  return [ids, C](const Array& dy, Real* dtable) {
    for_columns(ids.size(), C, [&ids, C, dtable, d = dy.data()](Dim i, Dim begin, Dim end) {
      for (Dim c = begin; c < end; ++c) dtable[ids[i] * C + c] += d[i * C + c];
    });
  };
}

}  // namespace

/// y_i = table[ids_i]         dtable[ids_i] += dy_i, once for every time a row is looked up
Tensor embedding(const Tensor& table, const Indices& ids) {
  require_ids(table, ids);
  const Dim C = table.dim(1);
  Array y(ids.shape().append({C}));
  Real* to = y.write();
  const Real* const rows = table.value().data();
  kernels::for_rows(ids.size(), C, 1,
                    [&](Dim i) { std::copy_n(rows + ids[i] * C, C, to + i * C); });
  return record("embedding", y, wrt_adding(table, add_rows(ids, C)));
}

/// y_bt = tokens[ids_bt] + positions[first + t]
///
///   dtokens[ids_bt] += dy_bt         dpositions[first + t] += dy_bt
Tensor embedding(const Tensor& tokens, const Tensor& positions, const Indices& ids, Dim first) {
  require_ids(tokens, ids);
  require(ids.shape().rank() >= 1, "embedding", "needs ids (..., T): got shape ", ids.shape());
  const Dim C = tokens.dim(1), T = ids.shape().dim(-1);
  require(positions.rank() == 2 && positions.dim(1) == C, "embedding", "needs positions (context, ",
          C, "): got shape ", positions.shape());
  require<ValueError>(first >= 0 && first <= positions.dim(0) - T, "embedding", T,
                      " positions from ", first, " on are outside a table of shape ",
                      positions.shape());
  Array y(ids.shape().append({C}));
  Real* to = y.write();
  const Real* words = tokens.value().data();
  const Real* vectors = positions.value().data();
  kernels::for_rows(ids.size(), C, 2, [&](Dim i) {
    const Real* const word = words + ids[i] * C;
    const Real* const position = vectors + (first + i % T) * C;
    for (Dim c = 0; c < C; ++c) to[i * C + c] = word[c] + position[c];
  });
  return record(
      "embedding", y, wrt_adding(tokens, add_rows(ids, C)),
      wrt_adding(positions, [n = ids.size(), T, C, first](const Array& dy, Real* dpositions) {
        for_columns(n, C, [=, d = dy.data()](Dim i, Dim begin, Dim end) {
          for (Dim c = begin; c < end; ++c) dpositions[(first + i % T) * C + c] += d[i * C + c];
        });
      }));
}

}  // namespace fledge
