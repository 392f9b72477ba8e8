#include <algorithm>
#include <csignal>
#include <filesystem>

#include "tests/faults/cases.h"

namespace fledge::faults {

namespace {

namespace files = std::filesystem;

constexpr std::size_t most_stops = 120;  // places where a command is stopped, spread over its calls

Case interruption(const World& world, const Scenario& scenario, std::size_t at) {
  return {"interrupt/" + scenario.name + "/" + std::to_string(at),
          [&world, &scenario, at](const std::string& place) {
            World::set_up(scenario, place);
            const Ending ending =
                world.start(scenario, place, std::to_string(at) + ":interrupt").end();
            check_ending(ending, {128 + SIGINT, 0});  // 0 when all was done already
            if (ending.status == 0) World::check_finished(scenario, place + "/run");
            world.check_run(scenario, place + "/run");
          }};
}

/// How many of the calls in a log changed something in the run's folder. The folder itself and
/// its ".lock" do not count.
std::size_t changes(const std::string& log, const std::string& folder) {
  if (!files::exists(log)) return 0;
  std::size_t count = 0;
  for (const RecordedCall& call : read_calls(log)) {
    if (call.record.error != 0 || !call.path.starts_with(folder + "/")) continue;
    if (call.path.ends_with("/.lock") || call.path.ends_with("/.")) continue;
    const Kind kind = call.record.kind;
    count += call.creates() || kind == Kind::rename || kind == Kind::unlink ||
             kind == Kind::make_folder || kind == Kind::remove_folder;
  }
  return count;
}

/// A command that stops in the middle, another one in the same folder, which stops too or not, and
/// the rest of the first. Never do both work in the folder.
Case two(const World& world, const Scenario& first, std::size_t first_stop, const Scenario& second,
         std::size_t second_stop, bool removes_lock) {
  const std::string name = first.name + "/" + std::to_string(first_stop) + "/" + second.name + "/" +
                           std::to_string(second_stop) + (removes_lock ? "/rm .lock" : "");
  return {"two/" + name, [=, &world, &first, &second](const std::string& place) {
            World::set_up(first, place);
            const std::string folder = place + "/run", a_log = place + "/a", b_log = place + "/b";
            const auto stop = [](std::size_t at) { return std::to_string(at) + ":stop"; };
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

/// The folder is moved or removed while a command is stopped; a new run begins under its old name.
Case moved(const World& world, const Scenario& scenario, std::size_t at, bool removes) {
  return {std::string(removes ? "removed/" : "moved/") + scenario.name + "/" + std::to_string(at),
          [&world, &scenario, at, removes](const std::string& place) {
            World::set_up(scenario, place);
            const std::string folder = place + "/run", elsewhere = place + "/elsewhere";
            const std::string log = place + "/calls";
            Process process = world.start(scenario, place, std::to_string(at) + ":stop", log);
            expect(process.stops(), "the command ended before it was to stop");
            const bool is_in = changes(log, folder) > 0;
            const bool there = files::exists(folder);
            if (removes) {
              files::remove_all(folder);
            } else if (there) {
              files::rename(folder, elsewhere);
            }
            check_ending(world.run(world.other.words, folder), {0});
            process.send(SIGCONT);
            check_ending(process.end(), {0, 1, 3});
            // A command that had not come so far may replace the new run, if it was asked to.
            if (is_in || scenario.name != "force") World::check_finished(world.other, folder);
            if (!removes && there) world.check_run(scenario, elsewhere);
          }};
}

/// A run is replaced while a reader is stopped: what it prints is of one run.
Case replaced(const World& world, const Scenario& reader, std::size_t at) {
  return {"replaced/" + reader.name + "/" + std::to_string(at),
          [&world, &reader, at](const std::string& place) {
            const Scenario& force = world.scenario("force");
            World::set_up(force, place);
            const std::string folder = place + "/run";
            const std::string old = world.run(reader.words, folder).out;
            Process process = world.start(reader, place, std::to_string(at) + ":stop");
            expect(process.stops(), "the reader ended before it was to stop");
            check_ending(world.run(force.words, folder), {0});
            process.send(SIGCONT);
            const Ending ending = process.end();
            check_ending(ending, {0});
            expect(ending.out == old || ending.out == reader.out,
                   "output of neither run: " + ending.out);
          }};
}

}  // namespace

CasesOfKind signals(const World& world) {
  CasesOfKind found{"signals", {}};
  std::vector<Case>& cases = found.cases;
  for (const Scenario& scenario : world.scenarios) {
    const std::size_t count = scenario.calls.size();
    if (!scenario.writes)
      for (std::size_t at = 1; at <= count; ++at) cases.push_back(replaced(world, scenario, at));
    if (!scenario.writes) continue;
    for (std::size_t at = 1; at <= count; ++at) cases.push_back(interruption(world, scenario, at));
    const std::size_t step = 1 + count / most_stops;
    for (std::size_t at = 1, turn = 0; at <= count; at += step, ++turn) {
      for (const bool removes : {false, true}) cases.push_back(moved(world, scenario, at, removes));
      const Scenario& second = world.scenario(scenario.name == "begin" ? "begin"
                                              : turn % 2 == 0          ? "resume"
                                                                       : scenario.name);
      // The second stops at one of seven places, or at none.
      const std::size_t places = 7, place = turn % (places + 1);
      const std::size_t second_stop = place * second.calls.size() / places + (place < places);
      cases.push_back(two(world, scenario, at, second, place < places ? second_stop : 1'000'000,
                          turn % 3 == 0));
    }
  }
  return found;
}

}  // namespace fledge::faults
