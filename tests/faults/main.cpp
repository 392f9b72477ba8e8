// Faults as tests: whatever fails, is killed or is cut off, a run is there, whole, and goes on to
// the same bytes. Each call of each command fails once, in each way that fits; SIGKILL comes before
// each call, and before another in the run that goes on; the folders that a power cut after each
// call can leave; each allocation fails, alone or with all that follow; Ctrl-C at each call, and
// two commands in one folder, one of them stopped in the middle.
//
//   faults [--sample] [--only TEXT] [--jobs N]
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <string_view>
#include <thread>

#include "tests/faults/disk.h"
#include "tests/support/folder.h"

namespace fledge::faults {

namespace {

namespace files = std::filesystem;

constexpr const char* usage =
    "faults: fails, kills and cuts off fledge's commands at every call, and checks what is left\n"
    "\n"
    "  --sample        some cases of each kind, always the same ones\n"
    "  --only TEXT     the cases with this text in their name, such as kill/begin/17\n"
    "  --jobs N        cases at a time; 2 by default\n"
    "\n"
    "Exit  0 all passed  1 one failed  2 usage\n";

constexpr std::size_t sampled = 80;                       // cases of a kind, in a sample
constexpr std::size_t most_shown = 30;                    // failed cases of a kind that are printed
constexpr std::size_t most_first = 30, most_second = 12;  // places in pairs of kills
constexpr std::size_t most_stops = 120;  // places where a command is stopped, spread over its calls
constexpr long most_allocations = 400;   // of a command, spread over all

/// One fault, and what must hold after it.
struct Case {
  std::string name;  // "kill/begin/17": a part of it chooses the case again
  /// Runs it in a folder of its own; throws std::runtime_error.
  std::function<void(const std::string& place)> check;
};
using Cases = std::vector<Case>;

std::string number(std::size_t n) { return std::to_string(n); }

/// Of each kind of call its name, the ways in which it can fail (names of errors, with + for all
/// later calls too), and whether it only reads.
constexpr struct {
  const char *name, *failures;
  bool reads;
} kinds[] = {{"open", "EIO EMFILE EACCES EINTR", true},
             {"close", "EIO EINTR", true},
             {"read", "EIO EINTR short", true},
             {"write", "ENOSPC ENOSPC+ EIO EIO+ EINTR short zero", false},
             {"fsync", "EIO EIO+ ENOSPC EINTR", false},
             {"rename", "ENOSPC EIO EACCES ENOSPC+", false},
             {"unlink", "EIO EACCES", false},
             {"mkdir", "ENOSPC EACCES EIO", false},
             {"rmdir", "EIO EACCES", false},
             {"stat", "EIO EACCES", true},
             {"lseek", "EIO", true},
             {"flock", "ENOLCK EINTR", false},
             {"readdir", "EIO EMFILE", true},
             {"thread", "EAGAIN", false}};
const auto& kind_of(const RecordedCall& call) {
  return kinds[static_cast<std::size_t>(call.record.kind)];
}

/// "write 3", "rename a to b".
std::string text_of(const RecordedCall& call) {
  std::string text = kind_of(call).name;
  if (call.record.descriptor >= 0) text += " " + std::to_string(call.record.descriptor);
  if (!call.path.empty()) text += " " + call.path.substr(call.path.rfind('/') + 1);
  if (!call.to.empty()) text += " to " + call.to.substr(call.to.rfind('/') + 1);
  return text;
}

/// The word for FLEDGE_CALLS_FAIL.
std::string word_of(const std::string& failure) {
  static const std::map<std::string, int> errors{
      {"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EACCES", EACCES}, {"EMFILE", EMFILE},
      {"EINTR", EINTR},   {"ENOLCK", ENOLCK}, {"EAGAIN", EAGAIN}};
  const auto error = errors.find(failure.substr(0, failure.find('+')));
  if (error == errors.end()) return failure;
  return std::to_string(error->second) + (failure.ends_with('+') ? "+" : "");
}

/// An interrupted call and half of the bytes change nothing. A file that cannot be read may be
/// unusable input (3); one that cannot be written is a failure (1).
std::vector<int> statuses(const RecordedCall& call, const std::string& failure) {
  if (failure == "EINTR" || failure == "short") return {0};
  if (kind_of(call).reads && !call.creates()) return {0, 1, 3};
  return {0, 1};
}

/// The command with a fault must end with one of these statuses. If it succeeded, all is as without
/// the fault; a command that only reads has changed nothing; a run is whole and goes on.
Case disturbed(const World& world, const Scenario& scenario, const std::string& name,
               const std::vector<int>& statuses,
               const std::function<Ending(const std::string& place)>& run) {
  return {name, [&world, &scenario, statuses, run](const std::string& place) {
            scenario.set_up(place);
            const Ending ending = run(place);
            check_ending(ending, statuses);
            if (ending.status == 0)
              expect(without_folder(ending.out, place + "/run") == scenario.out,
                     "exit 0, other output");
            if (ending.status == 0 || !scenario.writes)
              scenario.check_finished(place + "/run");
            else
              world.check_run(scenario, place + "/run");
          }};
}
/// With this value of FLEDGE_CALLS_FAIL.
Case disturbed(const World& world, const Scenario& scenario, const std::string& name,
               const std::vector<int>& statuses, const std::string& failure) {
  return disturbed(world, scenario, name, statuses, [&, failure](const std::string& place) {
    return world.start(scenario, place, failure).end();
  });
}

Cases single_faults(const World& world) {
  Cases cases;
  for (const Scenario& scenario : world.scenarios)
    for (const RecordedCall& call : scenario.calls) {
      std::istringstream failures(call.creates() ? "ENOSPC ENOSPC+ EMFILE EACCES EINTR"
                                                 : kind_of(call).failures);
      for (std::string failure; failures >> failure;) {
        const std::string index = number(call.record.index);
        cases.push_back(disturbed(
            world, scenario,
            "fault/" + scenario.name + "/" + index + "/" + failure + " (" + text_of(call) + ")",
            statuses(call, failure), index + ":" + word_of(failure)));
      }
    }
  return cases;
}

/// Killed before each call, and again before another call of the run that goes on.
Cases kills(const World& world) {
  Cases cases;
  const Scenario& resume = world.scenario("resume");
  const std::size_t most = resume.calls.size();
  for (const Scenario& scenario : world.scenarios) {
    const std::size_t count = scenario.calls.size();
    const std::string name = "kill/" + scenario.name + "/";
    if (!scenario.writes) continue;
    for (std::size_t at = 1; at <= count; ++at)
      cases.push_back(
          disturbed(world, scenario, name + number(at), {128 + SIGKILL}, number(at) + ":kill"));
    // The second places are others for each first, so that together they spread over all.
    const std::size_t second_step = 1 + most / most_second;
    for (std::size_t first = 1, turn = 0; first <= count; first += 1 + count / most_first, ++turn)
      for (std::size_t second = 1 + 7 * turn % second_step; second <= most; second += second_step)
        cases.push_back(disturbed(
            world, scenario, name + number(first) + "+" + number(second), {128 + SIGKILL},
            [&world, &scenario, &resume, first, second](const std::string& place) {
              const Ending ending = world.start(scenario, place, number(first) + ":kill").end();
              world.start(resume, place, number(second) + ":kill").end();
              return ending;
            }));
  }
  return cases;
}

Tree in_run(const Tree& tree) {
  Tree result;
  for (const auto& [name, bytes] : tree) result["run/" + name] = bytes;
  if (!tree.empty()) result["run/"] = "";
  return result;
}

Cases power_cuts(const World& world) {
  Cases cases;
  for (const Scenario& scenario : world.scenarios) {
    if (!scenario.writes) continue;
    const std::string root = world.root + "/" + scenario.name, name = "cut/" + scenario.name + "/";
    Disk disk(root, in_run(scenario.before));
    std::set<Tree> seen;
    for (const RecordedCall& call : scenario.calls) {
      if (!disk.make(call)) continue;
      int variant = 0;
      for (const Tree& left : disk.after_power_cut()) {
        ++variant;
        if (!seen.insert(left).second) continue;
        cases.push_back({name + number(call.record.index) + "/" + std::to_string(variant) + " (" +
                             text_of(call) + ")",
                         [&world, &scenario, left](const std::string& place) {
                           write_tree(place, left);
                           world.check_run(scenario, place + "/run");
                         }});
      }
    }
    // What was recorded must explain all that is there, and all of it must be durable by now.
    cases.push_back({name + "end", [&scenario, root, disk](const std::string&) {
                       Tree real = read_tree(root);
                       real.erase("calls");
                       const std::string missed = difference(real, disk.now());
                       expect(missed.empty(), "the record does not explain: " + missed);
                       for (const Tree& left : disk.after_power_cut()) {
                         const std::string lost = difference(in_run(scenario.after.back()), left);
                         expect(lost.empty(), "exit 0, but after a power cut " + lost);
                       }
                     }});
  }
  return cases;
}

Cases failed_allocations(const World& world) {
  Cases cases;
  for (const Scenario& scenario : world.scenarios) {
    const testing::Folder place;
    scenario.set_up(place.path());
    world.run_with_malloc(scenario, place.path(), "FLEDGE_COUNT_MALLOC=" + (place / "count"));
    long count = 0;
    std::ifstream(place / "count") >> count;
    expect(count > 0, "no allocation was counted in " + scenario.name);
    for (long n = 1; n <= count; n += 1 + (count - 1) / most_allocations)
      for (const char* and_later : {"", "+"}) {
        const std::string which = std::to_string(n) + and_later;
        cases.push_back(disturbed(world, scenario, "malloc/" + scenario.name + "/" + which, {0, 1},
                                  [&world, &scenario, which](const std::string& at) {
                                    return world.run_with_malloc(scenario, at,
                                                                 "FLEDGE_FAIL_MALLOC=" + which);
                                  }));
      }
  }
  return cases;
}

/// How many of the calls in a log changed something in the run's folder. The folder itself and
/// its ".lock" do not count.
std::ptrdiff_t changes(const std::string& log, const std::string& folder) {
  if (!files::exists(log)) return 0;
  const std::vector<RecordedCall> calls = read_calls(log);
  return std::count_if(calls.begin(), calls.end(), [&](const RecordedCall& call) {
    const Kind kind = call.record.kind;
    return call.record.error == 0 && call.path.starts_with(folder + "/") &&
           !call.path.ends_with("/.lock") && !call.path.ends_with("/.") &&
           (call.creates() || kind == Kind::rename || kind == Kind::unlink);
  });
}

/// A command that stops in the middle, another one in the same folder, which stops too or not, and
/// the rest of the first. Never do both work in the folder.
Case two(const World& world, const Scenario& first, std::size_t first_stop, const Scenario& second,
         std::size_t second_stop, bool removes_lock) {
  const std::string name = first.name + "/" + number(first_stop) + "/" + second.name + "/" +
                           number(second_stop) + (removes_lock ? "/rm .lock" : "");
  return {"two/" + name, [=, &world, &first, &second](const std::string& place) {
            first.set_up(place);
            const std::string folder = place + "/run", a_log = place + "/a", b_log = place + "/b";
            const auto stop = [](std::size_t at) { return number(at) + ":stop"; };
            Process a = world.start(first, place, stop(first_stop), a_log);
            expect(a.stops(), "the first command ended before it was to stop");
            const auto a_before = changes(a_log, folder);
            if (removes_lock) files::remove(folder + "/.lock");
            Process b = world.start(second, place, stop(second_stop), b_log);
            const bool b_lives = b.stops();
            const auto b_before = changes(b_log, folder);
            expect(a_before == 0 || b_before == 0,
                   "both are in: the second came in after the first");
            a.go_on();
            const Ending a_end = a.end();
            expect(!b_lives || b_before == 0 || changes(a_log, folder) == a_before,
                   "both are in: the first came in after the second");
            b.go_on();
            check_ending(a_end, {0, 1, 3});
            check_ending(b.end(), {0, 1, 3});
            Scenario either = first;
            either.after.insert(either.after.begin(), second.after.begin(), second.after.end());
            if (removes_lock)
              for (Tree& tree : either.after) tree.erase(".lock");
            world.check_run(either, folder);
          }};
}

Cases signals(const World& world) {
  Cases cases;
  for (const Scenario& scenario : world.scenarios) {
    const std::size_t count = scenario.calls.size();
    if (!scenario.writes) continue;
    for (std::size_t at = 1; at <= count; ++at)  // 0 when all was done already
      cases.push_back(disturbed(world, scenario, "interrupt/" + scenario.name + "/" + number(at),
                                {128 + SIGINT, 0}, number(at) + ":interrupt"));
    for (std::size_t at = 1, turn = 0; at <= count; at += 1 + count / most_stops, ++turn) {
      const Scenario& second = world.scenario(scenario.name == "begin" ? "begin"
                                              : turn % 2 == 0          ? "resume"
                                                                       : scenario.name);
      // The second stops at one of seven places, or at none.
      const std::size_t places = 7, place = turn % (places + 1);
      const std::size_t stop = place * second.calls.size() / places + 1;
      cases.push_back(
          two(world, scenario, at, second, place < places ? stop : 1'000'000, turn % 3 == 0));
    }
  }
  return cases;
}

Cases chosen(const Cases& all, const std::string& only, bool samples) {
  Cases cases, spread;
  for (const Case& one : all)
    if (one.name.find(only) != std::string::npos) cases.push_back(one);
  if (!samples || cases.size() <= sampled) return cases;
  for (std::size_t i = 0; i < sampled; ++i)
    spread.push_back(cases[(2 * i + 1) * cases.size() / (2 * sampled)]);
  for (const Case& one : cases)  // that all is durable in the end is seen by these alone
    if (one.name.ends_with("/end")) spread.push_back(one);
  return spread;
}

/// The number of cases that failed.
std::size_t run_all(const Cases& cases, unsigned jobs) {
  std::size_t failed = 0;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) try {
        const testing::Folder place;
        cases[i].check(place.path());
      } catch (const std::exception& error) {
        const std::lock_guard guard(mutex);
        if (++failed <= most_shown)
          std::printf("FAILED %s: %s\n", cases[i].name.c_str(), error.what());
        std::fflush(stdout);
      }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < jobs; ++i) workers.emplace_back(work);
  workers.clear();  // waits for them
  return failed;
}

