// Plants every bug of the table into a copy of the sources, one at a time, and asks the checks:
// which of them see it? A bug that none sees is a hole in the checks, and a failure here.
//
//   planted [SOURCES] [--work FOLDER] [--full] [--only NAME] [--jobs N] [--list]
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <thread>

#include "bugs.h"
#include "crew.h"
#include "rows.h"

namespace {

using planted::Bug;
using planted::Outcome;

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
    "  --help         this text\n"
    "\n"
    "A line each, as they come: rows of the table of gradients that an oracle refuses (dual numbers,\n"
    "differences), what the tests say, and '-' where the bug was not seen.\n"
    "\n"
    "Exit  0 every bug was seen  1 one was not, or does not apply  2 usage  3 no sources there\n";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Request {
  std::filesystem::path sources = ".", folder;
  std::string only;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool full = false, list = false, help = false;
};

Request parse(int argc, char** argv) {
  Request request;
  bool named = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) throw UsageError(word + " needs a value");
      return argv[++i];
    };
    if (word == "--full") {
      request.full = true;
    } else if (word == "--list") {
      request.list = true;
    } else if (word == "--help" || word == "-h") {
      request.help = true;
    } else if (word == "--only") {
      request.only = value();
    } else if (word == "--work") {
      request.folder = value();
    } else if (word == "--jobs") {
      const std::string count = value();
      char* end = nullptr;
      const long jobs = std::strtol(count.c_str(), &end, 10);
      if (*end != '\0' || jobs < 1 || jobs > 64)
        throw UsageError("--jobs is a number from 1 to 64");
      request.jobs = static_cast<unsigned>(jobs);
    } else if (named || word.rfind('-', 0) == 0) {
      throw UsageError("an argument too many, or an unknown option");
    } else {
      request.sources = word;
      named = true;
    }
  }
  if (request.folder.empty()) request.folder = request.sources / "build/planted";
  return request;
}

void require_sources(const std::filesystem::path& sources) {
  if (!std::filesystem::exists(sources / "engine/autograd.cpp"))
    throw InputError(sources.string() + " is not the project's folder: no engine/autograd.cpp");
}

std::vector<Bug> wanted(const std::filesystem::path& sources, const std::string& only) {
  std::vector<Bug> bugs = planted::all_bugs();
  const auto rows = planted::rows_of(planted::contents(sources / "tests/planted/rows.txt"));
  bugs.insert(bugs.end(), rows.bugs.begin(), rows.bugs.end());
  std::erase_if(bugs, [&](const Bug& bug) { return bug.name.rfind(only, 0) != 0; });
  if (bugs.empty()) throw UsageError("no bug has a name that begins so; see: planted --list");
  return bugs;
}

void print_row(const char* name, const char* file, const char* dual, const char* differences,
               const char* tests, const char* seconds, std::string_view seen) {
  std::printf("%-38s %-28s %6s %12s %6s %8s  %.*s\n", name, file, dual, differences, tests, seconds,
              static_cast<int>(seen.size()), seen.data());
  std::fflush(stdout);
}

void print_outcome(const Outcome& outcome) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", outcome.seconds);
  const Bug& bug = outcome.bug;
  const std::string name(bug.name), file(bug.file);
  if (outcome.built)
    print_row(name.c_str(), file.c_str(), outcome.dual.word.c_str(),
              outcome.differences.word.c_str(), outcome.tests.word.c_str(), seconds, bug.seen);
  else
    print_row(name.c_str(), file.c_str(), "does", "not", "build", seconds, bug.seen);
}

// Counts of the matrix, and those that live.
struct Tally {
  std::size_t dual = 0, differences = 0, tests = 0, tests_alone = 0, killed = 0;
  std::vector<Outcome> alive;

  void add(const Outcome& outcome) {
    const bool by_dual = outcome.dual.killed(), by_differences = outcome.differences.killed();
    dual += by_dual;
    differences += by_differences;
    tests += outcome.tests.killed();
    tests_alone += outcome.tests.killed() && !by_dual && !by_differences;
    killed += outcome.killed();
    if (!outcome.killed()) alive.push_back(outcome);
  }
};

int summary(const Tally& tally, std::size_t count, double seconds) {
  std::printf("\nseen by dual numbers %zu, by differences %zu, by tests %zu (by tests alone %zu)\n",
              tally.dual, tally.differences, tally.tests, tally.tests_alone);
  for (const Outcome& outcome : tally.alive)
    std::printf("%s: %s in %s\n", outcome.built ? "not seen" : "does not build",
                std::string(outcome.bug.name).c_str(), std::string(outcome.bug.file).c_str());
  std::printf("%zu bugs in %.0f s\n%zu passed, %zu failed\n", count, seconds, tally.killed,
              count - tally.killed);
  return tally.killed == count ? 0 : 1;
}

int plant(const Request& request, const std::vector<Bug>& bugs) {
  const auto begin = std::chrono::steady_clock::now();
  const auto originals = planted::originals_of(request.sources, bugs);
  const std::string faults = planted::entries_that_do_not_apply(bugs, originals);
  if (!faults.empty()) throw std::runtime_error("entries of the table do not apply\n" + faults);

  planted::Plan plan{request.sources, absolute(request.folder).lexically_normal(), bugs, 1, 1,
                     request.full};
  plan.workers = std::min(request.jobs, static_cast<unsigned>(bugs.size()));
  plan.jobs_each = std::max(1U, request.jobs / plan.workers);
  std::fprintf(stderr, "planted: building the sources, %u copies, in %s\n", plan.workers,
               plan.folder.c_str());
  planted::Crew crew(plan, originals);
  const std::string unclean = crew.prove_clean();
  if (!unclean.empty())
    throw std::runtime_error("the sources must pass without a bug: " + unclean + "see " +
                             (plan.folder / "logs").string() + "/worker01.*");

  print_row("bug", "planted in", "dual", "differences", "tests", "seconds", "seen in");
  Tally tally;
  crew.run([&](const Outcome& outcome) {
    print_outcome(outcome);
    tally.add(outcome);
  });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return summary(tally, bugs.size(), taken.count());
}

int run(int argc, char** argv) {
  const Request request = parse(argc, argv);
  if (request.help) {
    std::fputs(usage, stdout);
    return 0;
  }
  require_sources(request.sources);
  const std::vector<Bug> bugs = wanted(request.sources, request.only);
  if (request.list) {
    for (const Bug& bug : bugs)
      std::printf("%-38s %-28s %s\n", std::string(bug.name).c_str(), std::string(bug.file).c_str(),
                  std::string(bug.seen).c_str());
    return 0;
  }
  // The make that called must lend neither its job slots nor its variables to those of the copies.
  for (const char* name : {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"}) unsetenv(name);
  return plant(request, bugs);
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const UsageError& error) {
  std::fprintf(stderr, "planted: %s\nsee: planted --help\n", error.what());
  return 2;
} catch (const InputError& error) {
  std::fprintf(stderr, "planted: %s\n", error.what());
  return 3;
} catch (const std::exception& error) {
  std::fprintf(stderr, "planted: %s\n", error.what());
  return 1;
}
