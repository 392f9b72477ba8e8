// The operands of attention in scratch memory, and products that skip what is hidden.
//
// Copies are compact. In a tensor the rows of one head of a large model are far apart, often by a
// power of two, and such rows share few sets of L1.
#pragma once

#include <algorithm>

#include "engine/base/memory.h"
#include "engine/kernels/attention.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/tiles.h"

namespace fledge::kernels {

/// Some neighbouring queries and some neighbouring keys.
struct AttentionBlock {
  const IndexRange* spans;  // of all queries
  IndexRange queries, keys;

  /// The keys, as numbers of columns of this block, that any of the queries first … first + count − 1
  /// sees.
  IndexRange seen_by(Dim first, Dim count) const {
    const Dim begin = std::max(keys.begin, spans[first].begin);
    const Dim end = std::min(keys.end, spans[first + count - 1].end);
    return {begin - keys.begin, std::max(begin, end) - keys.begin};
  }
  IndexRange seen() const { return seen_by(queries.begin, queries.size()); }
};

/// A table (rows, columns). Rows are padded to whole panels, so that the last vector of a row may
/// be stored beyond its end. Rows of more than 64 columns are one panel longer: with a power of two,
/// the numbers of a column would share one set of the cache.
class PaddedMatrix {
 public:
  PaddedMatrix(Dim rows, Dim columns)
      : columns_(columns),
        step_(ceil_div(columns, tile_columns) * tile_columns + (columns > 64 ? tile_columns : 0)),
        numbers_(rows * step_ + tile_columns) {}

  Real* row(Dim i) { return numbers_.data() + i * step_; }
  const Real* row(Dim i) const { return numbers_.data() + i * step_; }
  Dim step() const { return step_; }
  Dim columns() const { return columns_; }

  void set_zero(Dim rows) { std::fill(row(0), row(rows), Real(0)); }
  // read() and write() prefetch x eight rows ahead: the rows of a head are apart in its tensor.
  void read(StridedRows x, IndexRange rows) {
    Vec zeros = splat(Real(0));
    for (Dim i = rows.begin; i < rows.end; ++i)
      by_vectors(columns_, [&, from = x.data + i * x.step, to = row(i - rows.begin)](Dim j, Dim n) {
        prefetch_far(from + 8 * x.step + j);
        const Vec numbers = load(from + j, n);
        store(to + j, numbers);
        add_product(zeros, splat(Real(0)), numbers);
      });
    finite_ = isfinite(sum_of(zeros));
  }
  void write(StridedRowsOut x, IndexRange rows) const {
    for (Dim i = rows.begin; i < rows.end; ++i)
      by_vectors(columns_, [&, from = row(i - rows.begin), to = x.data + i * x.step](Dim j, Dim n) {
        prefetch_far(to + 8 * x.step + j);
        store(to + j, load(from + j), n);
      });
  }
  /// Whether no number that was read is infinite or NaN. Then a product with 0 is 0.
  bool is_finite() const { return finite_; }

 private:
  Dim columns_, step_;
  bool finite_ = true;
  Buffer numbers_;
};

/// The transposed of a table (rows, D), in panels: the right factor of products with it.
class TransposedPanels {
 public:
  TransposedPanels(Dim most_rows, Dim D) : width_(D), numbers_(panels_size(D, most_rows)) {}

  void pack(StridedRows x, IndexRange rows) {
    pack_panels({x.data + rows.begin * x.step, 1, x.step}, width_, rows.size(), numbers_.data());
  }
  /// s_ij = ⟨x_i, row j⟩ for the queries of a block and its keys, which are the packed rows. x
  /// points at the first query. Tiles that are hidden as a whole are not computed.
  void scores(const AttentionBlock& at, const Real* x, Dim x_step, PaddedMatrix& s) const {
    const IndexRange seen = at.seen();
    if (seen.size() == 0) return;  // its begin may lie beyond the columns of the block
    for (Dim j = seen.begin / tile_columns * tile_columns; j < seen.end; j += tile_columns)
      for (Dim i = 0; i < at.queries.size(); i += tile_rows) {
        const Dim rows = std::min(tile_rows, at.queries.size() - i);
        const IndexRange tile = at.seen_by(at.queries.begin + i, rows);
        if (tile.begin < j + tile_columns && tile.end > j)
          multiply(rows, {x + i * x_step, x_step, 1, numbers_.data() + j * width_, tile_columns,
                          width_, s.row(i) + j, s.step(), tile_columns});
      }
  }

 private:
  Dim width_;
  Buffer numbers_;
};

/// c_ij += Σ_p a_ip·b_pj, p = from.begin … from.end − 1. a points at p = 0, c has the step of b.
inline void add_products(Dim rows, const Real* a, Dim a_row, Dim a_step, IndexRange from,
                         const PaddedMatrix& b, Real* c) {
  if (from.size() <= 0) return;
  for (Dim j = 0; j < b.columns(); j += tile_columns)
    multiply(rows, {a + from.begin * a_step, a_row, a_step, b.row(from.begin) + j, b.step(),
                    from.size(), c + j, b.step(), tile_columns, Initial{c + j, b.step()}});
}

// Note [Hidden keys]: the rows of a tile see different keys. Where a row does not see a key of its
// tile, the weight in the table is 0, so the product adds 0 if the key is finite; 0·NaN is NaN. If b
// holds a number that is not finite, each tile has one row, and hidden keys are skipped.
inline Dim height_of(const PaddedMatrix& b) { return b.is_finite() ? tile_rows : Dim{1}; }

/// c_i += Σ_j w_ij·b_j over the keys of the block that query i sees, in increasing order. b has
/// a row for each key; c points at the row of the first query and has the step of b.
inline void add_weighted(const AttentionBlock& at, const PaddedMatrix& w, const PaddedMatrix& b,
                         Real* c) {
  const Dim height = height_of(b);
  for (Dim i = 0; i < at.queries.size(); i += height) {
    const Dim rows = std::min(height, at.queries.size() - i);
    add_products(rows, w.row(i), w.step(), 1, at.seen_by(at.queries.begin + i, rows), b,
                 c + i * b.step());
  }
}

/// c_j += Σ_i w_ij·b_i over the queries of the block that see j, in increasing order. b has a row
/// for each query, c for each key.
inline void add_weighted_transposed(const AttentionBlock& at, const PaddedMatrix& w,
                                    const PaddedMatrix& b, PaddedMatrix& c) {
  const Dim height = height_of(b), count = at.queries.size();
  const IndexRange* const spans = at.spans + at.queries.begin;
  const IndexRange seen = at.seen();
  IndexRange sees{0, 0};  // the queries that see a key of the tile are neighbours
  for (Dim j = seen.begin; j < seen.end; j += height) {
    const Dim rows = std::min(height, seen.end - j);
    while (sees.begin < count && spans[sees.begin].end <= at.keys.begin + j) ++sees.begin;
    while (sees.end < count && spans[sees.end].begin < at.keys.begin + j + rows) ++sees.end;
    add_products(rows, w.row(0) + j, 1, w.step(), sees, b, c.row(j));
  }
}

}  // namespace fledge::kernels
