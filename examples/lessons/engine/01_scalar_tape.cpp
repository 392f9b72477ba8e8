// An engine in fifty lines, without the library: values down a tape, gradients up.
//
// The smallest attention there is: one query, two keys and two values, each a single number. Every
// operation is written on a tape with its local derivatives. Read from the newest line to the
// oldest, the tape gives the derivative of the result with respect to every number on it.
// Key idea: a number passes its gradient on only when all numbers that use it have passed theirs.
// Next: 02_same_in_fledge.cpp; then engine/autograd.h. examples/birds_in_one_file.cpp is this tape
// with matrices instead of numbers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

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

double attended(Inputs x, std::size_t moved, double by) {
  Tape tape;
  x[moved] += by;
  return attend(tape, x).value();
}

double by_differences(const Inputs& x, std::size_t i) {
  return (attended(x, i, 1e-5) - attended(x, i, -1e-5)) / 2e-5;
}

void print_tape(const Tape& tape, const Inputs& x) {
  std::puts("   entry           result   gradient  by differences");
  for (std::size_t i = 0; i < tape.size(); ++i) {
    std::printf("   %-12s  %9.6f  %9.6f", labels[i], tape[i].value, tape[i].gradient);
    if (i < x.size()) std::printf("  %14.6f", by_differences(x, i));
    std::puts("");
  }
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
      "1. One query, two keys, two values\n\n   The word 'walk' has a query q. It can look at two "
      "words: at 'birds', with\n   the key k1 and the value v1, and at itself, with k2 and v2. All "
      "are single\n   numbers, so a score is simply q times a key. The result y is the "
      "weighted\n   mean of the two values, with softmax weights:\n\n      e1 = exp(q k1)   e2 = "
      "exp(q k2)   z = e1 + e2   y = (e1 v1 + e2 v2) / z\n\n   We look for the gradient of y: how "
      "fast y changes with each of the five\n   numbers. The program must be able to do this for "
      "every formula.\n\n   new word: engine. A program part that computes results, records how "
      "they were\n             computed, and gives gradients.\n   new word: tape. A list of "
      "operations in the order in which they were\n             computed.\n   new word: forward "
      "pass. The computation of the result from the inputs.\n\n   The forward pass writes fourteen "
      "entries on the tape, from the top down. The\n   first five are the numbers that we chose. "
      "Each later entry stores its\n   result, the entries that it is computed from, and its "
      "derivative with\n   respect to each of them. (The table leaves these derivatives out.) That "
      "is\n   all the engine ever needs to know of the formula.\n\n   The column \"gradient\" says "
      "how fast y changes if this entry changes. The last\n   column checks the first five: y is "
      "computed with the number 0.00001 larger\n   and 0.00001 smaller, and the difference is "
      "divided by 0.00002.\n");
  const Inputs x{2, 0.5, 0.1, -0.25, 0.5};
  Tape tape;
  backward(attend(tape, x));
  print_tape(tape, x);
  std::puts(
      "\n   The backward pass fills this column from the bottom up. It begins with\n   dy/dy = 1. "
      "To get the gradient of q, it looks at each later entry that uses\n   q. It multiplies the "
      "gradient of that entry by the derivative of that entry\n   with respect to q. It adds up "
      "these products.\n\n   By hand: q is used in two entries. s1 = q * k1 has the derivative k1, "
      "and\n   s2 = q * k2 has the derivative k2.\n");
  const double upper = tape[s1].gradient * x[k1], lower = tape[s2].gradient * x[k2];
  std::printf("   by s1   gradient of s1 * k1 = %9.6f * %5.2f = %9.6f\n", tape[s1].gradient, x[k1],
              upper);
  std::printf("   by s2   gradient of s2 * k2 = %9.6f * %5.2f = %9.6f\n", tape[s2].gradient, x[k2],
              lower);
  std::printf("   sum     gradient of q                            = %9.6f\n\n", upper + lower);
  std::puts(
      "   The sum is negative: y goes down if the query becomes larger. A larger q\n   makes the "
      "score of 'birds' larger and the score of 'walk' smaller. The value\n   of 'birds' is the "
      "smaller one. If you predicted \"down\", you were right.\n");
  double gap = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    gap = std::max(gap, std::abs(tape[i].gradient - by_differences(x, i)));
  claim(gap <= 1e-10, "all five gradients agree with the differences to ten decimal places");
  claim(std::abs(upper + lower - tape[q].gradient) <= 1e-15,
        "the two products add up to the gradient of q");
  claim(std::abs(tape[v1].gradient - tape[e1].value / tape[z].value) <= 1e-15,
        "the gradient of a value is its weight: that of v1 is e1 / z");
}

