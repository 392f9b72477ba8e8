#include "examples/page/map_axes.h"

#include <cmath>

#include "engine/base/errors.h"
#include "nn/inspect/word_vectors.h"

namespace fledge::page {

Axes axes_of(const std::vector<double>& rows, Dim count, Dim width) {
  const auto C = static_cast<std::size_t>(width), n = static_cast<std::size_t>(count);
  require<ValueError>(rows.size() == n * C, "page", "the map of a snapshot must have ", n * C,
                      " numbers: got ", rows.size());
  Axes axes{std::vector<double>(C), std::vector<double>(C), std::vector<double>(C), 0};
  const TokenMap map = token_map(Array({count, width}, rows));
  axes.share = map.share;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < C; ++c) axes.mean[c] += rows[i * C + c] / static_cast<double>(n);
  // The coordinates are R·a for the centred rows R and an axis a, so a is Rᵀ·(R·a), normalised.
  const auto axis = [&](const std::vector<double>& coordinates, std::vector<double>& a) {
    double square = 0;
    for (std::size_t c = 0; c < C; ++c) {
      for (std::size_t i = 0; i < n; ++i) a[c] += (rows[i * C + c] - axes.mean[c]) * coordinates[i];
      square += a[c] * a[c];
    }
    for (double& number : a) number = square > 0 ? number / std::sqrt(square) : 0;
  };
  axis(map.x, axes.x);
  axis(map.y, axes.y);
  return axes;
}

std::vector<double> places_on(const Axes& axes, const std::vector<double>& rows) {
  const std::size_t C = axes.mean.size();
  std::vector<double> places;
  for (std::size_t at = 0; at + C <= rows.size(); at += C) {
    double x = 0, y = 0;
    for (std::size_t c = 0; c < C; ++c) {
      const double centred = rows[at + c] - axes.mean[c];
      x += centred * axes.x[c];
      y += centred * axes.y[c];
    }
    places.insert(places.end(), {x, y});
  }
  return places;
}

}  // namespace fledge::page
