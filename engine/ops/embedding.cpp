// Rows of a table, looked up by number.
#include <algorithm>

#include "engine/autograd.h"
#include "engine/errors.h"
#include "engine/ops.h"

namespace fledge::inline FLEDGE_BUILD {

/// y_i = table[ids_i]         dtable[ids_i] += dy_i, once for every time a row is looked up
Tensor embedding(const Tensor& table, const Indices& ids) {
  require(table.rank() == 2, "embedding", "needs a table (V, C): got shape ", table.shape());
  const Dim V = table.dim(0), C = table.dim(1);
  for (Dim i = 0; i < ids.size(); ++i)
    require<ValueError>(ids[i] >= 0 && ids[i] < V, "embedding", "id ", ids[i], " at position ", i,
                        " is outside a table of shape ", table.shape());
  Array y(ids.shape().followed_by({C}));
  Real* to = y.write();
  for (Dim i = 0; i < ids.size(); ++i)
    std::copy_n(table.value().data() + ids[i] * C, C, to + i * C);

  return record("embedding", y, wrt_adding(table, [ids, C](const Array& dy, Real* dtable) {
                  for (Dim i = 0; i < ids.size(); ++i)
                    for (Dim c = 0; c < C; ++c) dtable[ids[i] * C + c] += dy[i * C + c];
                }));
}

}  // namespace fledge::inline FLEDGE_BUILD
