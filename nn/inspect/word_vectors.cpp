#include "nn/inspect/word_vectors.h"

namespace fledge {

namespace {

using Vector = std::vector<double>;

double product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The vector with length 1; zeros stay zeros.
Vector normalised(Vector v) {
  const double length = std::sqrt(product(v, v));
  for (double& number : v) number = length > 0 ? number / length : 0;
  return v;
}

std::vector<Vector> rows_of(const Array& table, Dim most) {
  const Dim V = std::min(table.dim(0), most), C = table.dim(1);
  std::vector<Vector> rows;
  for (Dim v = 0; v < V; ++v) {
    rows.emplace_back();
    for (Dim c = 0; c < C; ++c) rows.back().push_back(value_of(table[v * C + c]));
  }
  return rows;
}

void keep_most_similar(std::vector<SimilarTokens>& found, Dim count) {
  const auto is_before = [](const SimilarTokens& x, const SimilarTokens& y) {
    return x.cosine != y.cosine ? x.cosine > y.cosine : x.a != y.a ? x.a < y.a : x.b < y.b;
  };
  const auto kept = std::min(static_cast<std::size_t>(count), found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                    is_before);
  found.resize(kept);
}

// The direction in which the rows vary most; zeros if they do not vary.
Vector first_component(const std::vector<Vector>& rows) {
  constexpr int rounds = 200;
  Rng rng(1);
  Vector direction;
  for (std::size_t c = 0; c < rows[0].size(); ++c) direction.push_back(rng.normal());
  direction = normalised(direction);
  for (int round = 0; round < rounds; ++round) {
    Vector next(direction.size());
    for (const Vector& row : rows) {
      const double along = product(row, direction);
      for (std::size_t c = 0; c < row.size(); ++c) next[c] += along * row[c];
    }
    direction = normalised(next);
  }
  const auto largest = std::max_element(direction.begin(), direction.end(), [](double a, double b) {
    return std::abs(a) < std::abs(b);
  });
  if (*largest < 0)
    for (double& number : direction) number = -number;
  return direction;
}

// The coordinate of each row along the direction, which is then taken out of the row.
Vector taken_out(std::vector<Vector>& rows, const Vector& direction) {
  Vector coordinates;
  for (Vector& row : rows) {
    coordinates.push_back(product(row, direction));
    for (std::size_t c = 0; c < row.size(); ++c) row[c] -= coordinates.back() * direction[c];
  }
  return coordinates;
}

}  // namespace

std::vector<SimilarTokens> nearest_tokens(const Array& table, Dim token, Dim count) {
  require<ValueError>(token >= 0 && token < table.dim(0), "nearest_tokens", "token ", token,
                      " is outside a vocabulary of ", table.dim(0));
  const std::vector<Vector> rows = rows_of(table, table.dim(0));
  const Vector own = normalised(rows[static_cast<std::size_t>(token)]);
  std::vector<SimilarTokens> found;
  for (Dim other = 0; other < table.dim(0); ++other)
    if (other != token)
      found.push_back(
          {token, other, product(own, normalised(rows[static_cast<std::size_t>(other)]))});
  keep_most_similar(found, count);
  return found;
}

std::vector<SimilarTokens> most_similar_pairs(const Array& table, Dim count, Dim most_tokens) {
  std::vector<Vector> rows = rows_of(table, most_tokens);
  for (Vector& row : rows) row = normalised(std::move(row));
  std::vector<SimilarTokens> found;
  for (std::size_t a = 0; a < rows.size(); ++a) {
    for (std::size_t b = a + 1; b < rows.size(); ++b)
      found.push_back({static_cast<Dim>(a), static_cast<Dim>(b), product(rows[a], rows[b])});
    if (found.size() > 1'000'000) keep_most_similar(found, count);
  }
  keep_most_similar(found, count);
  return found;
}

TokenMap token_map(const Array& table) {
  std::vector<Vector> rows = rows_of(table, table.dim(0));
  if (rows.empty()) return {};
  Vector mean(rows[0].size());
  for (const Vector& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      mean[c] += row[c] / static_cast<double>(rows.size());
  double variance = 0;
  for (Vector& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) row[c] -= mean[c];
    variance += product(row, row);
  }
  TokenMap map;
  map.x = taken_out(rows, first_component(rows));
  double rest = 0;
  for (const Vector& row : rows) rest += product(row, row);
  // Rounding leaves about 1e-16 of the variance; it has no direction.
  const bool is_plane = rest > 1e-12 * variance;
  map.y = is_plane ? taken_out(rows, first_component(rows)) : Vector(rows.size());
  if (variance > 0) map.share = (product(map.x, map.x) + product(map.y, map.y)) / variance;
  return map;
}

}  // namespace fledge
