// The graders of exercises 19 to 24, which build the engine. An answer is code: it is tried, and what it
// gives is compared with the right result and with that of each known mistake.
#include "engine/autograd.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/ops.h"
#include "examples/exercises/graders/grading.h"

namespace exercises {

using fledge::Array, fledge::Dim, fledge::random_normal;

namespace {

/// What f returns. If the engine throws, prints its message: the answer cannot be checked.
template <class F>
auto attempt(Grading& to, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::exception& error) {
    to.let("problem", error.what());
    to.refuse("thrown");
    return {};
  }
}

/// ask() for what an answer's code returns; zeros if it is not a matrix of this size.
Tensor ask(Grading& to, const std::string& key, const Tensor& answer, Dim rows, Dim columns) {
  const Row numbers = answer.exists() ? numbers_of(answer) : Row{};
  Matrix matrix{numbers};
  if (answer.exists() && answer.rank() == 2) {
    matrix.clear();
    const auto width = static_cast<std::ptrdiff_t>(answer.dim(1));
    for (auto row = numbers.begin(); row != numbers.end(); row += width)
      matrix.emplace_back(row, row + width);
  }
  return to.ask(key, matrix, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

/// gradcheck() of an op with the rules of an answer.
void claim_check(Grading& to, const std::function<Tensor(const std::vector<Tensor>&)>& op,
                 const std::vector<Array>& inputs) {
  std::string problem;
  try {
    problem = fledge::gradcheck(op, inputs).problem;
  } catch (const std::exception& error) {
    problem = error.what();
  }
  to.let("problem", problem);
  to.claim("check", problem.empty());
}

// -- 19: a tape ------------------------------------------------------------------------------------
using Added = double (*)(double sum, double gradient, double slope);
double right_sum(double sum, double gradient, double slope) { return sum + gradient * slope; }

Row pulled(Tape tape, bool newest_first, Added added) {
  tape.back().gradient = 1;
  for (std::size_t n = 0; n < tape.size(); ++n) {
    const Node node = tape[newest_first ? tape.size() - 1 - n : n];
    for (const Edge& edge : node.edges)
      tape[edge.input].gradient = added(tape[edge.input].gradient, node.gradient, edge.slope);
  }
  Row gradients;
  for (const Node& node : tape) gradients.push_back(node.gradient);
  return gradients;
}

void tape(Grading& to) {
  const Node node = product({{3}, {5}}, 0, 1);
  Tape square{{4}, {16, {{0, 4}, {0, 4}}}, {20, {{1, 1}, {0, 1}}}};  // a, a·a, a·a + a
  Tape twice{{3}, {9, {{0, 3}, {0, 3}}}, {18, {{1, 1}, {1, 1}}}};    // x, s = x·x, s + s
  const auto is = [](const Row& yours, const Tape& of, bool newest_first, Added added) {
    return yours == pulled(of, newest_first, added);
  };
  const Tape blank = square, blank_twice = twice;
  pull_back(square);
  pull_back(twice);
  Row slopes, yours, yours_twice;
  for (const Edge& edge : node.edges) slopes.push_back(edge.slope);
  for (const Node& each : square) yours.push_back(each.gradient);
  for (const Node& each : twice) yours_twice.push_back(each.gradient);
  to.ask("slopes", slopes, 2);
  to.ask("gradients", yours, 3);
  to.ask("gradients twice", yours_twice, 3);
  if (!to.accepted()) return;
  to.claim("slopes right", slopes == Row{5, 3}, {{"own", slopes == Row{3, 5}}});
  to.let("seed", yours[2], "twice", yours_twice[0]);
  to.claim("seed right", yours[2] == 1);
  to.claim(
      "square", is(yours, blank, true, right_sum),
      {{"nothing", yours[0] == 0 && yours[1] == 0},
       {"oldest", is(yours, blank, false, right_sum)},
       {"overwritten", is(yours, blank, true, [](double, double g, double s) { return g * s; })},
       {"unsloped", is(yours, blank, true, [](double y, double g, double) { return y + g; })}});
  to.claim("both", is(yours_twice, blank_twice, true, right_sum),
           {{"slope alone",
             is(yours_twice, blank_twice, true, [](double y, double, double s) { return y + s; })},
            {"passed on", yours_twice[0] == 18}});
}

// -- 20 and 21: rules ------------------------------------------------------------------------------
void rule_of_matmul(Grading& to) {
  const Tensor A = tensor({{1, 2}, {3, 4}}), B = tensor({{5, 6}, {7, 9}}),
               dC = tensor({{1, 0}, {2, -1}});
  const Tensor dA = attempt(to, [&] { return gradient_of_a(A, B, dC); }),
               dB = attempt(to, [&] { return gradient_of_b(A, B, dC); });
  if (!to.accepted()) return;
  const Tensor yours[] = {ask(to, "dA", dA, 2, 2), ask(to, "dB", dB, 2, 2)};
  if (!to.accepted()) return;
  const Tensor right[] = {matmul(dC, transpose(B)), matmul(transpose(A), dC)};
  const Tensor untransposed[] = {matmul(dC, B), matmul(A, dC)};
  const Tensor reversed[] = {matmul(transpose(B), dC), matmul(dC, transpose(A))};
  const char* const names[] = {"dA", "dB"};
  for (int i = 0; i < 2; ++i) {
    to.let("which", names[i]);
    to.claim("right", is_near(yours[i], right[i], 1e-9),
             {{"untransposed", is_near(yours[i], untransposed[i], 1e-9)},
              {"reversed", is_near(yours[i], reversed[i], 1e-9)},
              {"mirrored", is_near(yours[i], transpose(right[i]), 1e-9)}});
  }
  const auto op = [](const std::vector<Tensor>& in) {
    const Array a = in[0].value(), b = in[1].value();
    const auto rule_a = [=](const Array& dy) { return gradient_of_a(a, b, dy).value(); };
    const auto rule_b = [=](const Array& dy) { return gradient_of_b(a, b, dy).value(); };
    return record("matmul", matmul(a, b).value(), wrt(in[0], rule_a), wrt(in[1], rule_b));
  };
  fledge::Rng rng(1);
  claim_check(to, op, {random_normal({2, 3}, 0, 1, rng), random_normal({3, 4}, 0, 1, rng)});
}

void rule_of_softmax(Grading& to) {
  const Tensor y = tensor({{0.5, 0.25, 0.25}, {0.1, 0.2, 0.7}}),
               dy = tensor({{1, 2, 0}, {0, 1, 3}});
  const Tensor answer = attempt(to, [&] { return softmax_rule(y, dy); });
  if (!to.accepted()) return;
  const Tensor yours = ask(to, "dx", answer, 2, 3);
  if (!to.accepted()) return;
  const auto is = [&](const Tensor& formula) { return is_near(yours, formula, 1e-9); };
  const Tensor part = dy * y, of_row = sum(part, {1}, true), right = y * (dy - of_row);
  const Row sums = numbers_of(sum(yours, {1}));
  to.let("sum", std::abs(sums[0]) > 1e-9 ? sums[0] : sums[1]);
  to.claim("zero", is_near(tensor({sums}), 0, 1e-9));
  to.claim("right", is(right),
           {{"no sum", is(part)},
            {"own", is(part * (1 - y))},
            {"all rows", is(y * (dy - sum(part)))},
            {"columns", is(y * (dy - sum(part, {0}, true)))},
            {"unweighted", is(y * (dy - sum(dy, {1}, true)))},
            {"bare", is(dy - of_row)},
            {"sign", is(-right)}});
  fledge::Rng rng(1);
  claim_check(to,
              [](const std::vector<Tensor>& in) {
                const Array weights = softmax(in[0].value()).value();
                const auto rule = [=](const Array& d) { return softmax_rule(weights, d).value(); };
                return record("softmax", weights, wrt(in[0], rule));
              },
              {random_normal({2, 3}, 0, 1, rng)});
}

// -- 22 and 23: attention, and its mask ------------------------------------------------------------
void attention_by_hand(Grading& to) {
  const Tensor q = tensor({{2, 0, 0, 0}, {0, 2, 0, 2}, {1, 1, 0, 0}}),
               k = tensor({{1, 0, 1, 0}, {0, 2, 0, 0}, {3, 1, 0, 0}}),
               v = tensor({{1, 0, 0, 2}, {0, 1, 0, 3}, {0, 0, 1, 4}});
  const Attention yours = attempt(to, [&] { return attend(q, k, v); });
  if (!to.accepted()) return;
  const Tensor s = ask(to, "scores", yours.scores, 3, 3),
               a = ask(to, "weights", yours.weights, 3, 3),
               y = ask(to, "output", yours.output, 3, 4);
  if (!to.accepted()) return;
  const Tensor products = matmul(q, transpose(k));
  const auto is = [](const Tensor& x, const Tensor& wanted) { return is_near(x, wanted, 1e-9); };
  to.claim("scores right", is(s, products / 2.0),
           {{"unscaled", is(s, products)},
            {"by d", is(s, products / 4.0)},
            {"mirrored", is(s, transpose(products) / 2.0)}});
  to.claim("weights right", is(a, softmax(s)),
           {{"scores", is(a, s)},
            {"columns", is(a, transpose(softmax(transpose(s))))},
            {"undivided", is(a, exp(s))}});
  to.claim("output right", is(y, matmul(a, v)),
           {{"mirrored", is(y, matmul(transpose(a), v))}, {"keys", is(y, matmul(a, k))}});
  to.claim("engine", is(y, attention(q, k, v, 1, fledge::Mask())));
}

void mask_by_hand(Grading& to) {
  const std::vector<int> sentence{1, 1, 2, 2};
  Matrix given(4, Row(4)), right(4, Row(4));
  bool is_choice = true, later = false, other = false, self = false;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      const double answer = given[i][j] = is_seen(sentence, i, j),
                   must = right[i][j] = j <= i && sentence[i] == sentence[j] ? 1 : 0;
      is_choice = is_choice && (answer == 0 || answer == 1);
      later = later || (answer > must && j > i);
      other = other || (answer > must && j < i);
      self = self || (answer < must && j == i);
    }
  const Tensor seen = tensor(right), hidden = 1 - seen,
               scores = log(tensor({{1, 2, 3, 4}, {3, 1, 2, 2}, {2, 4, 1, 1}, {1, 2, 4, 1}}));
  const Tensor answer = attempt(to, [&] { return masked_weights(scores, seen); }),
               with_1000 =
                   attempt(to, [&] { return masked_weights(scores * seen + 1000 * hidden, seen); });
  to.ask("seen", given, 4, 4);
  if (!to.accepted()) return;
  if (!is_choice) return to.refuse("choice");
  const Tensor yours = ask(to, "weights", answer, 4, 4);
  if (!to.accepted()) return;
  to.claim("seen right", given == right, {{"later", later}, {"other", other}, {"self", self}});
  const Tensor all = softmax(scores);
  const double largest = max(yours * hidden).item();
  to.let("hidden", largest);
  to.claim("row sum", is_near(sum(yours, {1}), 1, 1e-9),
           {{"after", is_near(yours, all * seen, 1e-9)}});
  to.claim("zero", largest == 0,
           {{"score", is_near(yours, softmax(scores * seen), 1e-9)}, {"small", largest < 0.01}});
  to.claim("unread", is_near(with_1000, yours, 1e-9));
  to.claim("same", is_near(yours, softmax(where(seen.value(), scores, -INFINITY)), 1e-9));
}

// -- 24: a training step ---------------------------------------------------------------------------
void training(Grading& to) {
  const Tensor x = tensor({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}),
               start = tensor({{0, 1, 0}, {1, 0, 0}, {0, 0, 1}});
  const fledge::Indices next{1, 2, 0};
  const double rate = 0.4;
  const auto loss_of = [&](const Tensor& W) { return cross_entropy(matmul(x, W), next); };
  const auto gradient = [&](const Tensor& numbers) {
    const Tensor W = fledge::parameter(numbers.value().clone());
    backward(loss_of(W));
    return Tensor(W.grad());
  };
  const Tensor W = fledge::parameter(start.value().clone());
  Row losses;
  std::vector<Tensor> after;
  for (int step = 0; step < 20 && to.accepted(); ++step) {
    losses.push_back(attempt(to, [&] { return training_step(W, x, next, rate); }));
    after.emplace_back(W.value().clone());
  }
  if (!to.accepted()) return;
  const Row shown{losses[0], losses[1], losses[2], losses[19]};
  to.ask("losses", shown, 4);
  if (!to.accepted()) return;
  const Tensor first = gradient(start), second = gradient(after[0]);
  const auto is = [](const Tensor& a, const Tensor& b) { return is_near(a, b, 1e-9); };
  const double loss = loss_of(start).item();
  to.let("loss", loss, "last", losses[19]);
  to.claim("loss right", is(losses[0], loss),
           {{"sum", is(losses[0], 3 * loss)}, {"sign", is(losses[0], -loss)}});
  to.claim("first", is(after[0], start - rate * first),
           {{"still", is(after[0], start)},
            {"sign", is(after[0], start + rate * first)},
            {"rate", is(after[0], start - first)},
            {"double", is(after[0], start - 2 * rate * first)}});
  to.claim("second", is(after[1], after[0] - rate * second),
           {{"kept", is(after[1], after[0] - rate * (first + second))}});
  to.claim("falls", std::is_sorted(losses.rbegin(), losses.rend()) && losses[19] < losses[0]);
}

}  // namespace

std::vector<Grader*> engine_graders() {
  return {tape, rule_of_matmul, rule_of_softmax, attention_by_hand, mask_by_hand, training};
}

}  // namespace exercises
