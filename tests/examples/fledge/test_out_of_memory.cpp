// Every allocation of a command may fail: exit 1 and one sentence, or the result as it would have
// been. Here a sample of allocations fails; make faults tries more of them. Only on Linux, and
// not under sanitizers (tests/CMakeLists.txt).
#include <cstdlib>

#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

const std::string one_sentence = "fledge: out of memory: use smaller sizes\n";

/// Runs the command with the shim (tests/faults/failing_malloc.cpp); `out` stands for a folder that
/// is empty before each run.
class Failing {
 public:
  explicit Failing(Words arguments) : arguments_(std::move(arguments)) {}

  Result run(Environment extra) const {
    const testing::Folder fresh;
    Words line = with_program(arguments_);
    for (std::string& word : line)
      if (word == "out") word = fresh / "run";
    extra["LD_PRELOAD"] = FLEDGE_MALLOC_LIBRARY;
    extra["FLEDGE_THREADS"] = "1";  // the order of allocations is then the same in each run
    return testing::run(line, extra);
  }

  /// One allocation in `stride` fails, alone and with all later ones.
  void check(int stride) const {
    const testing::Folder folder;
    const Result whole = run({{"FLEDGE_COUNT_MALLOC", folder / "count"}});
    REQUIRE(whole.status == 0);
    const int count = std::atoi(text_of(folder / "count").c_str());
    CHECK(count > stride);  // so at least two allocations fail
    for (int n = 1; n <= count; n += stride)
      for (const char* later : {"", "+"}) {
        const Result result = run({{"FLEDGE_FAIL_MALLOC", std::to_string(n) + later}});
        INFO(arguments_[0] << ", allocation " << n << later << " of " << count << ":\n"
                           << result.err);
        const bool survived = result.status == 0 && result.out == whole.out;
        CHECK((survived || (result.status == 1 && result.err == one_sentence)));
      }
  }

 private:
  Words arguments_;
};

}  // namespace

TEST_CASE("out of memory: one sentence and status 1, whichever allocation fails") {
  const Desk desk;
  const Words line = Words{"train", desk.poems(), "-q", "-o"};
  trained({desk.poems(), "-q", "-o", desk / "run"});
  Failing({"--help"}).check(1);
  Failing({"gradcheck", "softmax"}).check(331);
  Failing(line + Words{"out"} + tiny).check(499);
  Failing({"generate", desk / "run", "the", "--seed", "1"}).check(97);
  Failing({"eval", desk / "run"}).check(53);
}

TEST_CASE("out of memory: a small address space is one sentence, and no signal") {
  for (const char* kilobytes : {"20000", "50000", "100000"}) {
    const Result result = in_shell(
        std::string("ulimit -v ") + kilobytes +
        "; exec \"$0\" bench step --layers 4 --width 256 --context 256 --batch 16 --steps 1");
    INFO(kilobytes << " kB: " << result.err);
    CHECK(result.status == 1);
    CHECK(result.err == one_sentence);
  }
}
