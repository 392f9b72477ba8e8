// builds: f64 dual
// Gradients of random programs, proved by the oracle of the build (reliability.md, GR18).
#include <map>

#include "engine/gradcheck.h"
#include "tests/support/catch.h"
#include "tests/support/random_program.h"
#include "tests/support/sanitized.h"

using namespace tests;

namespace {

// Differences take six evaluations an element where a dual number takes one.
const std::uint64_t programs = fledge::testing::sanitized                ? 25
                               : std::string(gradcheck_oracle) == "dual" ? 1000
                                                                         : 200;

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

TEST_CASE("a wrong rule hidden in random programs is found, and the program cut at it", "[GR18]") {
  std::vector<Kind> kinds = kinds_of_steps();
  kinds.push_back(plain("wrong", 1, [](const Tensors& in) {
    return record("wrong", in[0].value() * Real(2),
                  wrt(in[0], [](const Array& dy) { return dy * Real(2 + 1e-5); }));
  }));
  int with = 0, found = 0;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const RandomProgram program(seed, kinds);
    const std::string why = failure(program);
    with += program.text(program.length()).find("= wrong") != std::string::npos ? 1 : 0;
    if (why.empty()) continue;
    ++found;
    const std::size_t last_line = why.rfind('\n', why.rfind('\n') - 1) + 1;
    INFO(why);
    CHECK(why.find("= wrong", last_line) != std::string::npos);
  }
  CAPTURE(with, found);
  CHECK(with >= 8);
  CHECK(2 * found >= with);  // the rest are on islands, or act on what no input reaches
}
