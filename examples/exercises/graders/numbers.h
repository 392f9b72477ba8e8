// Numbers of answers in the engine, and the three words of note 000.
//
// Used by the graders. The dual build computes as double does. Next: engine/ops.h.
#pragma once

#include <string>

#include "engine/ops.h"
#include "examples/exercises/exercise.h"

namespace exercises {

double dot(const Row& a, const Row& b);
/// Σ_j weights_j · values_j, a row.
Row mixture(const Row& weights, const Matrix& values);
/// exp(s_j) / Σ exp
Row softmax_of(const Row& scores);
bool is_near(double a, double b, double tolerance);

fledge::Tensor tensor(const Matrix& matrix);
Matrix matrix_of(const fledge::Tensor& tensor);  // (n, m)
/// The largest |a_ij − b_ij|; infinite if one of them is NaN.
double farthest(const Matrix& a, const Matrix& b);
/// "0.25  0.75" with the format "%.2f".
std::string rounded(const Row& row, const char* format);

/// "-0.2500" with four decimals; six digits from a million on; a zero has no sign.
std::string with_decimals(double number, int decimals = 4);

/// v1, v2 and v3 of 'birds', 'sometimes' and 'walk'.
Matrix word_values();
/// v_j·v1 for the three words: 0.14, −0.05 and −0.09.
Row products_with_birds();

}  // namespace exercises
