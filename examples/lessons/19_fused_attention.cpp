// Fused attention: five lines that are easy to read against one op, with the times of this machine.
//
// Works out no note. Adds to 18_make_it_fast the second loop in which a model spends its time, and
// the second way to be fast: not to write to memory at all. Key idea: the table of weights, words
// by words for each head, is the largest array in attention and no part of the result; a row of it
// can be made, used and dropped, and made again on the way back from two numbers (Dao et al. 2022).
// Claims are about results. Times are printed and never claimed: they are this machine's, today.
// Next: engine/ops/attention.cpp, engine/kernels/attention.cpp, small_head_attention.cpp.
#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/base/thread_pool.h"
#include "examples/fledge/bench/timing.h"
#include "examples/lessons/lesson.h"
#include "examples/support/peak_memory.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::peak_megabytes, support::Table;

constexpr Dim heads = 4, channels = 128;

/// The five lines of attend(), each an op that writes what it made to memory.
Tensor composed(const Tensor& qkv, const Mask& mask) {
  const std::vector<Tensor> parts = split(qkv, 3, -1);
  return attend(parts[0], parts[1], parts[2], heads, mask).output;
}
/// The same in one op.
Tensor fused(const Tensor& qkv, const Mask& mask) { return attention(qkv, heads, mask); }

/// What attention gave, the gradient of q, k and v side by side, and the seconds of both ways.
struct Run {
  Array y, dqkv;
  double seconds;
};

Run run(Tensor (*attends)(const Tensor& qkv, const Mask& mask), Dim words, const Mask& mask) {
  Rng rng(2);
  const Tensor qkv = parameter(random_normal({1, words, 3 * channels}, 0, 1, rng));
  const Array dy = random_normal({1, words, channels}, 0, 1, rng);
  Tensor y;
  const auto both_ways = [&] {
    qkv.zero_grad();
    y = attends(qkv, mask);
    backward(y, dy);
  };
  const double seconds = bench::median_seconds(both_ways, 0, 3);
  return {y.value(), qkv.grad(), seconds};
}

/// The largest |a - b| over the largest |b|.
double apart(const Tensor& a, const Tensor& b) {
  return std::sqrt(max((a - b) * (a - b)).item() / max(b * b).item());
}

void lesson(Lesson& to) {
  to.part("The same numbers");
  double worst = 0;
  for (const Mask& mask : {Mask(), causal(), window(50), causal() & window(50)}) {
    const Run a = run(composed, 200, mask), b = run(fused, 200, mask);
    worst = std::max({worst, apart(b.y, a.y), apart(b.dqkv, a.dqkv)});
  }
  to.claim(worst < 1e-5,
           formatted("four masks: y, dq, dk and dv agree within %.0e of the largest", worst));

  to.part("Time and memory, causal, forward and backward");
  const std::vector<Dim> lengths{256, 512, 1024};
  std::vector<Run> by_op, by_lines;
  const double before = peak_megabytes();
  for (const Dim words : lengths) by_op.push_back(run(fused, words, causal()));
  const double op_peak = peak_megabytes();
  for (const Dim words : lengths) by_lines.push_back(run(composed, words, causal()));
  const double lines_peak = peak_megabytes();
  const auto megabytes = [](Dim numbers) {
    return formatted("%.2f", static_cast<double>(numbers) * sizeof(Real) * 1e-6);
  };
  Table table({{"   words"},
               {"five lines, ms"},
               {"one op, ms"},
               {"ratio"},
               {"MB of one table"},
               {"MB the op keeps"}});
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Dim words = lengths[i];
    const double lines = by_lines[i].seconds * 1e3, op = by_op[i].seconds * 1e3;
    worst =
        std::max({worst, apart(by_op[i].y, by_lines[i].y), apart(by_op[i].dqkv, by_lines[i].dqkv)});
    table.row({formatted("   %d", static_cast<int>(words)), formatted("%.1f", lines),
               formatted("%.1f", op), formatted("%.1f", lines / op),
               megabytes(heads * words * words), megabytes(words * channels + 2 * heads * words)});
  }
  to.say(formatted("%d heads of %d channels, %d threads. One table: the weights of all heads.\n",
                   int{heads}, int{channels / heads}, threads()));
  to.show(table.text());
  to.say(formatted("Peak memory: %.0f MB before, %.0f with the op, %.0f with the five lines.\n",
                   before, op_peak, lines_peak));
  to.say(
      "The five lines write several such tables and the gradient of each to memory, and read them "
      "back. The op keeps y and two numbers for each row and head. It computes the weights of a few "
      "queries, uses them while they are cached, and computes them again in the backward pass.\n");
  to.claim(worst < 1e-5, formatted("the same numbers again, within %.0e of the largest", worst));
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "19_fused_attention",
                             "Attention in five lines and in one op, timed on this machine.",
                             fledge::lesson);
}
