// What a page can compute. It has 2 GB of memory and one core.
#pragma once

#include <algorithm>

#include "nn/gpt/config.h"
#include "nn/train/defaults.h"
#include "nn/train/step_cost.h"

namespace fledge {

/// The sizes of a model for which a page takes hundreds of steps in half a minute: not larger than
/// these, and at most 2 million numbers in the table of the vocabulary.
inline TrainingDefaults row_of_page(TrainingDefaults row, Dim vocabulary) {
  row.layers = std::min<Dim>(row.layers, 2), row.width = std::min<Dim>(row.width, 64);
  row.context = std::min<Dim>(row.context, 64), row.batch = std::min<Dim>(row.batch, 32);
  while (row.width > 16 && vocabulary * row.width > 2'000'000) row.width /= 2;
  return row;
}

/// Whether a page can take a step of the model and show all its weights of attention. Sizes in bytes
/// have 32 bits in a page, so that a size that is too large must not be computed.
inline bool fits_page(const LanguageModelSizes& sizes, Dim batch) {
  const auto number = [](Dim n) { return static_cast<double>(n); };
  const double T = number(sizes.context), L = number(sizes.layers),
               of_step = numbers_of_step(sizes, number(batch)) + 4 * parameter_count(sizes) +
                         2 * L * T * number(batch * sizes.hidden_width()),
               of_view = 4 * T * T * number(sizes.heads) * L;
  return 4 * (of_step + of_view) < 1.5e9;
}

}  // namespace fledge
