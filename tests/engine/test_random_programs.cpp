// Gradients of random programs, proved by each oracle alone.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/gradcheck/comparison.h"
#include "tests/engine/random_program.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace tests;

namespace {

// Differences take six evaluations an element where a dual number takes one. The suite has a fifth
// of the programs that make nightly checks.
enum class Count { suite, nightly };
std::uint64_t programs(Method method, Count count) {
  if (testing::sanitized) return 10;
  return (method == Method::dual ? 2000 : 200) / (count == Count::suite ? 5 : 1);
}

struct Problem {
  std::string tensor, text;
};

// What one oracle finds wrong in the first steps of a program, or cannot decide.
std::optional<Problem> problem(Method method, const RandomProgram& program, std::size_t count,
                               const GradcheckOptions& options = {}) {
  Tensors inputs;
  std::vector<NamedTensor> named;
  for (const Array& x : program.inputs()) {
    inputs.push_back(parameter(x.clone()));
    named.push_back({"input " + std::to_string(named.size()), inputs.back()});
  }
  const std::function<Tensor()> f = [&] { return program.run(inputs, count); };
  const Array v = random_cotangent(f().shape(), options.seed);
  const BackwardConsistency result = check_passes(f, named, v, options.seed);
  const CheckedGradients checked{f, named, options, v, result.gradients};
  const Comparison compared(method, checked);
  const auto& found = result.inconsistency ? result.inconsistency
                      : compared.wrong()   ? compared.wrong()
                                           : compared.undecided();
  if (!found) return {};
  return Problem{named[found->parameter].name, found->problem};
}

// "" or the shortest beginning of the program that is wrong, and how.
std::string failure(Method method, const RandomProgram& program) {
  if (!problem(method, program, program.length())) return "";
  for (std::size_t count = 0; count <= program.length(); ++count)
    if (const auto found = problem(method, program, count))
      return program.text(count) + found->text + ": " + found->tensor;
  return "wrong at full length only:\n" + program.text(program.length());
}

void check_random_programs(Count count) {
  const Method method = GENERATE(Method::dual, Method::differences);
  const std::vector<Kind> kinds = kinds_of_steps();
  for (std::uint64_t seed = 0; seed < programs(method, count); ++seed) {
    CAPTURE(seed);
    REQUIRE(failure(method, RandomProgram(seed, kinds)) == "");
  }
}

// "" or how a right program is accused. A tensor whose gradient is zero by mathematics is listed as
// the problem asks for; after that there must be none.
std::string accusation(Method method, const RandomProgram& program) {
  GradcheckOptions options;
  for (;;) {
    const auto found = problem(method, program, program.length(), options);
    if (!found) return "";
    auto& listed = options.zero_gradients;
    const bool again = std::find(listed.begin(), listed.end(), found->tensor) != listed.end();
    if (again || found->text.find("in zero_gradients if") == std::string::npos)
      return program.text(program.length()) + found->text + ": " + found->tensor;
    listed.push_back(found->tensor);
  }
}

std::vector<Kind> with_kinds_that_cancel() {
  std::vector<Kind> kinds = kinds_of_steps();
  for (const Kind& kind : kinds_that_cancel()) kinds.insert(kinds.end(), 3, kind);
  return kinds;
}

void check_programs_that_cancel(Count size) {
  const Method method = GENERATE(Method::dual, Method::differences);
  const std::vector<Kind> kinds = with_kinds_that_cancel();
  const std::uint64_t count = programs(method, size) / (method == Method::dual ? 1 : 2);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    const RandomProgram program(seed, kinds, seed % 2 == 0 ? Ends::with_inputs : Ends::results);
    REQUIRE(accusation(method, program) == "");
  }
}

// The gradients of a program's inputs by backward() alone, one after the other.
std::vector<double> program_gradients(const RandomProgram& program) {
  Tensors inputs;
  for (const Array& x : program.inputs()) inputs.push_back(parameter(x.clone()));
  const Tensor y = program.run(inputs, program.length());
  backward(y, random_cotangent(y.shape(), 1));
  std::vector<double> all;
  for (const Tensor& x : inputs)
    for (const double dx : to_vector(x.grad())) all.push_back(dx);
  return all;
}

// In some programs the wrong rule changes nothing: it is on an island, or what follows cancels.
void check_hidden_wrong_rule(std::vector<Kind> kinds, std::uint64_t programs) {
  const Method method = GENERATE(Method::dual, Method::differences);
  // Differences take a minute there. So few programs may all hide the wrong rule.
  const bool few = testing::sanitized && method == Method::differences;
  if (few) programs = 3;
  double factor = 2;
  kinds.push_back(plain("wrong", 1, [&factor](In in) {
    return ruled(in[0], in[0].value() * Real(2),
                 [&factor](const Array& dy, Dim i) { return dy[i] * Real(factor); });
  }));
  int found = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    CAPTURE(seed);
    factor = 2;
    const RandomProgram program(seed, kinds);
    const std::vector<double> right = program_gradients(program);
    factor = 3;
    const std::vector<double> wrong = program_gradients(program);
    double change = 0;
    for (std::size_t j = 0; j < right.size(); ++j)
      change = std::max(change, std::abs(wrong[j] - right[j]));
    factor = 2 + 1e-5;
    const std::string why = failure(method, program);
    if (change < 1e-2) continue;
    CHECK(why != "");
    ++found;
    const std::size_t last_line = why.rfind('\n', why.rfind('\n') - 1) + 1;
    INFO(why);
    CHECK(why.find("= wrong", last_line) != std::string::npos);
  }
  CAPTURE(found);
  CHECK((few || static_cast<std::uint64_t>(found) >= programs / 8));
}

}  // namespace

TEST_CASE("the gradients of random programs are right") { check_random_programs(Count::suite); }
TEST_CASE("the gradients of 2,000 random programs are right", "[.nightly]") {
  check_random_programs(Count::nightly);
}

TEST_CASE("right programs whose gradients cancel to zero are not accused") {
  check_programs_that_cancel(Count::suite);
}
TEST_CASE("2,000 right programs whose gradients cancel to zero are not accused", "[.nightly]") {
  check_programs_that_cancel(Count::nightly);
}

TEST_CASE("random programs use every kind of step, with shared results") {
  const std::vector<Kind> kinds = kinds_of_steps();
  std::map<std::string, int> uses;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomProgram program(seed, kinds);
    const std::string text = program.text(program.length());
    for (const Kind& kind : kinds)
      if (text.find(" = " + kind.name + " of") != std::string::npos) ++uses[kind.name];
  }
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    CHECK(uses[kind.name] >= 5);
  }
}

TEST_CASE("a wrong rule hidden in random programs is found, and the program cut at it") {
  check_hidden_wrong_rule(kinds_of_steps(), 16);
}
TEST_CASE("a wrong rule hidden in programs that cancel is found, and the program cut at it") {
  check_hidden_wrong_rule(with_kinds_that_cancel(), 12);
}
TEST_CASE("a wrong rule hidden in 60 programs of each kind is found", "[.nightly]") {
  check_hidden_wrong_rule(kinds_of_steps(), 60);
  check_hidden_wrong_rule(with_kinds_that_cancel(), 60);
}
