// Softmax of rows of length n. y may be the same memory as x.
//
// The order in which a row is summed depends on its length alone. A masked row is summed as if its
// visible entries were side by side. So the bits of a row depend neither on other rows nor on the
// values and positions of hidden entries. Next: rows.cpp.
#pragma once

#include "engine/real.h"

namespace fledge::kernels {

/// log Σ exp(x) = top + log_total, top the largest x. They are two numbers, because their sum would
/// round log_total.
struct LogSum {
  Real top, log_total;
};

/// y = softmax(x) of one row
LogSum softmax_row(const Real* x, Real* y, Dim n);
/// dx = y ⊙ (dy − ⟨dy, y⟩) of one row
void softmax_row_vjp(const Real* y, const Real* dy, Real* dx, Dim n);

/// The same for every row, over the entries with visible = 1: the others are not read, and their y
/// and dx are 0. Without a table (nullptr) all entries are visible.
void softmax_rows(const Real* x, const unsigned char* visible, Real* y, Dim rows, Dim n);
void softmax_rows_vjp(const Real* y, const Real* dy, const unsigned char* visible, Real* dx,
                      Dim rows, Dim n);

}  // namespace fledge::kernels
