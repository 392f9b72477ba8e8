#include "zoo.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace planted {

namespace {

// Gradients alone: the checker's own bugs would be judges in their own case, and an optimiser has
// no gradient.
std::vector<Bug> zoo_bugs(std::vector<Bug> bugs) {
  std::erase_if(bugs, [](const Bug& bug) {
    return bug.gradient == "none" || bug.file.find("gradcheck") != bug.file.npos ||
           bug.file.find("/optim/") != bug.file.npos;
  });
  return bugs;
}

// Neighbours in the table are alike; 7919, a prime, takes them far from each other.
const Bug& numbered(const std::vector<Bug>& bugs, std::size_t number) {
  return bugs[number % bugs.size() * 7919 % bugs.size()];
}

void require(bool succeeded, const fs::path& log) {
  if (!succeeded) throw std::runtime_error("cmake failed: see " + log.string());
}

std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

void let_in(const std::vector<Bug>& all, unsigned number, const fs::path& sources,
            const fs::path& folder) {
  const std::vector<Bug> bugs = zoo_bugs(all);
  fs::remove(folder / "number");
  std::fprintf(stderr, "zoo: building fledge with one wrong line in %s (minutes at first)\n",
               folder.c_str());
  Copy copy(sources, folder, {});  // what does not apply is not refused by gradcheck
  require(copy.configure("OFF", folder / "configure.log"), folder / "configure.log");
  const std::string source = copy.source(), build = copy.build();
  for (std::size_t tries = 0;; ++tries, ++number) {
    if (tries == bugs.size()) throw std::runtime_error("no bug was refused by gradcheck");
    copy.plant(numbered(bugs, number));
    require(copy.compile({"fledge_command", "lessons"}, 2, folder / "build.log"),
            folder / "build.log");
    if (run({build + "/fledge", "gradcheck"}, folder / "gradcheck.log").status == 1) break;
  }
  if (!(std::ofstream(folder / "number") << number).flush())
    throw std::runtime_error("cannot write " + (folder / "number").string());
  std::printf(
      "One line of engine/ or nn/ is wrong now, in a copy of the sources.\n\n"
      "  ask    %s/fledge gradcheck  which gradients are wrong?\n"
      "  run    %s/lessons/*       which claims fail, and which hold all the same?\n"
      "  read   %s            the rule that does not follow from its formula\n"
      "  then   make zoo ANSWER=1\n\n"
      "Another: make zoo BUG=%u (of %zu).\n",
      build.c_str(), build.c_str(), source.c_str(), number + 1, bugs.size());
}

void tell(const std::vector<Bug>& all, const fs::path& sources, const fs::path& folder) {
  const std::vector<Bug> bugs = zoo_bugs(all);
  const Bug& bug = numbered(bugs, std::stoul(contents(folder / "number")));
  const std::string wrong = contents(folder / "source" / bug.file);
  const std::string right = contents(sources / bug.file);
  const auto first = std::mismatch(right.begin(), right.end(), wrong.begin(), wrong.end()).first;
  std::printf("%s, in %s, line %td\n\n  right  %s\n  wrong  %s\n\n%s\n", bug.name.c_str(),
              bug.file.c_str(), 1 + std::count(right.begin(), first, '\n'),
              one_line(bug.find).c_str(), one_line(bug.replace).c_str(), bug.seen.c_str());
}

}  // namespace planted