int run(const std::string& only, bool samples, unsigned jobs) {
  const auto begin = std::chrono::steady_clock::now();
  const testing::Folder root;
  const World world(root.path());
  std::size_t passed = 0, failed = 0;
  for (const auto& [kind, all] : {std::pair{"single faults", single_faults(world)},
                                  {"kills", kills(world)},
                                  {"power cuts", power_cuts(world)},
                                  {"allocations", failed_allocations(world)},
                                  {"signals", signals(world)}}) {
    const Cases cases = chosen(all, only, samples);
    const std::size_t wrong = run_all(cases, jobs);
    std::printf("%-14s %6zu of %zu cases: %zu failed\n", kind, cases.size(), all.size(), wrong);
    failed += wrong;
    passed += cases.size() - wrong;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%zu passed, %zu failed in %.0f s\n", passed, failed, took.count());
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace

}  // namespace fledge::faults

int main(int argc, char** argv) try {
  std::string only;
  bool samples = false;
  unsigned jobs = 2;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--sample") {
      samples = true;
    } else if (word == "--only" && has_value) {
      only = argv[++i];
    } else if (word == "--jobs" && has_value) {
      jobs = static_cast<unsigned>(std::atoi(argv[++i]));
    } else {
      std::fputs(fledge::faults::usage, word == "--help" ? stdout : stderr);
      return word == "--help" ? 0 : 2;
    }
  }
  return fledge::faults::run(only, samples, jobs);
} catch (const std::exception& error) {
  std::fprintf(stderr, "faults: %s\n", error.what());
  return 1;
}
