#include <filesystem>
#include <fstream>

#include "tests/faults/cases.h"

namespace fledge::faults {

namespace {

constexpr long most_places = 400;  // of a command, spread over its allocations

/// The environment of a command whose allocations are counted or fail (failing_malloc.cpp).
Words environment_of(const std::string& variable) {
  return {"FLEDGE_THREADS=1", "LD_PRELOAD=" FLEDGE_MALLOC_LIBRARY, variable};
}

Ending run_scenario(const World& world, const Scenario& scenario, const std::string& place,
                    const std::string& variable) {
  return run(world.with_program(scenario.words, place + "/run"), environment_of(variable));
}

long allocations_of(const World& world, const Scenario& scenario) {
  const std::string place = world.root + "/allocations-" + scenario.name;
  const std::string count_file = place + "/count";
  std::filesystem::create_directory(place);
  World::set_up(scenario, place);
  check_ending(run_scenario(world, scenario, place, "FLEDGE_COUNT_MALLOC=" + count_file), {0});
  long count = 0;
  std::ifstream(count_file) >> count;
  expect(count > 0, "no allocation was counted in " + scenario.name);
  return count;
}

/// Allocation n fails; with "n+", so do all after it.
Case failing(const World& world, const Scenario& scenario, const std::string& which) {
  return {"malloc/" + scenario.name + "/" + which,
          [&world, &scenario, which](const std::string& place) {
            World::set_up(scenario, place);
            const Ending ending =
                run_scenario(world, scenario, place, "FLEDGE_FAIL_MALLOC=" + which);
            check_ending(ending, {0, 1});
            if (ending.status == 0 || !scenario.writes) {
              World::check_finished(scenario, place + "/run");
            } else {
              world.check_run(scenario, place + "/run");
            }
          }};
}

}  // namespace

CasesOfKind failed_allocations(const World& world) {
  CasesOfKind found{"allocations", {}};
  for (const Scenario& scenario : world.scenarios) {
    const long count = allocations_of(world, scenario);
    const long step = 1 + (count - 1) / most_places;
    for (long n = 1; n <= count; n += step) {
      found.cases.push_back(failing(world, scenario, std::to_string(n)));
      found.cases.push_back(failing(world, scenario, std::to_string(n) + "+"));
    }
  }
  return found;
}

}  // namespace fledge::faults
