// Make it fast: one product of two matrices in four ways, with the times of this machine. Times are
// printed and never claimed.
#include <cstring>

#include "engine/base/thread_pool.h"
#include "engine/kernels/tiles.h"
#include "examples/fledge/timing.h"
#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_make_it_fast {

constexpr Dim n = 480;  // A, B and C = A·B are n by n

/// The loops of the formula. B is read down its columns, and each number of a column is in another
/// line of the cache. A sum is one chain: every addition waits for the one before.
void by_definition(const float* A, const float* B, float* C) {
  for (Dim i = 0; i < n; ++i)
    for (Dim j = 0; j < n; ++j) {
      float sum = 0;
      for (Dim p = 0; p < n; ++p) sum += A[i * n + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
}

/// The two inner loops are exchanged. Rows of B and C are read from end to end. The sums of a row
/// do not wait for each other. Compiled with -O3, as here, it computes a vector of them at a time.
void by_rows(const float* A, const float* B, float* C) {
  std::fill_n(C, n * n, 0.0f);
  for (Dim i = 0; i < n; ++i)
    for (Dim p = 0; p < n; ++p) {
      const float a = A[i * n + p];
      for (Dim j = 0; j < n; ++j) C[i * n + j] += a * B[p * n + j];
    }
}

/// A tile of C, four rows by two vectors, stays in registers while p runs: six loads for eight
/// multiplications, where by_rows takes two loads and a store for each.
void by_tiles(const float* A, const float* B, float* C) {
  using kernels::lanes, kernels::load, kernels::splat, kernels::store, kernels::Vec;
  constexpr Dim rows = 4, columns = 2 * lanes;
  static_assert(n % rows == 0 && n % columns == 0);
  for (Dim j = 0; j < n; j += columns)
    for (Dim i = 0; i < n; i += rows) {
      Vec sum[rows][2] = {};
      for (Dim p = 0; p < n; ++p) {
        const Vec b0 = load(B + p * n + j), b1 = load(B + p * n + j + lanes);
        for (Dim r = 0; r < rows; ++r) {
          const Vec a = splat(A[(i + r) * n + p]);
          sum[r][0] += a * b0;
          sum[r][1] += a * b1;
        }
      }
      for (Dim r = 0; r < rows; ++r) {
        store(C + (i + r) * n + j, sum[r][0]);
        store(C + (i + r) * n + j + lanes, sum[r][1]);
      }
    }
}

/// The largest |C - A·B| as a share of the most that rounding may do to sums of n products,
/// n·u/(1 - n·u) times the sum of |A_ip·B_pj|, u = 2^-24           (Higham 2002, section 3.1)
double share_of_rounding(const Array& A, const Array& B, const Array& C) {
  constexpr double u = 0x1p-24, most = n * u / (1 - n * u);
  double worst = 0;
  for (Dim i = 0; i < n; ++i) {
    std::array<double, n> exact{}, size{};
    for (Dim p = 0; p < n; ++p)
      for (std::size_t j = 0; j < n; ++j) {
        const double term = static_cast<double>(A[i * n + p]) * B.data()[p * n + Dim(j)];
        exact[j] += term;
        size[j] += std::abs(term);
      }
    for (std::size_t j = 0; j < n; ++j)
      worst = std::max(worst, std::abs(C.data()[i * n + Dim(j)] - exact[j]) / (most * size[j]));
  }
  return worst;
}

bool same_bits(const Array& a, const Array& b) {
  return std::memcmp(a.data(), b.data(), sizeof(Real) * static_cast<std::size_t>(a.size())) == 0;
}

void products(LessonText& to) {
  to.set_all("n", std::to_string(n), "lanes", kernels::lanes, "columns", 2 * kernels::lanes);
  Rng rng(1);
  const Array A = normal({n, n}, rng), B = normal({n, n}, rng);
  struct Way {
    const char* name;
    void (*loops)(const float*, const float*, float*);  // null: matmul
    int threads;
  };
  const int all = threads();
  Table table({{"   program"}, {"cores"}, {"GFLOP/s"}, {"times the first"}});
  double first = 0, worst = 0;
  Array C;
  std::vector<Way> ways = {{"   by definition", by_definition, 1},
                           {"   row by row", by_rows, 1},
                           {"   tiles in registers", by_tiles, 1},
                           {"   packed tiles (fledge)", nullptr, 1}};
  if (all > 1) ways.push_back({"   the same, all cores", nullptr, all});
  for (const Way& way : ways) {
    set_threads(way.threads);
    const double seconds = bench::median_seconds(
        [&] {
          if (way.loops == nullptr) {
            C = product(A, B);
          } else {
            C = Array({n, n});
            way.loops(A.data(), B.data(), C.write());
          }
        },
        3);
    if (first == 0) first = seconds;
    worst = std::max(worst, share_of_rounding(A, B, C));
    table.row("%s | %d | %.1f | %.1f", way.name, way.threads, 2e-9 * n * n * n / seconds,
              first / seconds);
  }
  constexpr int rows = kernels::tile_rows;
  to.set_all("programs", table, "rows", rows, "multiplications", 2 * rows);
  to.claim("right", worst < 1);
  set_threads(1);
  to.claim("cores", same_bits(product(A, B), C));
  set_threads(all);
  const Tensor few = matmul(slice(A, 0, 0, 7), B);
  to.claim("few rows", same_bits(few.value(), slice(C, 0, 0, 7).value()));
}

const LessonProgram program({products});

}  // namespace fledge::lessons::in_make_it_fast
