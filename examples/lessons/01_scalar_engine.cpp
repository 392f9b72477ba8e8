// Lesson 1, without the library: an engine in fifty lines, and three that break a careless one.
//
// The smallest attention there is: one query, two keys, two values, each a single number (the
// values: the first numbers of birds and walk in note 000). Every step goes on a tape with its
// local derivatives; read from the newest to the oldest, it gives all derivatives of the result.
// Key idea: a step passes its gradient on only when everything that uses it has been heard.
// Next: 02_same_in_fledge.cpp, then engine/autograd.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

using Slopes = std::vector<std::pair<std::size_t, double>>;  // by input: its place, ∂step/∂input

struct Step {
  double value;
  Slopes slopes;
  double gradient = 0;  // ∂y/∂step
};

using Tape = std::vector<Step>;  // in the order of computing: inputs stand before their users

struct Number {
  Tape* tape;
  std::size_t place;
  Step& step() const { return (*tape)[place]; }
  double value() const { return step().value; }
};

Number record(Tape& tape, double value, Slopes slopes = {}) {
  tape.push_back({value, std::move(slopes)});
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
  y.step().gradient = 1;
  for (Number n{y.tape, y.place + 1}; n.place-- > 0;)
    for (const auto& [input, slope] : n.step().slopes)
      (*n.tape)[input].gradient += n.step().gradient * slope;
}

// Careless: whenever something arrives, all that has come so far is passed on. Counts its calls.
long careless(Number y) {
  long calls = 1;
  for (const auto& [input, slope] : y.step().slopes) {
    (*y.tape)[input].gradient += y.step().gradient * slope;
    calls += careless({y.tape, input});
  }
  return calls;
}

using Inputs = std::array<double, 5>;  // q, k1, v1, k2, v2
constexpr const char* labels[] = {"q",           "k1",          "v1",           "k2",
                                  "v2",          "s1 = q * k1", "s2 = q * k2",  "e1 = exp s1",
                                  "e2 = exp s2", "z = e1 + e2", "m1 = e1 * v1", "m2 = e2 * v2",
                                  "m = m1 + m2", "y = m / z"};

Number attend(Tape& tape, const Inputs& x) {
  for (const double number : x) record(tape, number);
  const Number q{&tape, 0}, k1{&tape, 1}, v1{&tape, 2}, k2{&tape, 3}, v2{&tape, 4};
  const Number s1 = q * k1, s2 = q * k2, e1 = exp(s1), e2 = exp(s2), z = e1 + e2;
  const Number m1 = e1 * v1, m2 = e2 * v2, m = m1 + m2;
  return m / z;
}

double attended(Inputs x, std::size_t moved, double by) {
  Tape tape;
  x[moved] += by;
  return attend(tape, x).value();
}

struct Claims {
  int made = 0, wrong = 0;
  void operator()(bool holds, const char* what) {
    ++made;
    wrong += holds ? 0 : 1;
    std::printf("   %s  %s\n", holds ? "ok   " : "FALSE", what);
  }
};

void forward_and_backward(Claims& claim) {
  std::puts(
      "1. One query, two keys, two values\n\n"
      "   The word walk has a query q. It can look at two words, birds and itself. Each\n"
      "   has a key and a value: birds k1 and v1, walk k2 and v2. A score is q times a\n"
      "   key. The result y is a mean of the values with the weights exp(score) / z.\n");
  std::puts("   step              value   gradient  by differences");
  const Inputs x{2, 0.5, 0.1, -0.25, 0.5};
  Tape tape;
  backward(attend(tape, x));
  double gap = 0;
  for (std::size_t i = 0; i < tape.size(); ++i) {
    std::printf("   %-12s  %9.6f  %9.6f", labels[i], tape[i].value, tape[i].gradient);
    if (i < x.size()) {
      const double difference = (attended(x, i, 1e-5) - attended(x, i, -1e-5)) / 2e-5;
      gap = std::max(gap, std::abs(tape[i].gradient - difference));
      std::printf("  %14.6f", difference);
    }
    std::puts("");
  }
  std::puts(
      "\n   The values are computed from the top down, the gradients from the bottom up.\n"
      "   The gradient of a step is a sum over the steps that use it: the gradient of\n"
      "   the user times the user's local derivative.\n");
  claim(gap <= 1e-10, "differences agree with all five gradients, to 1e-10");
  claim(std::abs(tape[2].gradient - tape[7].value / tape[9].value) <= 1e-15,
        "the gradient of a value is its weight: dv1 = e1 / z, to 1e-15");
}

void why_newest_first(Claims& claim) {
  std::puts("\n2. Three lines that break a careless recursion: x = 3;  s = x * x;  y = s + s;\n");
  Tape tape, doublings, chain;
  const Number x = record(tape, 3), s = x * x, y = s + s;
  backward(y);
  claim(x.step().gradient == 12, "newest first: dy/dx = 12, which is 4x");
  for (Step& step : tape) step.gradient = 0;
  y.step().gradient = 1;
  careless(y);
  claim(x.step().gradient == 18, "careless: dy/dx = 18");
  std::puts(
      "\n   y uses s twice, so s receives two gradients, 1 and 1. The careless recursion\n"
      "   passes on the running total each time: first 1, then 2. That adds up to 3;\n"
      "   the right total is 2. Newest first, s passes on its gradient once, when it is\n"
      "   complete.");

  std::puts("\n3. What recursion costs\n");
  Number power = record(doublings, 1), sum = record(chain, 1);
  for (int i = 0; i < 20; ++i) power = power + power;
  claim(careless(power) == (1L << 21) - 1, "20 doublings: a call for every path, 2^21 - 1");
  for (int i = 0; i < 1000000; ++i) sum = sum + Number{&chain, 0};
  backward(sum);
  claim(chain[0].gradient == 1000001, "a million times + 1: the loop over the tape is exact");
  const double bytes = 8.0 * 1024 * 1024 / static_cast<double>(chain.size());
  std::printf(
      "\n   A recursion would be a million calls deep here. A stack of 8 MB has %.1f bytes\n"
      "   for each of them, too few for a return address: the stack would overflow.\n",
      bytes);
}

}  // namespace

int main() {
  Claims claim;
  forward_and_backward(claim);
  why_newest_first(claim);
  const bool fine = claim.wrong == 0;
  std::printf("\n01_scalar_engine: %d claims %s\n", fine ? claim.made : claim.wrong,
              fine ? "hold" : "FALSE");
  return fine && std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? 0 : 1;
}
