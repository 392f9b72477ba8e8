#include "engine/random_array.h"

namespace fledge {

Array random_uniform(const Shape& shape, double low, double high, Rng& rng) {
  Array draws(shape);
  Real* x = draws.write();
  for (Dim i = 0; i < draws.size(); ++i) x[i] = Real(low + (high - low) * rng.uniform());
  return draws;
}

Array random_normal(const Shape& shape, double mean, double deviation, Rng& rng) {
  Array draws(shape);
  Real* x = draws.write();
  for (Dim i = 0; i < draws.size(); ++i) x[i] = Real(mean + deviation * rng.normal());
  return draws;
}

}  // namespace fledge
