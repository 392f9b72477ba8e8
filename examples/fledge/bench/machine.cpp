#include "examples/fledge/bench/machine.h"

#include <algorithm>
#include <vector>

#include "engine/array_math.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd.h"

namespace fledge::bench {

namespace {

using kernels::lanes;
using kernels::Vec;

// A run of the multiply-adds takes 0.2 ms. With sixteen tasks a thread, the other threads take over
// those of a thread that is slow for a while, as they do in a product.
constexpr Dim tasks_per_thread = 16, rounds = 5'000;
// Independent sums: a multiply-add takes four or five cycles, and two start in each. With fourteen,
// a core of 2.8 GHz with vectors of 16 numbers reaches 178.5 GFLOP/s, with eight 175.7.
constexpr int chains = 14;

// Multiply-adds on registers alone. The result is returned so that the compiler does not remove
// them.
float multiply_add(float seed) {
  Vec sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = kernels::splat(seed + static_cast<float>(i));
  const Vec a = kernels::splat(0.999f), b = kernels::splat(0.001f);
  for (Dim round = 0; round < rounds; ++round)
    for (Vec& sum : sums) sum = sum * a + b;
  Vec total = sums[0];
  for (int i = 1; i < chains; ++i) total += sums[i];
  return kernels::sum_of(total);
}

// The sum of `size` numbers. Four streams side by side read 8 % faster than one: the processor
// fetches ahead in each.
float sum_of_numbers(const float* x, Dim size) {
  constexpr Dim streams = 4, vectors = 4;
  const Dim part = size / (streams * vectors * lanes) * vectors * lanes;  // of a stream
  Vec sums[streams][vectors] = {};
  for (Dim i = 0; i < part; i += vectors * lanes)
    for (Dim v = 0; v < vectors; ++v)
      for (Dim s = 0; s < streams; ++s) sums[s][v] += kernels::load(x + s * part + i + v * lanes);
  Vec total = kernels::splat(0);
  for (const auto& stream : sums)
    for (const Vec& sum : stream) total += sum;
  float sum = kernels::sum_of(total);
  for (Dim i = streams * part; i < size; ++i) sum += x[i];
  return sum;
}

struct Numbers {
  const float* first;
  Dim size;
};

// What a token needs of the weights, in pieces of at most 2 MB: all but the table of positions, and
// of that one row.
std::vector<Numbers> pieces_of_token(const LanguageModel& model) {
  constexpr Dim most = Dim{1} << 19;
  std::vector<Numbers> pieces;
  const auto add = [&](const float* numbers, Dim size) {
    for (Dim i = 0; i < size; i += most) pieces.push_back({numbers + i, std::min(most, size - i)});
  };
  const float* const positions = model.wpe.weight.value().data();
  for (const Tensor& weight : parameters(model)) {
    const float* const numbers = weight.value().data();
    add(numbers, numbers == positions ? model.sizes.width : weight.size());
  }
  return pieces;
}

}  // namespace

Limit multiply_adds(double flops) {
  const Dim tasks = threads() * tasks_per_thread;
  const auto run = [tasks] {
    Array sums({tasks});
    float* const to = sums.write();
    kernels::parallel_for(tasks, kernels::blocking.serial_work,
                          [&](Dim i) { to[i] = multiply_add(static_cast<float>(i)); });
  };
  return {"multiply-adds", run,
          flops / (2.0 * static_cast<double>(tasks * rounds * chains * lanes))};
}

Limit memory(const Array& x, const Array& dy) {
  return {"memory", [x, dy] {
            const Array y = map(x, [](float number) { return number + 1; });
            const Array dx = dy + y;
          }};
}

Limit reading(const LanguageModel& model) {
  const std::vector<Numbers> pieces = pieces_of_token(model);
  const Dim count = static_cast<Dim>(pieces.size());
  const Dim work = static_cast<Dim>(bytes_of_token(model)) / Dim{sizeof(float)};
  return {"reading", [model, pieces, count, work] {
            Array sums({count});
            float* const to = sums.write();
            kernels::parallel_for(count, work, [&](Dim i) {
              const Numbers& piece = pieces[static_cast<std::size_t>(i)];
              to[i] = sum_of_numbers(piece.first, piece.size);
            });
          }};
}

double bytes_of_token(const LanguageModel& model) {
  Dim numbers = 0;
  for (const Numbers& piece : pieces_of_token(model)) numbers += piece.size;
  return static_cast<double>(numbers) * sizeof(float);
}

}  // namespace fledge::bench
