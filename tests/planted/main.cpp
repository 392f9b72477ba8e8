// Plants every bug of bugs.txt into a copy of the sources, one at a time, and asks the checks:
// which of them see it? A bug that none sees is a hole in the checks, and a failure here. Or plants
// one for a reader to find, the zoo.
#include <chrono>
#include <cmath>
#include <deque>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "copy.h"

namespace {

namespace fs = std::filesystem;
using planted::Bug;
using planted::Command;
using planted::Copy;
using planted::is_seen;

constexpr const char* usage =
    "planted: plants known bugs into a copy of the sources; the checks must see each\n"
    "\n"
    "  planted [SOURCES] [OPTIONS]   SOURCES is the project's folder, here by default\n"
    "\n"
    "  --full         the tests too, also for bugs that both oracles saw: 'spared' otherwise, as\n"
    "                 the oracles are where there is no gradient\n"
    "  --only NAME    the bugs whose names begin so, such as softmax\n"
    "  --jobs N       workers, each with a copy of its own; as many as there are cores by default\n"
    "  --work FOLDER  where the copies are; SOURCES/build/planted by default\n"
    "  --list         the bugs and where they were seen, and nothing else\n"
    "  --zoo N        builds fledge with a bug that you are to find, in SOURCES/build/zoo\n"
    "  --answer       which bug is in the zoo\n"
    "  --help         this text\n"
    "\n"
    "A line each, as they come: rows of the table of gradients that an oracle refuses (dual numbers,\n"
    "differences), what the tests say, and '-' where the bug was not seen.\n"
    "\n"
    "Exit  0 every bug was seen  1 one was not, or does not apply  2 usage  3 no sources there";

constexpr unsigned most_seconds = 180;  // of one program; the sources as they are take 30 to 60

// A test of bugs.txt must not run where a bug is planted: there its block does not apply.
constexpr const char* table_test = "planted_table";

struct Refusal : std::runtime_error {
  Refusal(int exit_status, const std::string& why) : runtime_error(why), status(exit_status) {}
  int status;
};
Refusal usage_error(const std::string& why) { return {2, why + "\nsee: planted --help"}; }

struct Request {
  fs::path sources = ".", work;
  std::string only;
  unsigned jobs = std::clamp(std::thread::hardware_concurrency(), 1U, 64U), zoo = 0;
  std::set<std::string> flags;  // "--full", "--list", "--answer", "--help"
};

Request parse(const Command& words) {
  Request request;
  bool is_named = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 >= words.size()) throw usage_error(word + " needs a value");
      return words[++i];
    };
    const auto number = [&](unsigned most) {
      const std::string& text = value();
      const bool is_number =
          !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
      const unsigned long n = is_number ? std::stoul(text) : 0;
      if (n < 1 || n > most)
        throw usage_error(word + " is a number from 1 to " + std::to_string(most));
      return static_cast<unsigned>(n);
    };
    if (word == "--full" || word == "--list" || word == "--answer" || word == "--help") {
      request.flags.insert(word);
    } else if (word == "-h") {
      request.flags.insert("--help");
    } else if (word == "--only") {
      request.only = value();
    } else if (word == "--work") {
      request.work = value();
    } else if (word == "--jobs") {
      request.jobs = number(64);
    } else if (word == "--zoo") {
      request.zoo = number(999'999'999);
    } else if (is_named || word.starts_with('-')) {
      throw usage_error("an argument too many, or an unknown option");
    } else {
      request.sources = word;
      is_named = true;
    }
  }
  if (request.work.empty()) request.work = request.sources / "build/planted";
  return request;
}

// What became of a bug: the verdicts of the checks.
struct Outcome {
  Bug bug;
  std::string dual = "spared", differences = "spared", tests = "spared";
  bool built = false;
  double seconds = 0;
  bool killed() const { return built && (is_seen(dual) || is_seen(differences) || is_seen(tests)); }
};

