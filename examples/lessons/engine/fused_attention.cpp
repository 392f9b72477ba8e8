// Fused attention: five lines that are easy to read against one op (Dao et al. 2022), with the
// times of this machine. Times are printed and never claimed.
#include "engine/base/thread_pool.h"
#include "examples/fledge/timing.h"
#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_fused_attention {

constexpr Dim heads = 4, channels = 128;
const Mask no_mask;

/// (1, T, H·D) -> (1, H, T, D)
Tensor by_heads(const Tensor& x) {
  return transpose(reshape(x, {1, x.dim(1), heads, channels / heads}), 1, 2);
}

/// Each of the first three lines writes a table of all pairs to memory.
Tensor five_lines(const Tensor& qkv, const Mask& mask) {
  const std::vector<Tensor> parts = split(qkv, 3, -1);
  const Tensor scores = matmul(by_heads(parts[0]), transpose(by_heads(parts[1])));
  const Tensor scaled = scores / std::sqrt(channels / heads);
  const Tensor weights = &mask == &no_mask ? softmax(scaled) : softmax(scaled, mask);
  const Tensor mixed = matmul(weights, by_heads(parts[2]));
  return reshape(transpose(mixed, 1, 2), {1, qkv.dim(1), channels});
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
  const Tensor qkv = parameter(normal({1, words, 3 * channels}, rng));
  const Array dy = normal({1, words, channels}, rng);
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

void lesson(LessonText& to) {
  double worst = 0;
  for (const Mask& mask : {Mask(), causal(), window(50), causal() & window(50)}) {
    const Run a = run(five_lines, 200, mask), b = run(fused, 200, mask);
    worst = std::max({worst, apart(b.y, a.y), apart(b.dqkv, a.dqkv)});
  }
  to.set("worst of masks", worst);
  to.claim("masks", worst < 1e-5);

  const std::vector<Dim> lengths{256, 512, 1024};
  std::vector<Run> by_op, by_lines;
  const double before = support::peak_megabytes();
  for (const Dim words : lengths) by_op.push_back(run(fused, words, causal()));
  const double op_peak = support::peak_megabytes();
  for (const Dim words : lengths) by_lines.push_back(run(five_lines, words, causal()));
  const double lines_peak = support::peak_megabytes();
  const auto megabytes = [](Dim numbers) {
    return static_cast<double>(numbers) * sizeof(Real) * 1e-6;
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
    table.row("   %d | %.1f | %.1f | %.1f | %.2f | %.2f", int(words), lines, op, lines / op,
              megabytes(heads * words * words), megabytes(words * channels + 2 * heads * words));
  }
  to.set_all("heads", std::to_string(heads), "head size", std::to_string(channels / heads),
             "threads", threads(), "s", std::string(threads() == 1 ? "" : "s"), "times", table,
             "before", before, "after the op", op_peak, "after five lines", lines_peak,
             "worst of lengths", worst, "no mask",
             run(five_lines, 1024, no_mask).seconds / run(fused, 1024, no_mask).seconds);
  to.claim("lengths", worst < 1e-5);
}

const LessonProgram program({lesson});

}  // namespace fledge::lessons::in_fused_attention
