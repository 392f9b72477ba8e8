#include <filesystem>

#include "tests/faults/cases.h"
#include "tests/faults/disk.h"

namespace fledge::faults {

namespace {

Tree below(const std::string& folder, const Tree& tree) {
  Tree result;
  for (const auto& [name, bytes] : tree) result[folder + name] = bytes;
  if (!tree.empty()) result[folder] = "";
  return result;
}

void check(const World& world, const Scenario& scenario, const Tree& left,
           const std::string& place) {
  std::filesystem::remove(place);
  write_tree(place, left);
  world.check_run(scenario, place + "/run");
}

}  // namespace

CasesOfKind power_cuts(const World& world) {
  CasesOfKind found{"power cuts", {}};
  for (const Scenario& scenario : world.scenarios) {
    if (!scenario.writes) continue;
    const std::string root = world.root + "/" + scenario.name;
    Disk disk(root, below("run/", scenario.before));
    std::set<Tree> seen;
    for (const RecordedCall& call : scenario.calls) {
      if (!disk.make(call)) continue;
      int variant = 0;
      for (const Tree& left : disk.after_power_cut()) {
        ++variant;
        if (!seen.insert(left).second) continue;
        found.cases.push_back({"cut/" + scenario.name + "/" + std::to_string(call.record.index) +
                                   "/" + std::to_string(variant) + " (" + call.text() + ")",
                               [&world, &scenario, left](const std::string& place) {
                                 check(world, scenario, left, place);
                               }});
      }
    }
    // What was recorded must explain all that is there, and all of it must be durable by now.
    found.cases.push_back(
        {"cut/" + scenario.name + "/end", [&scenario, root, disk](const std::string&) {
           Tree real = read_tree(root);
           real.erase("calls");
           const std::string missed = difference(real, disk.now());
           expect(missed.empty(), "the record does not explain the folder: " + missed);
           for (Tree left : disk.after_power_cut()) {
             left.erase("run/.fledge-committed/");  // empty: the next run in this folder removes it
             const std::string lost = difference(below("run/", scenario.after.back()), left);
             expect(lost.empty(), "exit 0, but after a power cut " + lost);
           }
         }});
  }
  return found;
}

}  // namespace fledge::faults
