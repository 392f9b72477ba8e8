// The cases of each kind.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/faults/disk.h"

namespace fledge::faults {

namespace {

namespace files = std::filesystem;

constexpr std::size_t most_first = 30, most_second = 12;  // places in pairs of kills
constexpr std::size_t most_stops = 120;  // places where a command is stopped, spread over its calls
constexpr long most_allocations = 400;   // of a command, spread over all

std::string number(std::size_t n) { return std::to_string(n); }

// A file that cannot be read may be unusable input (3); one that cannot be written is a failure (1).
std::vector<int> statuses(const RecordedCall& call, const Failure& failure) {
  constexpr Kind reads[] = {Kind::read, Kind::status, Kind::list, Kind::seek, Kind::close};
  const Kind kind = call.record.kind;
  const bool only_reads = std::count(std::begin(reads), std::end(reads), kind) > 0 ||
                          (kind == Kind::open && !call.creates());
  if (failure.harmless) return {0};
  return only_reads ? std::vector<int>{0, 1, 3} : std::vector<int>{0, 1};
}

/// After a command that ended with this status, with a fault.
void check_left(const World& world, const Scenario& scenario, const std::string& place,
                const Ending& ending) {
  if (ending.status == 0 || !scenario.writes)
    World::check_finished(scenario, place + "/run");
  else
    world.check_run(scenario, place + "/run");
}

CasesOfKind single_faults(const World& world) {
  CasesOfKind found{"single faults", {}};
  for (const Scenario& scenario : world.scenarios)
    for (const RecordedCall& call : scenario.calls)
      for (const Failure& failure : failures_of(call)) {
        const std::string index = number(call.record.index);
        found.cases.push_back(
            {"fault/" + scenario.name + "/" + index + "/" + failure.name + " (" + call.text() + ")",
             [&world, &scenario, &call, failure, index](const std::string& place) {
               World::set_up(scenario, place);
               const Ending ending = world.start(scenario, place, index + ":" + failure.word).end();
               check_ending(ending, statuses(call, failure));
               if (ending.status == 0)
                 expect(without_folder(ending.out, place + "/run") == scenario.out,
                        "exit 0, other output");
               check_left(world, scenario, place, ending);
             }});
      }
  return found;
}

/// Killed before a call, and again before another call of the run that goes on; 0: not again.
Case kill(const World& world, const Scenario& scenario, std::size_t first, std::size_t second) {
  return {"kill/" + scenario.name + "/" + number(first) + (second > 0 ? "+" + number(second) : ""),
          [&world, &scenario, first, second](const std::string& place) {
            World::set_up(scenario, place);
            const Ending ending = world.start(scenario, place, number(first) + ":kill").end();
            expect(ending.status == 128 + SIGKILL, "exit " + std::to_string(ending.status));
            if (second > 0)
              world.start(world.scenario("resume"), place, number(second) + ":kill").end();
            world.check_run(scenario, place + "/run");
          }};
}

CasesOfKind kills(const World& world) {
  CasesOfKind found{"kills", {}};
  const std::size_t most = world.scenario("resume").calls.size();
  for (const Scenario& scenario : world.scenarios) {
    const std::size_t count = scenario.calls.size();
    if (!scenario.writes) continue;
    for (std::size_t at = 1; at <= count; ++at) found.cases.push_back(kill(world, scenario, at, 0));
    // The second places are others for each first, so that together they spread over all.
    const std::size_t second_step = 1 + most / most_second;
    for (std::size_t first = 1, turn = 0; first <= count; first += 1 + count / most_first, ++turn)
      for (std::size_t second = 1 + 7 * turn % second_step; second <= most; second += second_step)
        found.cases.push_back(kill(world, scenario, first, second));
  }
  return found;
}

Tree below(const std::string& folder, const Tree& tree) {
  Tree result;
  for (const auto& [name, bytes] : tree) result[folder + name] = bytes;
  if (!tree.empty()) result[folder] = "";
  return result;
}

CasesOfKind power_cuts(const World& world) {
  CasesOfKind found{"power cuts", {}};
  for (const Scenario& scenario : world.scenarios) {
    if (!scenario.writes) continue;
    const std::string root = world.root + "/" + scenario.name, name = "cut/" + scenario.name + "/";
    Disk disk(root, below("run/", scenario.before));
    std::set<Tree> seen;
    for (const RecordedCall& call : scenario.calls) {
      if (!disk.make(call)) continue;
      int variant = 0;
      for (const Tree& left : disk.after_power_cut()) {
        ++variant;
        if (!seen.insert(left).second) continue;
        found.cases.push_back({name + number(call.record.index) + "/" + std::to_string(variant) +
                                   " (" + call.text() + ")",
                               [&world, &scenario, left](const std::string& place) {
                                 files::remove(place);
                                 write_tree(place, left);
                                 world.check_run(scenario, place + "/run");
                               }});
      }
    }
    // What was recorded must explain all that is there, and all of it must be durable by now.
    found.cases.push_back({name + "end", [&scenario, root, disk](const std::string&) {
                             Tree real = read_tree(root);
                             real.erase("calls");
                             const std::string missed = difference(real, disk.now());
                             expect(missed.empty(), "the record does not explain: " + missed);
                             for (const Tree& left : disk.after_power_cut()) {
                               const std::string lost =
                                   difference(below("run/", scenario.after.back()), left);
                               expect(lost.empty(), "exit 0, but after a power cut " + lost);
                             }
                           }});
  }
  return found;
}

/// Runs the command with failing_malloc.cpp, which this variable of the environment tells what to do.
Ending with_malloc(const World& world, const Scenario& scenario, const std::string& place,
                   const std::string& variable) {
  World::set_up(scenario, place);
  return Process(world.with_program(scenario.words, place + "/run"),
                 {"FLEDGE_THREADS=1", "LD_PRELOAD=" FLEDGE_MALLOC_LIBRARY, variable})
      .end();
}

CasesOfKind failed_allocations(const World& world) {
  CasesOfKind found{"allocations", {}};
  for (const Scenario& scenario : world.scenarios) {
    const std::string place = world.root + "/allocations-" + scenario.name;
    files::create_directory(place);
    check_ending(with_malloc(world, scenario, place, "FLEDGE_COUNT_MALLOC=" + place + "/count"),
                 {0});
    long count = 0;
    std::ifstream(place + "/count") >> count;
    expect(count > 0, "no allocation was counted in " + scenario.name);
    for (long n = 1; n <= count; n += 1 + (count - 1) / most_allocations)
      for (const char* and_later : {"", "+"}) {
        const std::string which = std::to_string(n) + and_later;
        found.cases.push_back({"malloc/" + scenario.name + "/" + which,
                               [&world, &scenario, which](const std::string& at) {
                                 const Ending ending = with_malloc(world, scenario, at,
                                                                   "FLEDGE_FAIL_MALLOC=" + which);
                                 check_ending(ending, {0, 1});
                                 check_left(world, scenario, at, ending);
                               }});
      }
  }
  return found;
}

Case interruption(const World& world, const Scenario& scenario, std::size_t at) {
  return {"interrupt/" + scenario.name + "/" + number(at),
          [&world, &scenario, at](const std::string& place) {
            World::set_up(scenario, place);
            const Ending ending = world.start(scenario, place, number(at) + ":interrupt").end();
            check_ending(ending, {128 + SIGINT, 0});  // 0 when all was done already
            if (ending.status == 0) World::check_finished(scenario, place + "/run");
            world.check_run(scenario, place + "/run");
          }};
}

/// How many of the calls in a log changed something in the run's folder. The folder itself and
/// its ".lock" do not count.
std::size_t changes(const std::string& log, const std::string& folder) {
  if (!files::exists(log)) return 0;
  const std::vector<RecordedCall> calls = read_calls(log);
  return static_cast<std::size_t>(
      std::count_if(calls.begin(), calls.end(), [&](const RecordedCall& call) {
        const Kind kind = call.record.kind;
        return call.record.error == 0 && call.path.starts_with(folder + "/") &&
               !call.path.ends_with("/.lock") && !call.path.ends_with("/.") &&
               (call.creates() || kind == Kind::rename || kind == Kind::unlink);
      }));
}

/// A command that stops in the middle, another one in the same folder, which stops too or not, and
/// the rest of the first. Never do both work in the folder.
Case two(const World& world, const Scenario& first, std::size_t first_stop, const Scenario& second,
         std::size_t second_stop, bool removes_lock) {
  const std::string name = first.name + "/" + number(first_stop) + "/" + second.name + "/" +
                           number(second_stop) + (removes_lock ? "/rm .lock" : "");
  return {"two/" + name, [=, &world, &first, &second](const std::string& place) {
            World::set_up(first, place);
            const std::string folder = place + "/run", a_log = place + "/a", b_log = place + "/b";
            const auto stop = [](std::size_t at) { return number(at) + ":stop"; };
            Process a = world.start(first, place, stop(first_stop), a_log);
            expect(a.stops(), "the first command ended before it was to stop");
            const std::size_t a_before = changes(a_log, folder);
            if (removes_lock) files::remove(folder + "/.lock");
            Process b = world.start(second, place, stop(second_stop), b_log);
            const bool b_lives = b.stops();
            const std::size_t b_before = changes(b_log, folder);
            expect(a_before == 0 || b_before == 0,
                   "both are in: the second came in after the first");
            a.send(SIGCONT);
            const Ending a_end = a.end();
            expect(!b_lives || b_before == 0 || changes(a_log, folder) == a_before,
                   "both are in: the first came in after the second");
            b.send(SIGCONT);
            const Ending b_end = b.end();
            check_ending(a_end, {0, 1, 3});
            check_ending(b_end, {0, 1, 3});
            Scenario either = first;
            either.after.insert(either.after.begin(), second.after.begin(), second.after.end());
            if (removes_lock)
              for (Tree& tree : either.after) tree.erase(".lock");
            world.check_run(either, folder);
          }};
}

CasesOfKind signals(const World& world) {
  CasesOfKind found{"signals", {}};
  for (const Scenario& scenario : world.scenarios) {
    const std::size_t count = scenario.calls.size();
    if (!scenario.writes) continue;
    for (std::size_t at = 1; at <= count; ++at)
      found.cases.push_back(interruption(world, scenario, at));
    for (std::size_t at = 1, turn = 0; at <= count; at += 1 + count / most_stops, ++turn) {
      const Scenario& second = world.scenario(scenario.name == "begin" ? "begin"
                                              : turn % 2 == 0          ? "resume"
                                                                       : scenario.name);
      // The second stops at one of seven places, or at none.
      const std::size_t places = 7, place = turn % (places + 1);
      const std::size_t stop = place * second.calls.size() / places + 1;
      found.cases.push_back(
          two(world, scenario, at, second, place < places ? stop : 1'000'000, turn % 3 == 0));
    }
  }
  return found;
}

}  // namespace

std::vector<CasesOfKind> all_cases(const World& world) {
  return {single_faults(world), kills(world), power_cuts(world), failed_allocations(world),
          signals(world)};
}

}  // namespace fledge::faults
