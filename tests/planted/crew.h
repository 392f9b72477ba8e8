// The work on all bugs: one workshop per worker, each busy with one program at a time.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "process.h"
#include "workshop.h"

namespace planted {

/// What became of a bug: who saw it.
struct Outcome {
  Bug bug;
  bool built = false;
  Verdict dual, differences, tests{.word = "spared", .asked = false};
  double seconds = 0;
  bool killed() const { return built && (dual.killed() || differences.killed() || tests.killed()); }
};

struct Plan {
  std::filesystem::path sources, folder;
  std::vector<Bug> bugs;
  unsigned workers = 1, jobs_each = 1;
  bool full = false;  // ask the tests also where both oracles have seen the bug
};

class Crew {
 public:
  using Report = std::function<void(const Outcome&)>;

  Crew(const Plan& plan, const std::map<std::string, std::string>& originals);

  /// Builds the sources as they are and runs all oracles on them: in one workshop, whose build the
  /// others take over. "" when they pass, else what does not.
  std::string prove_clean();

  /// Plants every bug; tells each outcome as it comes.
  void run(const Report& report);

 private:
  enum class Stage {
    configure,
    build,
    gradcheck,
    build_tests,
    likely_tests,
    tests,
    build_programs,
    programs,
    done
  };
  struct Worker {
    Worker(const Plan& plan, const std::filesystem::path& folder,
           const std::map<std::string, std::string>& originals)
        : shop(plan.sources, folder, originals) {}
    Workshop shop;
    Stage stage = Stage::done;
    std::size_t test_program = 0;  // which of them runs, in stages likely_tests and tests
    pid_t child = 0;
    Outcome outcome;
    std::chrono::steady_clock::time_point begin;
  };

  using Next = std::function<void(Worker&)>;
  void begin(Worker& worker, Stage stage);
  void wait(const Next& when_done);
  void judge(Worker& worker, const Ending& ending);
  bool asks_tests(const Outcome& outcome) const;
  bool take_bug(Worker& worker);
  Command command(const Worker& worker) const;
  std::string likely_tests(const Worker& worker) const;
  std::filesystem::path log(const Worker& worker) const;

  Plan plan_;
  std::vector<std::string> programs_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Bug> waiting_;
};

}  // namespace planted