void why_newest_first(Claims& claim) {
  std::puts(
      "\n2. Why the newest entry comes first\n\n   Three entries: x = 3, then s = x * x, then y = "
      "s + s. So y = 2 * x * x, and\n   dy/dx = 4 * x = 12.\n\n   y uses s twice, so s receives "
      "two gradients, 1 and 1. The right total is 2.\n   A naive recursion passes a gradient on as "
      "soon as it arrives. It passes on\n   the whole total of s each time, also the part that it "
      "has passed on before.\n   First the total is 1, and it passes on 1. Then the total is 2, "
      "and it passes\n   on 2. That is 3 in all. s = x * x has the derivative 2 * x = 6 with "
      "respect\n   to x, so x gets 3 * 6 = 18.\n   If the newest entry comes first, both parts "
      "have arrived at s before its turn\n   comes. It passes on 2 once. This always works: an "
      "entry is used only by\n   entries that are newer.\n");
  Tape tape;
  const Number x = record(tape, 3), s = x * x, y = s + s;
  backward(y);
  const double newest_first = x.entry().gradient;
  for (Entry& entry : tape) entry.gradient = 0;
  y.entry().gradient = 1;
  backward_by_naive_recursion(y);
  std::printf("   newest first       dy/dx = %g\n   naive recursion    dy/dx = %g\n\n",
              newest_first, x.entry().gradient);
  claim(newest_first == 12, "newest first gives 12");
  claim(x.entry().gradient == 18, "the naive recursion gives 18");
}

void what_recursion_costs(Claims& claim) {
  std::puts(
      "\n3. What recursion costs\n\n   The recursion follows every path from y to the inputs. Let "
      "x1 = x0 + x0, x2 =\n   x1 + x1, and so on, twenty times. There are 2^20 paths, and 1 + 2 + "
      "4 + ... +\n   2^20 calls. A chain of a million additions makes the recursion a million\n   "
      "calls deep, and 8 MB of memory for calls are not enough. The loop over the\n   tape reads "
      "each entry once.\n");
  Tape doublings, chain;
  Number power = record(doublings, 1), sum = record(chain, 1);
  for (int i = 0; i < 20; ++i) power = power + power;
  claim(backward_by_naive_recursion(power) == (1L << 21) - 1, "20 doublings take 2^21 - 1 calls");
  for (int i = 0; i < 1000000; ++i) sum = sum + Number{&chain, 0};
  backward(sum);
  claim(chain[0].gradient == 1000001, "the loop gives the exact gradient of a million additions");
}

int lesson(bool ask) {
  std::puts(
      "A tape of numbers: an engine in fifty lines of code\n\n   question: How can a program "
      "compute a formula and all its derivatives,\n             without knowing the formula "
      "beforehand?\n   predict:  'walk' looks at 'birds' (key 0.5, value 0.1) and at itself "
      "(key\n             -0.25, value 0.5) with the query 2. If the query becomes "
      "larger,\n             does the weighted mean of the values go up or down?\n");
  if (ask) std::puts("   Write your prediction down, then press the return key.");
  for (int c = ask ? 0 : EOF; c != '\n' && c != EOF;) c = std::getchar();
  Claims claim;
  forward_and_backward(claim);
  why_newest_first(claim);
  what_recursion_costs(claim);
  std::puts(
      "\nRead in the code\n   examples/lessons/engine/01_scalar_tape.cpp, backward: the loop of "
      "this lesson\n   examples/birds_in_one_file.cpp, backward: the same loop over "
      "matrices\n\nTry\n   build/lessons/engine/01_scalar_tape 4 0.5 0.1 -0.25 0.5\n      the "
      "table for another q, k1, v1, k2, v2");
  const bool fine = claim.wrong == 0;
  std::printf("\nengine/01_scalar_tape: %d claims %s\n", fine ? claim.made : claim.wrong,
              fine ? "hold" : "FALSE");
  return fine ? 0 : 1;
}

// Five numbers: the table for them.
int table_of(char** words) {
  Inputs x{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    char* end = nullptr;
    x[i] = std::strtod(words[i], &end);
    if (end == words[i] || *end != '\0' || !(std::abs(x[i]) <= 5)) {
      std::fprintf(stderr, "01_scalar_tape: needs five numbers from -5 to 5: got '%s'\n", words[i]);
      return 2;
    }
  }
  Tape tape;
  backward(attend(tape, x));
  print_tape(tape, x);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  const bool asks = argc == 2 && first == "--ask", helps = argc == 2 && first == "--help";
  if (argc != 1 && argc != 6 && !asks && !helps) {
    std::fputs("usage: 01_scalar_tape [--ask | --help | Q K1 V1 K2 V2]\n", stderr);
    return 2;
  }
  if (helps)
    std::puts(
        "usage: 01_scalar_tape [--ask | --help | Q K1 V1 K2 V2]\n--ask waits after the question. "
        "Five numbers from -5 to 5: the table for them.");
  const int status = helps ? 0 : argc == 6 ? table_of(argv + 1) : lesson(asks);
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? status : 1;
}
