// Many heads: two questions at once, and how the results of heads are joined.
#include "examples/lessons/attention/reader.h"

namespace fledge::lessons::in_many_heads {
using reader::Question, reader::Reader;

// Which word stands before this one? Which word is the first? Asked from the third word on.
const std::vector<Question> questions{[](Dim t) { return t < 2 ? -1 : t - 1; },
                                      [](Dim t) { return t < 2 ? -1 : 0; }};

/// The answers of models with one head, at each word that has questions.
struct Answers {
  int all = 0, wrong = 0;
  int exchanged = 0;       // wrong, and the right answer to the other question
  int right_if_equal = 0;  // if both words get the mean of their two weights
};

/// Counts the answers of a model with one head. Returns the mean distance of the two weights.
double count_answers(const Reader& one, const Indices& texts, Answers& found) {
  const NoGrad no_grad;
  constexpr Dim T = reader::T;
  const Dim B = texts.size() / T;
  const AttentionOutput attended = one.forward_with_weights(texts);
  const Tensor A = reshape(attended.weights, {B, T, T});
  std::vector<double> equal = to_vector(A.value());
  double apart = 0;
  for (Dim row = 0; row < B * T; ++row) {
    const Dim t = row % T;
    if (t < 2) continue;
    double& previous = equal[static_cast<std::size_t>(row * T + t - 1)];
    double& first = equal[static_cast<std::size_t>(row * T)];
    apart += std::abs(previous - first) / static_cast<double>(B * (T - 2));
    previous = first = (previous + first) / 2;
  }
  const Tensor values = split(one.attention.c_attn(one.source(texts)), 2, -1)[1];  // (B, T, C)
  const Tensor mixed = one.attention.c_proj(matmul(Tensor(Array({B, T, T}, equal)), values));
  for (std::size_t q = 0; q < 2; ++q) {
    const Indices given = argmax(split(attended.output, 2, -1)[q]);  // (B, T)
    const Indices if_equal = argmax(split(mixed, 2, -1)[q]);
    for (Dim b = 0; b < B; ++b)
      for (Dim t = 2; t < T; ++t) {
        const Dim right = texts[b * T + questions[q](t)];
        const Dim other = texts[b * T + questions[1 - q](t)];
        const Dim word = given[b * T + t];
        found.all += 1;
        found.wrong += word != right ? 1 : 0;
        found.exchanged += word != right && word == other ? 1 : 0;
        found.right_if_equal += if_equal[b * T + t] == right ? 1 : 0;
      }
  }
  return apart;
}

void two_questions(LessonText& to) {
  const Indices unseen = reader::unseen_texts();
  constexpr int seeds = 20;
  int right = 0, apart = 0, first_by_head_1 = 0;
  double best_alone = 0;
  Answers one_head;
  Table with_two = Table::of_numbers(
      {"   seed", "1: prev.", "1: first", "2: prev.", "2: first", "right: prev.", "right: first"});
  Table with_one = Table::of_numbers(
      {"   seed", "one: prev.", "one: first", "apart by", "right: prev.", "right: first"});
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Reader two = reader::trained(2, questions, true, Rng(seed));
    const Reader one = reader::trained(1, questions, true, Rng(seed));
    const std::vector<double> a = reader::looks(two, unseen, 0), b = reader::looks(two, unseen, 1);
    const std::vector<double> both = reader::accuracy(two, unseen);
    const std::vector<double> alone = reader::accuracy(one, unseen);
    right += both[0] >= 0.99 && both[1] >= 0.99 ? 1 : 0;
    apart += std::max(std::min(a[0], b[1]), std::min(a[1], b[0])) > 0.8 ? 1 : 0;
    first_by_head_1 += a[0] < b[0] ? 1 : 0;
    best_alone = std::max(best_alone, std::min(alone[0], alone[1]));
    const double distance = count_answers(one, unseen, one_head);
    if (seed > 4) continue;
    const std::vector<double> c = reader::looks(one, unseen, 0);
    with_two.row("   %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f", int(seed), a[0], a[1], b[0],
                 b[1], both[0], both[1]);
    with_one.row("   %d | %.2f | %.2f | %.2f | %.2f | %.2f", int(seed), c[0], c[1], distance,
                 alone[0], alone[1]);
  }
  const auto percent = [&](int count) { return formatted("%.0f %%", 100. * count / one_head.all); };
  to.set_all("two heads", with_two, "apart", apart, "first by head 1", first_by_head_1, "one head",
             with_one, "right", percent(one_head.all - one_head.wrong), "wrong",
             thousands(one_head.wrong), "exchanged", thousands(one_head.exchanged),
             "right if equal", percent(one_head.right_if_equal), "best alone", best_alone);
  to.claim_rate("two heads", right, seeds, 18);
  to.claim_rate("roles", apart, seeds, 17);
  to.claim("either head", first_by_head_1 > 0 && first_by_head_1 < seeds);
  to.claim("worse question", best_alone < 0.98);
  to.claim("other word", one_head.exchanged > 0.95 * one_head.wrong);
  to.claim("equal weights", one_head.right_if_equal < 0.6 * one_head.all);
}

/// Two heads of size 1: their numbers 2 and 5, and their rows of value-up.
void side_by_side(LessonText& to) {
  const Tensor results(Array({1, 2}, {2, 5})), up(Array({2, 3}, {1, 0, 3, 0, 1, 1}));
  const Tensor first = matmul(slice(results, 1, 0, 1), slice(up, 0, 0, 1));
  const Tensor second = matmul(slice(results, 1, 1, 2), slice(up, 0, 1, 2));
  const auto shown = [](const Tensor& x) {
    return formatted("(%.0f, %.0f, %.0f)", number(x, 0), number(x, 1), number(x, 2));
  };
  to.set_all("added", shown(first + second), "side by side", shown(matmul(results, up)));
}

void down_and_up(LessonText& to) {
  constexpr Dim n = 12, d = 3, words = 5;  // four heads
  side_by_side(to);
  Rng rng(2);
  const Attention attention(n, n / d, rng, Bias::without);
  const Tensor x = normal({words, n}, rng);
  const auto [joined, weights] = attention.forward_with_weights(x, causal());
  Tensor by_head = 0.0, whole = 0.0, both, down, up;
  for (Dim h = 0; h < n / d; ++h) {
    const Tensor A = reshape(slice(weights, 0, h, h + 1), {words, words});
    down = slice(attention.c_attn.weight, 1, 2 * n + h * d, 2 * n + (h + 1) * d);
    up = slice(attention.c_proj.weight, 0, h * d, (h + 1) * d);
    both = matmul(down, up);
    by_head = by_head + matmul(matmul(A, matmul(x, down)), up);
    whole = whole + matmul(A, matmul(x, both));
  }
  to.claim("side by side", largest(by_head - joined) < 1e-14);
  to.set_all("in W_V and W_O", down.size() + up.size(), "in one", both.size());
  to.claim("same sum", largest(whole - joined) < 1e-14);
  const Tensor in_columns = matmul(transpose(up), matmul(transpose(down), transpose(x)));
  to.claim("columns", largest(transpose(in_columns) - matmul(x, both)) < 1e-14);
}

const LessonProgram program({two_questions, down_and_up});

}  // namespace fledge::lessons::in_many_heads
