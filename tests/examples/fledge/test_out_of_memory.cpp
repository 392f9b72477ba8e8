// Every allocation of a command may fail: exit 1 and one sentence, or the result as it would have
// been. Here a sample of allocations fails; make faults tries more of them. Only on Linux, and
// not under sanitizers (tests/CMakeLists.txt).
#include <cstdlib>

#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

const std::string one_sentence = "fledge: out of memory: use smaller sizes\n";

/// Runs the command; one allocation in `stride` fails (tests/faults/failing_malloc.cpp), alone and
/// with all later ones. `out` stands for a folder that is empty before each run.
void check_failing(const Words& arguments, int stride) {
  const auto run_with = [&](const char* name, const std::string& value) {
    const testing::Folder fresh;
    Words line = with_program(arguments);
    std::replace(line.begin(), line.end(), std::string("out"), fresh / "run");
    // The order of allocations of one thread is the same in each run.
    return run(line,
               {{"LD_PRELOAD", FLEDGE_MALLOC_LIBRARY}, {"FLEDGE_THREADS", "1"}, {name, value}});
  };
  const testing::Folder folder;
  const Result whole = run_with("FLEDGE_COUNT_MALLOC", folder / "count");
  REQUIRE(whole.status == 0);
  const int count = std::atoi(text_of(folder / "count").c_str());
  CHECK(count > stride);  // so at least two allocations fail
  for (int n = 1; n <= count; n += stride)
    for (const char* later : {"", "+"}) {
      const Result result = run_with("FLEDGE_FAIL_MALLOC", std::to_string(n) + later);
      INFO(arguments[0] << ", allocation " << n << later << " of " << count << ":\n" << result.err);
      CHECK(((result.status == 0 && result.out == whole.out) ||
             (result.status == 1 && result.err == one_sentence)));
    }
}

}  // namespace

TEST_CASE("out of memory: one sentence and status 1, whichever allocation fails") {
  const Desk desk;
  const std::string run = desk.run("run");
  check_failing({"--help"}, 1);
  check_failing({"gradcheck", "softmax"}, 331);
  check_failing(Words{"train", desk.poems(), "-q", "-o", "out"} + tiny, 499);
  check_failing({"generate", run, "the", "--seed", "1"}, 97);
  check_failing({"eval", run}, 53);
}

TEST_CASE("out of memory: a small address space is one sentence, and no signal") {
  for (const char* kilobytes : {"20000", "50000", "100000"}) {
    const Result result = in_shell(std::string("ulimit -v ") + kilobytes +
                                   "; exec \"$0\" bench step 4 4 256 256 16 65 --steps 1");
    INFO(kilobytes << " kB: " << result.err);
    CHECK(result.status == 1);
    CHECK(result.err == one_sentence);
  }
}
