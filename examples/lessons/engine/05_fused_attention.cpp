// Fused attention: five lines that are easy to read against one op, with the times of this machine.
//
// Key idea: the table of weights, words by words for each head, is the largest array in attention,
// and it is not part of the result. A row of it can be computed, used and dropped. The backward pass
// computes it again from two numbers (Dao et al. 2022). Claims are about results. Times are printed
// and never claimed: they are this machine's, today.
// Next: engine/ops/attention.cpp, engine/kernels/attention.cpp, small_head_attention.cpp.
#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/base/thread_pool.h"
#include "examples/fledge/bench/timing.h"
#include "examples/lessons/lesson_page.h"
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
  const double seconds = bench::median_seconds(both_ways, 3);
  return {y.value(), qkv.grad(), seconds};
}

/// The largest |a - b| over the largest |b|.
double apart(const Tensor& a, const Tensor& b) {
  return std::sqrt(max((a - b) * (a - b)).item() / max(b * b).item());
}

void lesson(Lesson& to) {
  to.part("The same numbers");
  to.say(
      "The plain program computes attention in five lines: scores, scale, softmax, weighted sum, "
      "heads side by side. Each of the first three writes a whole table, words by words for each "
      "head, to memory. The next line reads it.\n");
  to.define("fused attention",
            "Attention in one op that never writes the whole table of weights to memory.");
  to.say(
      "\nThe op takes a few queries at a time. It computes their weights, uses them, and drops "
      "them. We compare its result and its gradients with those of the five lines. We do it with "
      "four masks: none, the causal mask, one that hides words 50 or more places away, and both "
      "together.\n");
  double worst = 0;
  for (const Mask& mask : {Mask(), causal(), window(50), causal() & window(50)}) {
    const Run a = run(composed, 200, mask), b = run(fused, 200, mask);
    worst = std::max({worst, apart(b.y, a.y), apart(b.dqkv, a.dqkv)});
  }
  to.claim(worst < 1e-5,
           formatted("four masks: the largest difference is %.0e of the largest number", worst));

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
  to.say(formatted("%d heads of size %d, causal mask, %d processor core%s. ", int{heads},
                   int{channels / heads}, threads(), threads() == 1 ? "" : "s") +
         "One table has the weights of all heads, words times words. If the text is twice as long, "
         "the table is four times as large.\n");
  to.show(table.text());
  to.say(formatted(
      "The most memory in use up to that moment: %.0f MB at the start, %.0f when the op has "
      "finished, %.0f when the five lines have.\n",
      before, op_peak, lines_peak));
  to.say(
      "The five lines write several such tables, and later the gradient of each. The op keeps its "
      "result, which the gradients of the scores need, and two numbers for each query and head: "
      "the largest score of its row, and the logarithm of the sum of all exp(score - largest) in "
      "the row. (The largest is taken off so that no exp becomes too large.) The backward pass "
      "computes each score again from query and key. The weight is then exp(score - largest) / "
      "sum.\nIf you predicted that computing twice is slower, this is the surprise. Here it is "
      "faster. One reason can be that the op does not write and read large tables; the lesson "
      "measures only the whole.\n");
  to.claim(worst < 1e-5,
           formatted("the same results again: the largest difference is %.0e of the largest number",
                     worst));
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "engine/05_fused_attention",
       .title = "Fused attention: compute twice instead of writing once",
       .question =
           "Attention makes a table of weights with a number for each pair of words. Must this "
           "table ever exist?",
       .prediction =
           "For 1,024 words and 4 heads the table has 4 million numbers, or 17 MB (4 bytes each). "
           "One program keeps it. Another does not, and computes every weight twice. Which is "
           "faster?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.cpp", "attend", "the five lines"},
                   {"engine/ops/attention.cpp", "attention",
                    "the op, and one rule for the gradients of q, k and v"},
                   {"engine/kernels/attention.cpp", "attention_head", "a few queries at a time"}}});
}
