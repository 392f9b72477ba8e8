#include "examples/exercises/graders/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "examples/support/text.h"

namespace exercises {

using fledge::Dim, fledge::Tensor;

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Row mixture(const Row& weights, const Matrix& values) {
  return matrix_of(matmul(tensor({weights}), tensor(values)))[0];
}

Row softmax_of(const Row& scores) { return matrix_of(softmax(tensor({scores})))[0]; }

bool is_near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

Tensor tensor(const Matrix& matrix) {
  Row numbers;
  for (const Row& row : matrix) numbers.insert(numbers.end(), row.begin(), row.end());
  return fledge::Array({static_cast<Dim>(matrix.size()), static_cast<Dim>(matrix[0].size())},
                       numbers);
}

Matrix matrix_of(const Tensor& tensor) {
  Matrix rows;
  for (Dim i = 0; i < tensor.dim(0); ++i)
    rows.push_back(to_vector(slice(tensor, 0, i, i + 1).value()));
  return rows;
}

double farthest(const Matrix& a, const Matrix& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      const double apart = std::abs(a[i][j] - b[i][j]);
      if (std::isnan(apart)) return std::numeric_limits<double>::infinity();
      most = std::max(most, apart);
    }
  return most;
}

std::string rounded(const Row& row, const char* format) {
  std::string text;
  for (const double number : row)
    text += (text.empty() ? "" : "  ") + support::formatted(format, number + 0.0);
  return text;
}

std::string with_decimals(double number, int decimals) {
  if (std::abs(number) >= 1e6) return support::formatted("%.6g", number);
  const bool is_zero = std::abs(number) < 0.5 * std::pow(10.0, -decimals);
  return support::formatted("%.*f", decimals, is_zero ? 0.0 : number);
}

Matrix word_values() { return {{0.1, 0.2, 0.3}, {-0.8, 0.3, -0.1}, {0.5, -0.1, -0.4}}; }

Row products_with_birds() {
  Row products;
  for (const Row& v : word_values()) products.push_back(dot(v, word_values()[0]));
  return products;
}

}  // namespace exercises