// Asks the oracles about the bug that is in the copy, and the tests where an oracle has not seen
// it. A bug that both have seen is dead: building and running the tests would triple its time.
// `log` begins the names of the logs.
Outcome ask(const Copy& copy, bool full, unsigned jobs, const std::string& log) {
  const fs::path tests = copy.build() / "tests";
  const Bug& bug = copy.planted();
  Outcome outcome;
  outcome.bug = bug;
  const auto compile = [&](const char* stage, const Command& targets) {
    return outcome.built = copy.compile(targets, jobs, log + stage);
  };
  const auto test = [&](const char* stage, const Command& command) {
    outcome.tests = planted::run_verdict(planted::run(command, log + stage, most_seconds));
    return is_seen(outcome.tests);
  };

  Command programs{"tests32"};
  if (bug.gradient != "none") {
    programs.push_back("tests_dual");
    if (!compile("build", {"planted_oracles"})) return outcome;
    const auto ending = planted::run({tests / "planted_oracles"}, log + "gradcheck", most_seconds);
    const auto seen = planted::oracle_verdicts(ending, planted::contents(log + "gradcheck"));
    outcome.dual = seen.dual;
    outcome.differences = seen.differences;
    if (is_seen(seen.dual) && is_seen(seen.differences) && !full) return outcome;
  }
  if (!compile("build_tests", programs)) return outcome;

  // The test file whose name is that of the changed source comes first, or the tests of its folder:
  // most bugs die there, in a tenth of the time of all tests. A program without such a test fails,
  // and says so.
  const fs::path file(bug.file), folder = "tests" / file.parent_path();
  const fs::path own = folder / ("test_" + file.stem().string() + ".cpp");
  const std::string likely =
      "/" + (fs::exists(copy.source() / own) ? own.string() : folder.string() + "/");
  for (const std::string& program : programs)
    if (test("likely_tests", {tests / program, "--file", likely, "--abort"}) &&
        planted::contents(log + "likely_tests").find("no test is in /") == std::string::npos)
      return outcome;
  for (const std::string& program : programs)
    if (test("tests", {tests / program, "--abort"})) return outcome;
  programs.clear();
  for (const auto& entry : fs::directory_iterator(copy.source() / "tests/programs"))
    if (entry.path().extension() == ".cpp" && entry.path().stem() != table_test)
      programs.push_back("program_" + entry.path().stem().string());
  if (compile("build_programs", programs))
    test("programs", {"ctest", "--test-dir", copy.build(), "-R", "^programs/", "-E", table_test,
                      "--stop-on-failure", "--output-on-failure"});
  return outcome;
}

// Builds the sources as they are and runs all checks on them.
void prove_clean(const Copy& copy, unsigned jobs, const std::string& log) {
  const bool configured = copy.configure("ON", log + "configure");
  const Outcome clean = configured ? ask(copy, false, jobs, log) : Outcome();
  std::string faults;
  if (!clean.built) faults += "they do not build; ";
  if (is_seen(clean.dual)) faults += "the dual oracle finds a wrong gradient; ";
  if (is_seen(clean.differences)) faults += "the differences find a wrong gradient; ";
  if (is_seen(clean.tests)) faults += "a test fails; ";
  if (!faults.empty())
    throw std::runtime_error("the sources must pass without a bug: " + faults + "see " + log + "*");
}

// Takes a bug of the file that is changed in this copy already: that saves a compilation. Else one
// of a file that no worker has begun, else the first.
Bug take_bug(std::vector<Bug>& waiting, std::set<std::string>& begun, const Copy& copy) {
  const auto rank = [&](const Bug& bug) {
    return bug.file == copy.planted().file ? 0 : begun.contains(bug.file) ? 2 : 1;
  };
  const auto next = std::min_element(waiting.begin(), waiting.end(),
                                     [&](const Bug& a, const Bug& b) { return rank(a) < rank(b); });
  Bug bug = *next;
  waiting.erase(next);
  begun.insert(bug.file);
  return bug;
}

constexpr const char* row = "%-38s %-28s %6s %12s %6s %8s  %s\n";

void print(const Outcome& outcome) {
  const Bug& bug = outcome.bug;
  const bool built = outcome.built;
  std::printf(row, bug.name.c_str(), bug.file.c_str(), built ? outcome.dual.c_str() : "does",
              built ? outcome.differences.c_str() : "not", built ? outcome.tests.c_str() : "build",
              std::to_string(std::lround(outcome.seconds)).c_str(), bug.seen.c_str());
  std::fflush(stdout);
}

