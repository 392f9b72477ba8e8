#include "tests/faults/cases.h"

namespace fledge::faults {

namespace {

// A file that cannot be read may be unusable input (3); one that cannot be written is a failure (1).
bool only_reads(const RecordedCall& call) {
  switch (call.record.kind) {
    case Kind::open:
      return !call.creates();
    case Kind::read:
    case Kind::status:
    case Kind::list:
    case Kind::seek:
    case Kind::close:
      return true;
    default:
      return false;
  }
}

std::vector<int> statuses(const RecordedCall& call, const Failure& failure) {
  if (failure.harmless) return {0};
  if (only_reads(call)) return {0, 1, 3};
  return {0, 1};
}

Case fault(const World& world, const Scenario& scenario, const RecordedCall& call,
           const Failure& failure) {
  const std::string number = std::to_string(call.record.index);
  const std::string name =
      "fault/" + scenario.name + "/" + number + "/" + failure.name + " (" + call.text() + ")";
  return {name, [&world, &scenario, &call, failure, number](const std::string& place) {
            World::set_up(scenario, place);
            const Ending ending = world.start(scenario, place, number + ":" + failure.word).end();
            check_ending(ending, statuses(call, failure));
            const std::string folder = place + "/run";
            if (ending.status == 0) expect(ending.out == scenario.out, "exit 0, other output");
            if (ending.status == 0 || !scenario.writes) {
              World::check_finished(scenario, folder);
            } else {
              world.check_run(scenario, folder);
            }
          }};
}

}  // namespace

CasesOfKind single_faults(const World& world) {
  CasesOfKind found{"single faults", {}};
  for (const Scenario& scenario : world.scenarios)
    for (const RecordedCall& call : scenario.calls)
      for (const Failure& failure : failures_of(call))
        found.cases.push_back(fault(world, scenario, call, failure));
  return found;
}

}  // namespace fledge::faults
