#include "crew.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace planted {

namespace fs = std::filesystem;

namespace {

constexpr unsigned most_seconds = 180;  // of one program; the sources as they are take 30 to 60

// The tests of two number types. Those of the checker are for dual numbers alone.
constexpr const char* test_programs[] = {"tests32", "tests_dual"};

// A test of the table must not run where a bug is planted: there the entry does not apply.
constexpr const char* table_test = "planted_table";

std::vector<std::string> programs_in(const fs::path& sources) {
  std::vector<std::string> names;
  const fs::path folder = sources / "tests/programs";
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".cpp" && entry.path().stem() != table_test)
      names.push_back("program_" + entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Crew::Crew(const Plan& plan, const std::map<std::string, std::string>& originals)
    : plan_(plan), programs_(programs_in(plan.sources)), waiting_(plan.bugs) {
  fs::create_directories(plan.folder / "logs");
  for (unsigned i = 1; i <= plan.workers; ++i) {
    const std::string number = std::to_string(i);
    workers_.push_back(std::make_unique<Worker>(
        plan, plan.folder / std::string("worker").append(2 - number.size(), '0').append(number),
        originals));
  }
}

fs::path Crew::log(const Worker& worker) const {
  constexpr const char* endings[] = {"configure",    "build", "gradcheck",      "build_tests",
                                     "likely_tests", "tests", "build_programs", "programs"};
  std::string name(worker.outcome.bug.name);
  if (name.empty()) name = worker.shop.source().parent_path().filename().string();
  return plan_.folder / "logs" / (name + "." + endings[static_cast<int>(worker.stage)]);
}

namespace {

std::size_t test_programs_for(const Bug& bug) {
  return bug.tests_alone ? 1 : std::size(test_programs);
}

// The link command of a test program with the objects of these sources in front. Of an inline
// function that several objects contain, the linker keeps the first: it must be one that was
// compiled with the bug.
std::string link_in_front(const fs::path& build, const std::string& program,
                          std::string_view sources) {
  const std::string objects = "CMakeFiles/" + program + ".dir/";
  std::string line = contents(build / "tests" / objects / "link.txt");
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::istringstream words{std::string(sources)};
  for (std::string source; words >> source;) {
    if (source.rfind("tests/", 0) != 0) continue;
    const std::string object = " " + objects + source.substr(6) + ".o";
    const std::size_t at = line.find(object);
    if (at == std::string::npos) continue;  // a test of another program
    line.erase(at, object.size());
    line.insert(line.find(" " + objects), object);
  }
  return line;
}

}  // namespace

Command Crew::command(const Worker& worker) const {
  const std::string build = worker.shop.build().string();
  const std::string test_program = build + "/tests/" + test_programs[worker.test_program];
  switch (worker.stage) {
    case Stage::configure:
      return {"cmake",
              "-S",
              worker.shop.source().string(),
              "-B",
              build,
              "-DFLEDGE_NATIVE=OFF",
              "-DFLEDGE_WERROR=OFF",
              "-DFLEDGE_PRECOMPILE=ON",
              "-DFLEDGE_UNITY=OFF",
              "-DFLEDGE_TESTS=ON",
              "-DFLEDGE_EXAMPLES=ON",
              "-DCMAKE_BUILD_TYPE=Release",
              "-DCMAKE_CXX_FLAGS_RELEASE=-O1"};
    case Stage::build:
    case Stage::build_tests:
    case Stage::build_programs: {
      Command words{"cmake",   "--build", build, "--parallel", std::to_string(plan_.jobs_each),
                    "--target"};
      if (worker.stage == Stage::build_programs)
        words.insert(words.end(), programs_.begin(), programs_.end());
      else if (worker.stage == Stage::build_tests)
        words.insert(words.end(), test_programs,
                     test_programs + test_programs_for(worker.outcome.bug));
      else
        words.push_back("planted_oracles");
      const std::string_view callers = worker.outcome.bug.callers;
      if (worker.stage != Stage::build_tests || callers.empty()) return words;
      std::string line;
      for (const std::string& word : words) line += word + " ";
      line += "&& cd " + build + "/tests";
      for (const char* program : test_programs)
        line += " && " + link_in_front(build, program, callers);
      return {"sh", "-c", line};
    }
    case Stage::gradcheck:
      return {build + "/tests/planted_oracles"};
    case Stage::likely_tests:
      return {test_program, "--file", likely_tests(worker), "--abort"};
    case Stage::tests:
      return {test_program, "--abort"};
    case Stage::programs:
      return {"ctest",    "--test-dir",        build,
              "-R",       "^programs/",        "-E",
              table_test, "--stop-on-failure", "--output-on-failure"};
    case Stage::done:
      break;
  }
  throw std::logic_error("a worker without work");
}

// The test file whose name is that of the changed source, as --file wants it: asked first, since
// most bugs die there, in a tenth of the time of all tests. Empty when there is no such file.
std::string Crew::likely_tests(const Worker& worker) const {
  const fs::path file(worker.outcome.bug.file);
  const fs::path test = "tests" / file.parent_path() / ("test_" + file.stem().string() + ".cpp");
  return !file.empty() && fs::exists(plan_.sources / test) ? "/" + test.string() : "";
}

void Crew::begin(Worker& worker, Stage stage) {
  worker.stage = stage;
  const bool limited = stage == Stage::gradcheck || stage == Stage::likely_tests ||
                       stage == Stage::tests || stage == Stage::programs;
  worker.child = start(command(worker), log(worker), limited ? most_seconds : 0);
}

// A bug that both oracles have seen is dead: building and running the tests would triple its time.
bool Crew::asks_tests(const Outcome& outcome) const {
  return plan_.full || !outcome.dual.killed() || !outcome.differences.killed();
}

// The next stage follows from what this one said; after the last, or when nothing was built, the
// worker is done.
void Crew::judge(Worker& worker, const Ending& ending) {
  Outcome& outcome = worker.outcome;
  Stage next = Stage::done;
  // The same stage with the next test program, if there is one.
  const auto repeat = [&](Stage otherwise) {
    const bool again = worker.test_program + 1 < test_programs_for(outcome.bug);
    worker.test_program = again ? worker.test_program + 1 : 0;
    return again ? worker.stage : otherwise;
  };
  switch (worker.stage) {
    case Stage::configure:
      if (ending.status == 0) next = Stage::build;
      break;
    case Stage::build:
      outcome.built = ending.status == 0;
      if (outcome.built) next = Stage::gradcheck;
      break;
    case Stage::gradcheck: {
      const WrongRows rows = read_rows(contents(log(worker)));
      outcome.dual = rows_verdict(ending, rows, rows.dual);
      outcome.differences = rows_verdict(ending, rows, rows.differences);
      if (asks_tests(outcome)) next = Stage::build_tests;
      break;
    }
    case Stage::build_tests:
      outcome.built = ending.status == 0;
      if (outcome.built) next = likely_tests(worker).empty() ? Stage::tests : Stage::likely_tests;
      break;
    case Stage::likely_tests: {
      outcome.tests = run_verdict(ending);
      // A program fails too when it has no test of that file: the file is for other number types.
      const bool has_tests =
          contents(log(worker)).find("no test is in a file") == std::string::npos;
      if (!has_tests || !outcome.tests.killed()) next = repeat(Stage::tests);
      break;
    }
    case Stage::tests:
      outcome.tests = run_verdict(ending);
      if (!outcome.tests.killed())
        next = repeat(programs_.empty() ? Stage::done : Stage::build_programs);
      break;
    case Stage::build_programs:
      outcome.built = ending.status == 0;
      if (outcome.built) next = Stage::programs;
      break;
    case Stage::programs:
      outcome.tests = run_verdict(ending);
      break;
    case Stage::done:
      break;
  }
  if (next != Stage::done) return begin(worker, next);
  worker.stage = Stage::done;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - worker.begin;
  outcome.seconds = taken.count();
}

// Until every worker is done; `when_done` may give one more work.
void Crew::wait(const Next& when_done) {
  const auto busy = [](const auto& worker) { return worker->stage != Stage::done; };
  while (std::any_of(workers_.begin(), workers_.end(), busy)) {
    const Ended ended = wait_for_any();
    for (const auto& worker : workers_) {
      if (worker->child != ended.child || !busy(worker)) continue;
      judge(*worker, ended.ending);
      if (!busy(worker)) when_done(*worker);
    }
  }
}

std::string Crew::prove_clean() {
  std::string faults;
  const unsigned jobs = plan_.jobs_each;
  plan_.jobs_each *= plan_.workers;
  begin(*workers_.front(), Stage::configure);
  wait([&](const Worker& worker) {
    const Outcome& clean = worker.outcome;
    const auto say = [&](bool wrong, const char* what) {
      if (wrong) faults.append(what).append("; ");
    };
    say(!clean.built, "they do not build");
    say(clean.dual.killed(), "the dual oracle finds a wrong gradient");
    say(clean.differences.killed(), "the differences find a wrong gradient");
    say(clean.tests.killed(), "a test fails");
  });
  plan_.jobs_each = jobs;
  if (faults.empty())
    for (std::size_t i = 1; i < workers_.size(); ++i)
      workers_[i]->shop.take_over_build(workers_.front()->shop);
  return faults;
}

// The next bug of the file that is changed already, which saves a compilation; else one of a
// header, which takes up to 90 seconds and should not be waited for at the end; else the first of
// the file that has most bugs left and that no other worker has changed.
bool Crew::take_bug(Worker& worker) {
  if (waiting_.empty()) return false;
  const auto left = [&](const Bug& bug) {
    const auto same = [&](const Bug& other) { return other.file == bug.file; };
    const auto elsewhere = [&](const auto& other) {
      return other.get() != &worker && other->shop.changed() == bug.file;
    };
    const auto header = fs::path(bug.file).extension() == ".h" ? 300 : 0;
    const auto count = std::count_if(waiting_.begin(), waiting_.end(), same) + header;
    if (worker.shop.changed() == bug.file) return count + 1000;
    return std::any_of(workers_.begin(), workers_.end(), elsewhere) ? count - 1000 : count;
  };
  const auto best = std::max_element(waiting_.begin(), waiting_.end(),
                                     [&](const Bug& a, const Bug& b) { return left(a) < left(b); });
  worker.outcome = {};
  worker.test_program = 0;
  worker.outcome.bug = *best;
  waiting_.erase(best);
  worker.begin = std::chrono::steady_clock::now();
  worker.shop.plant(worker.outcome.bug);
  Outcome& outcome = worker.outcome;
  if (outcome.bug.tests_alone)
    outcome.dual = outcome.differences = outcome.tests;  // no gradient: the oracles are not run
  begin(worker, outcome.bug.tests_alone ? Stage::build_tests : Stage::build);
  return true;
}

void Crew::run(const Report& report) {
  for (const auto& worker : workers_) take_bug(*worker);
  wait([&](Worker& worker) {
    report(worker.outcome);
    take_bug(worker);
  });
}

}  // namespace planted