// Which checks saw the bugs, and the bugs that none saw. Returns the exit status.
int summary(const std::vector<Outcome>& outcomes, double seconds) {
  const auto count = [&](auto holds) {
    return static_cast<int>(std::count_if(outcomes.begin(), outcomes.end(), holds));
  };
  std::printf("\nseen by dual numbers %d, by differences %d, by tests %d (by tests alone %d)\n",
              count([](const Outcome& one) { return is_seen(one.dual); }),
              count([](const Outcome& one) { return is_seen(one.differences); }),
              count([](const Outcome& one) { return is_seen(one.tests); }),
              count([](const Outcome& one) {
                return is_seen(one.tests) && !is_seen(one.dual) && !is_seen(one.differences);
              }));
  for (const Outcome& outcome : outcomes)
    if (!outcome.killed())
      std::printf("%s: %s in %s\n", outcome.built ? "not seen" : "does not build",
                  outcome.bug.name.c_str(), outcome.bug.file.c_str());
  const int killed = count([](const Outcome& one) { return one.killed(); });
  const int alive = static_cast<int>(outcomes.size()) - killed;
  std::printf("%zu bugs in %.0f s\n%d passed, %d failed\n", outcomes.size(), seconds, killed,
              alive);
  return alive == 0 ? 0 : 1;
}

int plant(const Request& request, std::vector<Bug> waiting) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  const auto begin = Clock::now();
  const fs::path work = fs::weakly_canonical(request.work);
  const std::string logs = work / "logs/";
  const unsigned workers = std::min(request.jobs, static_cast<unsigned>(waiting.size()));
  std::fprintf(stderr, "planted: building the sources, %u copies, in %s\n", workers, work.c_str());
  std::deque<Copy> copies;
  copies.emplace_back(request.sources, work / "worker01", waiting);
  prove_clean(copies.front(), request.jobs, logs + "worker01.");
  for (unsigned i = 2; i <= workers; ++i)
    copies.emplace_back(copies.front(),
                        work / ((i < 10 ? "worker0" : "worker") + std::to_string(i)));

  // First the bugs of headers, which take up to 90 seconds and should not be waited for at the end,
  // then those of the file that has most.
  std::map<std::string, int> weight;
  for (const Bug& bug : waiting) weight[bug.file] += bug.file.ends_with(".h") ? 1000 : 1;
  std::stable_sort(waiting.begin(), waiting.end(),
                   [&](const Bug& a, const Bug& b) { return weight[a.file] > weight[b.file]; });
  std::printf(row, "bug", "planted in", "dual", "differences", "tests", "seconds", "seen in");
  std::mutex mutex;
  std::set<std::string> begun;
  std::vector<Outcome> outcomes;
  const auto work_in = [&](Copy& copy) {
    std::unique_lock lock(mutex);
    while (!waiting.empty()) {
      const auto start = Clock::now();
      copy.plant(take_bug(waiting, begun, copy));
      lock.unlock();
      Outcome outcome = ask(copy, request.flags.contains("--full"),
                            std::max(1U, request.jobs / workers), logs + copy.planted().name + ".");
      outcome.seconds = Seconds(Clock::now() - start).count();
      lock.lock();
      print(outcome);
      outcomes.push_back(outcome);
    }
  };
  std::vector<std::future<void>> threads;
  for (Copy& copy : copies)
    threads.push_back(std::async(std::launch::async, work_in, std::ref(copy)));
  for (std::future<void>& thread : threads) thread.get();
  return summary(outcomes, Seconds(Clock::now() - begin).count());
}

// Of the bugs of gradients this one. The checker's own bugs would be judges in their own case, and
// an optimiser has no gradient. Neighbours in the table are alike; 7919, a prime, takes them far
// from each other.
const Bug& zoo_bug(const std::vector<Bug>& bugs, std::size_t number) {
  return bugs[number % bugs.size() * 7919 % bugs.size()];
}

