// Why backward() visits the newest node first. A tape whose backward pass takes the order as an
// argument: every order of two small graphs is tried, and the newest first for random graphs.
#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_newest_first {

using Order = std::vector<std::size_t>;

/// Sums alone: entry i is the sum of its inputs, which stand before it; entry 0 is a. So the
/// derivative of an entry with respect to a is the number of paths from the entry down to a.
using Tape = std::vector<std::vector<std::size_t>>;

const Tape chain{{}, {0, 0}, {1, 1}};         // b = a + a    c = b + b
const Tape fork{{}, {0, 0}, {1, 0}, {1, 2}};  // b = a + a    c = b + a    d = b + c

/// The gradient of a: each entry, when its turn comes, passes on what it has received so far.
long gradient_of_a(const Tape& tape, const Order& order) {
  std::vector<long> gradient(tape.size());
  gradient.back() = 1;
  for (const std::size_t entry : order)
    for (const std::size_t input : tape[entry]) gradient[input] += gradient[entry];
  return gradient[0];
}

/// The right value by another way, from the oldest to the newest: each entry's paths down to a.
long paths_to_a(const Tape& tape) {
  std::vector<long> paths{1};
  for (std::size_t i = 1; i < tape.size(); ++i) {
    paths.push_back(0);
    for (const std::size_t input : tape[i]) paths[i] += paths[input];
  }
  return paths.back();
}

Order newest_first(const Tape& tape) {
  Order order(tape.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  return order;
}

/// Whether each entry that passes something on comes after all entries that use it.
bool users_first(const Tape& tape, const Order& order) {
  std::vector<bool> visited(tape.size());
  for (const std::size_t entry : order) {
    visited[entry] = true;
    for (const std::size_t input : tape[entry])
      if (visited[input] && !tape[input].empty()) return false;
  }
  return true;
}

/// The engine's own: the same sums of tensors.
double by_the_engine(const Tape& tape) {
  std::vector<Tensor> values{parameter(Array(Shape{}, {1}))};
  for (std::size_t i = 1; i < tape.size(); ++i) {
    Tensor total = values[tape[i][0]];
    for (std::size_t k = 1; k < tape[i].size(); ++k) total = total + values[tape[i][k]];
    values.push_back(total);
  }
  backward(values.back());
  return value_of(values[0].grad()[0]);
}

/// How many of all orders give the right gradient, and whether these are those that visit users first.
struct Tried {
  int orders = 0, right = 0;
  bool are_users_first = true;
  std::string examples;  // a line for each order of the chain
};
Tried try_all_orders(const Tape& tape) {
  Tried tried;
  Order order = newest_first(tape);
  std::sort(order.begin(), order.end());
  do {
    const long gradient = gradient_of_a(tape, order);
    const bool is_right = gradient == paths_to_a(tape);
    ++tried.orders;
    tried.right += is_right ? 1 : 0;
    tried.are_users_first &= is_right == users_first(tape, order);
    tried.examples += "  ";
    for (const std::size_t entry : order) tried.examples += std::string(" ") + "abcd"[entry];
    tried.examples += formatted("    dc/da = %ld\n", gradient);
  } while (std::next_permutation(order.begin(), order.end()));
  return tried;
}

void all_orders(LessonText& to) {
  const Tried two = try_all_orders(chain), three = try_all_orders(fork);
  to.set_all("orders", two.examples, "by the engine", by_the_engine(chain), "orders of d",
             three.orders, "right orders of d", three.right, "dd/da", paths_to_a(fork));
  to.claim("right", gradient_of_a(chain, newest_first(chain)) == 4);
  to.claim("oldest", gradient_of_a(chain, {0, 1, 2}) == 0);
  to.claim("engine", by_the_engine(chain) == 4);
  to.claim("users first", two.are_users_first && three.are_users_first);
}

/// A random graph: each entry adds up one, two or three earlier entries.
Tape random_tape(Rng& rng) {
  Tape tape{{}};
  while (tape.size() < 12) {
    const auto earlier = static_cast<Dim>(tape.size());
    tape.emplace_back();
    for (Dim k = rng.below(3); k >= 0; --k)
      tape.back().push_back(static_cast<std::size_t>(rng.below(earlier)));
  }
  return tape;
}

void random_graphs(LessonText& to) {
  constexpr int graphs = 1000;
  int newest = 0, engine = 0;
  Rng rng(1);
  for (int i = 0; i < graphs; ++i) {
    const Tape tape = random_tape(rng);
    const long right = paths_to_a(tape);
    newest += gradient_of_a(tape, newest_first(tape)) == right ? 1 : 0;
    engine += by_the_engine(tape) == static_cast<double>(right) ? 1 : 0;
  }
  to.set("graphs", thousands(graphs));
  to.claim("all newest", newest == graphs);
  to.claim("all by the engine", engine == graphs);
}

const LessonProgram program({all_orders, random_graphs});

}  // namespace fledge::lessons::in_newest_first
