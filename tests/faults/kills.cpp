#include <algorithm>

#include "tests/faults/cases.h"

namespace fledge::faults {

namespace {

constexpr int killed = 128 + 9;
constexpr std::size_t most_first = 30, most_second = 12;  // places in pairs of kills

Case kill(const World& world, const Scenario& scenario, std::size_t at) {
  return {"kill/" + scenario.name + "/" + std::to_string(at),
          [&world, &scenario, at](const std::string& place) {
            World::set_up(scenario, place);
            const Ending ending = world.start(scenario, place, std::to_string(at) + ":kill").end();
            expect(ending.status == killed, "exit " + std::to_string(ending.status));
            world.check_run(scenario, place + "/run");
          }};
}

Case pair(const World& world, const Scenario& scenario, std::size_t first, std::size_t second) {
  return {"kills/" + scenario.name + "/" + std::to_string(first) + "+" + std::to_string(second),
          [&world, &scenario, first, second](const std::string& place) {
            World::set_up(scenario, place);
            world.start(scenario, place, std::to_string(first) + ":kill").end();
            Scenario again = world.scenario("resume");
            world.start(again, place, std::to_string(second) + ":kill").end();
            world.check_run(scenario, place + "/run");
          }};
}

}  // namespace

CasesOfKind kills(const World& world) {
  CasesOfKind found{"kills", {}};
  const std::size_t most = world.scenario("resume").calls.size();
  for (const Scenario& scenario : world.scenarios) {
    if (!scenario.writes) continue;
    for (std::size_t at = 1; at <= scenario.calls.size(); ++at)
      found.cases.push_back(kill(world, scenario, at));
    // The second places are others for each first, so that together they spread over all.
    const std::size_t first_step = 1 + scenario.calls.size() / most_first;
    const std::size_t second_step = 1 + most / most_second;
    for (std::size_t first = 1, turn = 0; first <= scenario.calls.size();
         first += first_step, ++turn)
      for (std::size_t second = 1 + 7 * turn % second_step; second <= most; second += second_step)
        found.cases.push_back(pair(world, scenario, first, second));
  }
  return found;
}

}  // namespace fledge::faults
