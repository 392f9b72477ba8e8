// builds: f64 dual
// Gradients of random programs, proved by the oracle of the build (reliability.md, GR18).
#include <algorithm>
#include <map>

#include "engine/gradcheck/backward_consistency.h"
#include "engine/gradcheck/gradcheck.h"
#include "tests/support/catch.h"
#include "tests/support/random_program.h"
#include "tests/support/sanitized.h"

using namespace tests;

namespace {

// Differences take six evaluations an element where a dual number takes one.
const bool exact = std::string(gradcheck_oracle) == "dual";
const std::uint64_t programs = testing::sanitized ? 25 : exact ? 2000 : 200;

GradcheckReport check(const RandomProgram& program, std::size_t count) {
  return gradcheck([&](const Tensors& in) { return program.run(in, count); }, program.inputs());
}

// "" or the shortest beginning of the program that is wrong, and how.
std::string failure(const RandomProgram& program) {
  if (check(program, program.length()).ok) return "";
  for (std::size_t count = 0; count <= program.length(); ++count)
    if (const GradcheckReport report = check(program, count); !report)
      return program.text(count) + to_string(report);
  return "wrong at full length only:\n" + program.text(program.length());
}

}  // namespace

TEST_CASE("the gradients of random programs are right", "[GR18]") {
  const std::vector<Kind> kinds = kinds_of_steps();
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    CAPTURE(seed);
    REQUIRE(failure(RandomProgram(seed, kinds)) == "");
  }
}

namespace {

// "" or how a right program is accused. A tensor whose gradient is zero by mathematics is listed as
// the report asks for; after that the report must be ok.
std::string accusation(const RandomProgram& program) {
  GradcheckOptions options;
  for (;;) {
    const GradcheckReport report =
        gradcheck([&](const Tensors& in) { return program.run(in, program.length()); },
                  program.inputs(), options);
    if (report.ok) return "";
    auto& listed = options.zero_gradients;
    const bool again = std::find(listed.begin(), listed.end(), report.tensor) != listed.end();
    if (again || report.problem.find("in zero_gradients if") == std::string::npos)
      return program.text(program.length()) + to_string(report);
    listed.push_back(report.tensor);
  }
}

std::vector<Kind> with_kinds_that_cancel() {
  std::vector<Kind> kinds = kinds_of_steps();
  for (const Kind& kind : kinds_that_cancel()) kinds.insert(kinds.end(), 3, kind);
  return kinds;
}

}  // namespace

TEST_CASE("right programs whose gradients cancel to zero are not accused", "[GR18]") {
  const std::vector<Kind> kinds = with_kinds_that_cancel();
  for (std::uint64_t seed = 0; seed < (exact ? programs : programs / 2); ++seed) {
    CAPTURE(seed);
    const RandomProgram program(seed, kinds, seed % 2 == 0 ? Ends::with_inputs : Ends::results);
    REQUIRE(accusation(program) == "");
  }
}

TEST_CASE("random programs use every kind of step, with shared results", "[GR18]") {
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

namespace {

// The gradients of a program's inputs by backward() alone, one after the other.
std::vector<double> gradients(const RandomProgram& program) {
  std::vector<NamedTensor> inputs;
  for (const Array& x : program.inputs()) inputs.push_back({"", parameter(x.clone())});
  const auto f = [&] {
    Tensors tensors;
    for (const NamedTensor& x : inputs) tensors.push_back(x.tensor);
    return program.run(tensors, program.length());
  };
  std::vector<double> all;
  for (const auto& dx : pull_back(f, inputs, random_cotangent(f().shape(), 1), 1).gradients)
    all.insert(all.end(), dx.begin(), dx.end());
  return all;
}

}  // namespace

// In some programs the wrong rule changes nothing: it is on an island, or what follows cancels.
TEST_CASE("a wrong rule hidden in random programs is found, and the program cut at it", "[GR18]") {
  std::vector<Kind> kinds = GENERATE(true, false) ? kinds_of_steps() : with_kinds_that_cancel();
  double factor = 2;
  kinds.push_back(plain("wrong", 1, [&factor](const Tensors& in) {
    return record("wrong", in[0].value() * Real(2),
                  wrt(in[0], [&factor](const Array& dy) { return dy * Real(factor); }));
  }));
  int found = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    factor = 2;
    const RandomProgram program(seed, kinds);
    const std::vector<double> right = gradients(program);
    factor = 3;
    const std::vector<double> wrong = gradients(program);
    double change = 0;
    for (std::size_t j = 0; j < right.size(); ++j)
      change = std::max(change, std::abs(wrong[j] - right[j]));
    factor = 2 + 1e-5;
    const std::string why = failure(program);
    if (change < 1e-2) continue;
    CHECK(why != "");
    ++found;
    const std::size_t last_line = why.rfind('\n', why.rfind('\n') - 1) + 1;
    INFO(why);
    CHECK(why.find("= wrong", last_line) != std::string::npos);
  }
  CAPTURE(found);
  CHECK(found >= 8);
}