// Plants the bug of this number, or the next that `fledge gradcheck` refuses, so that it can be
// found. Prints how to look for it, not which it is.
void let_in(const std::vector<Bug>& bugs, unsigned number, const fs::path& sources,
            const fs::path& folder) {
  const auto require = [&](bool succeeded, const char* log) {
    if (!succeeded) throw std::runtime_error("cmake failed: see " + (folder / log).string());
  };
  fs::remove(folder / "number");
  std::fprintf(stderr, "zoo: building fledge with one wrong line in %s (minutes at first)\n",
               folder.c_str());
  Copy copy(sources, folder, {});  // what does not apply is not refused by gradcheck
  require(copy.configure("OFF", folder / "configure.log"), "configure.log");
  const std::string source = copy.source(), build = copy.build();
  for (std::size_t tries = 0;; ++tries, ++number) {
    if (tries == bugs.size()) throw std::runtime_error("no bug was refused by gradcheck");
    copy.plant(zoo_bug(bugs, number));
    require(copy.compile({"fledge_command", "lessons"}, 2, folder / "build.log"), "build.log");
    if (planted::run({build + "/fledge", "gradcheck"}, folder / "gradcheck.log").status == 1) break;
  }
  planted::write_file(folder / "number", std::to_string(number));
  std::printf(
      "One line of engine/ or nn/ is wrong now, in a copy of the sources.\n\n"
      "  ask    %s/fledge gradcheck  which gradients are wrong?\n"
      "  run    %s/lessons/*       which claims fail, and which hold all the same?\n"
      "  read   %s            the rule that does not follow from its formula\n"
      "  then   make zoo ANSWER=1\n\n"
      "Another: make zoo BUG=%u (of %zu).\n",
      build.c_str(), build.c_str(), source.c_str(), number + 1, bugs.size());
}

// Prints which bug is in, as `folder`/number has it.
void tell(const std::vector<Bug>& bugs, const fs::path& sources, const fs::path& folder) {
  if (!fs::exists(folder / "number")) throw usage_error("no bug is in: make zoo first");
  const Bug& bug = zoo_bug(bugs, std::stoul(planted::contents(folder / "number")));
  const std::string wrong = planted::contents(folder / "source" / bug.file);
  const std::string right = planted::contents(sources / bug.file);
  const auto first = std::mismatch(right.begin(), right.end(), wrong.begin(), wrong.end()).first;
  const auto one_line = [](const std::string& text) {
    std::istringstream words(text);
    std::string line;
    for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
    return line;
  };
  std::printf("%s, in %s, line %td\n\n  right  %s\n  wrong  %s\n\n%s\n", bug.name.c_str(),
              bug.file.c_str(), 1 + std::count(right.begin(), first, '\n'),
              one_line(bug.find).c_str(), one_line(bug.replace).c_str(), bug.seen.c_str());
}

int run(const Request& request) {
  if (request.flags.contains("--help")) return std::puts(usage), 0;
  if (!fs::exists(request.sources / "engine/autograd.cpp"))
    throw Refusal(
        3, request.sources.string() + " is not the project's folder: no engine/autograd.cpp");
  // The make that called must lend neither its job slots nor its variables to those of the copies.
  for (const char* name : {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"}) unsetenv(name);
  std::vector<Bug> bugs =
      planted::read_bugs(planted::contents(request.sources / "tests/planted/bugs.txt"));
  std::erase_if(bugs, [](const Bug& bug) { return !bug.same.empty(); });
  const bool answers = request.flags.contains("--answer");
  if (answers || request.zoo > 0) {
    std::erase_if(bugs, [](const Bug& bug) {
      return bug.gradient == "none" || bug.file.find("gradcheck") != bug.file.npos ||
             bug.file.find("/optim/") != bug.file.npos;
    });
    const fs::path zoo = fs::weakly_canonical(request.sources / "build/zoo");
    answers ? tell(bugs, request.sources, zoo) : let_in(bugs, request.zoo, request.sources, zoo);
    return 0;
  }
  std::erase_if(bugs, [&](const Bug& bug) { return !bug.name.starts_with(request.only); });
  if (bugs.empty()) throw usage_error("no bug has a name that begins so; see: planted --list");
  if (!request.flags.contains("--list")) return plant(request, bugs);
  for (const Bug& bug : bugs)
    std::printf("%-38s %-28s %s\n", bug.name.c_str(), bug.file.c_str(), bug.seen.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(parse({argv + 1, argv + argc}));
} catch (const Refusal& refusal) {
  std::fprintf(stderr, "planted: %s\n", refusal.what());
  return refusal.status;
} catch (const std::exception& error) {
  std::fprintf(stderr, "planted: %s\n", error.what());
  return 1;
}
