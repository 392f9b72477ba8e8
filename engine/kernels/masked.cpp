#include "engine/kernels/masked.h"

#include <algorithm>

#include "engine/kernels/sums.h"

namespace fledge::kernels {

void masked_dots(const Real* a, const Real* b, const unsigned char* may_look, Real* c, Real hidden,
                 Dim n, Dim m, Dim d) {
  for (Dim i = 0; i < n; ++i)
    for (Dim j = 0; j < m; ++j)
      c[i * m + j] = may_look[i * m + j] != 0 ? dot(a + i * d, b + j * d, d) : hidden;
}

void masked_mix(const Real* w, const Real* b, const unsigned char* may_look, Real* c, Dim n, Dim m,
                Dim d) {
  std::fill_n(c, n * d, Real(0));
  for (Dim i = 0; i < n; ++i)
    for (Dim j = 0; j < m; ++j)
      if (may_look[i * m + j] != 0)
        for (Dim e = 0; e < d; ++e) c[i * d + e] += w[i * m + j] * b[j * d + e];
}

void masked_mix_back(const Real* w, const Real* a, const unsigned char* may_look, Real* c, Dim n,
                     Dim m, Dim d) {
  std::fill_n(c, m * d, Real(0));
  for (Dim i = 0; i < n; ++i)
    for (Dim j = 0; j < m; ++j)
      if (may_look[i * m + j] != 0)
        for (Dim e = 0; e < d; ++e) c[j * d + e] += w[i * m + j] * a[i * d + e];
}

}  // namespace fledge::kernels
