// An engine in fifty lines that uses nothing of fledge: values down a tape, gradients up. Read from
// the newest line to the oldest, the tape gives the derivative of the result with respect to every
// number on it. examples/birds_in_one_file.cpp is this tape with matrices instead of numbers.
#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_scalar_tape {

using LocalDerivatives = std::vector<std::pair<std::size_t, double>>;  // (entry, ∂result/∂entry)

struct Entry {
  double value;
  LocalDerivatives inputs;
  double gradient = 0;  // ∂y/∂entry
};

using Tape = std::vector<Entry>;  // in the order of computing: inputs stand before their users

struct Number {
  Tape* tape;
  std::size_t place;
  Entry& entry() const { return (*tape)[place]; }
  double value() const { return entry().value; }
};

Number record(Tape& tape, double value, LocalDerivatives inputs = {}) {
  tape.push_back({value, std::move(inputs)});
  return {&tape, tape.size() - 1};
}

// y = a + b            ∂y/∂a = 1            ∂y/∂b = 1
Number operator+(Number a, Number b) {
  return record(*a.tape, a.value() + b.value(), {{a.place, 1}, {b.place, 1}});
}

// y = a·b              ∂y/∂a = b            ∂y/∂b = a
Number operator*(Number a, Number b) {
  return record(*a.tape, a.value() * b.value(), {{a.place, b.value()}, {b.place, a.value()}});
}

// y = a/b              ∂y/∂a = 1/b          ∂y/∂b = −y/b
Number operator/(Number a, Number b) {
  const double y = a.value() / b.value();
  return record(*a.tape, y, {{a.place, 1 / b.value()}, {b.place, -y / b.value()}});
}

// y = eˣ               ∂y/∂x = y
Number exp(Number x) {
  const double y = std::exp(x.value());
  return record(*x.tape, y, {{x.place, y}});
}

// Newest first:        ∂y/∂input = Σ over its users of ∂y/∂user · ∂user/∂input
void backward(Number y) {
  Tape& tape = *y.tape;
  tape[y.place].gradient = 1;
  for (std::size_t i = y.place + 1; i-- > 0;)
    for (const auto& [input, derivative] : tape[i].inputs)
      tape[input].gradient += tape[i].gradient * derivative;
}

// The mistake: each time a gradient arrives, the sum so far is passed on. Returns its calls.
long backward_by_naive_recursion(Number y) {
  long calls = 1;
  for (const auto& [input, derivative] : y.entry().inputs) {
    (*y.tape)[input].gradient += y.entry().gradient * derivative;
    calls += backward_by_naive_recursion({y.tape, input});
  }
  return calls;
}

using Inputs = std::array<double, 5>;  // q, k1, v1, k2, v2
constexpr const char* labels[] = {"q",           "k1",          "v1",           "k2",
                                  "v2",          "s1 = q * k1", "s2 = q * k2",  "e1 = exp s1",
                                  "e2 = exp s2", "z = e1 + e2", "m1 = e1 * v1", "m2 = e2 * v2",
                                  "m = m1 + m2", "y = m / z"};
enum Place { q, k1, v1, k2, v2, s1, s2, e1, e2, z, m1, m2, m, y };

// Attention of one word that may look at two:   y = (e1·v1 + e2·v2) / (e1 + e2),   e = exp(q·k)
Number attend(Tape& tape, const Inputs& x) {
  std::array<Number, 5> in{};
  for (std::size_t i = 0; i < x.size(); ++i) in[i] = record(tape, x[i]);
  const Number first_score = in[q] * in[k1], second_score = in[q] * in[k2];
  const Number first = exp(first_score), second = exp(second_score), total = first + second;
  const Number first_part = first * in[v1], second_part = second * in[v2];
  return (first_part + second_part) / total;
}

double by_differences(const Inputs& x, std::size_t i) {
  const auto attended = [&](double by) {
    Tape tape;
    Inputs moved = x;
    moved[i] += by;
    return attend(tape, moved).value();
  };
  return (attended(1e-5) - attended(-1e-5)) / 2e-5;
}

void forward_and_backward(LessonText& to) {
  const Inputs x{2, 0.5, 0.1, -0.25, 0.5};
  Tape tape;
  backward(attend(tape, x));
  const double upper = tape[s1].gradient * x[k1], lower = tape[s2].gradient * x[k2];
  std::string table = "   entry           result   gradient  by differences\n";
  double gap = 0;
  for (std::size_t i = 0; i < tape.size(); ++i) {
    table += formatted("   %-12s  %9.6f  %9.6f", labels[i], tape[i].value, tape[i].gradient);
    if (i < x.size()) {
      const double slope = by_differences(x, i);
      table += formatted("  %14.6f", slope);
      gap = std::max(gap, std::abs(tape[i].gradient - slope));
    }
    table += "\n";
  }
  to.set("tape", table);
  to.set("by hand",
         "   by s1   gradient of s1 * k1 = %9.6f * %5.2f = %9.6f\n"
         "   by s2   gradient of s2 * k2 = %9.6f * %5.2f = %9.6f\n"
         "   sum     gradient of q                            = %9.6f",
         tape[s1].gradient, x[k1], upper, tape[s2].gradient, x[k2], lower, upper + lower);
  to.claim("differences", gap <= 1e-10);
  to.claim("two products", std::abs(upper + lower - tape[q].gradient) <= 1e-15);
  to.claim("weight", std::abs(tape[v1].gradient - tape[e1].value / tape[z].value) <= 1e-15);
}

void why_newest_first(LessonText& to) {
  Tape tape;
  const Number x = record(tape, 3), s = x * x, y = s + s;
  backward(y);
  const double newest_first = x.entry().gradient;
  for (Entry& entry : tape) entry.gradient = 0;
  y.entry().gradient = 1;
  backward_by_naive_recursion(y);
  to.set("two orders", "   newest first       dy/dx = %g\n   naive recursion    dy/dx = %g",
         newest_first, x.entry().gradient);
  to.claim("newest first", newest_first == 12);
  to.claim("recursion", x.entry().gradient == 18);
}

void what_recursion_costs(LessonText& to) {
  Tape doublings, chain;
  Number power = record(doublings, 1), sum = record(chain, 1);
  for (int i = 0; i < 20; ++i) power = power + power;
  to.claim("calls", backward_by_naive_recursion(power) == (1L << 21) - 1);
  for (int i = 0; i < 1000000; ++i) sum = sum + Number{&chain, 0};
  backward(sum);
  to.claim("million", chain[0].gradient == 1000001);
}

const LessonProgram program({forward_and_backward, why_newest_first, what_recursion_costs});

}  // namespace fledge::lessons::in_scalar_tape
