#include "engine/kernels/gemm.h"

#include <algorithm>

namespace fledge::inline FLEDGE_BUILD::kernels {

// C_ij = Σ_p A_ip·B_pj, summed over p in increasing order for every (i, j): a row of C depends on
// its row of A alone, to the bit, however many rows there are.
void gemm(const Real* a, const Real* b, Real* c, Dim n, Dim k, Dim m) {
  for (Dim i = 0; i < n; ++i) {
    const Real* a_i = a + i * k;
    Real* c_i = c + i * m;
    std::fill_n(c_i, m, Real(0));
    for (Dim p = 0; p < k; ++p) {
      const Real a_ip = a_i[p];
      const Real* b_p = b + p * m;
      for (Dim j = 0; j < m; ++j) c_i[j] += a_ip * b_p[j];
    }
  }
}

}  // namespace fledge::inline FLEDGE_BUILD::kernels
