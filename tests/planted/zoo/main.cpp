// The bug zoo: builds the library with one planted bug, which the reader is to find.
//
//   zoo [SOURCES] [--bug N] [--answer]
//
// Not here: the bugs, which are those of make planted. Key idea: a bug is let in only once `fledge
// gradcheck` has refused it, so that it can be found.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "../bugs.h"
#include "../patch.h"
#include "../process.h"
#include "../workshop.h"

namespace {

namespace fs = std::filesystem;
using planted::Bug;

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Request {
  fs::path sources = ".";
  std::size_t bug = 1;
  bool answer = false;
};

Request parse(int argc, char** argv) {
  Request request;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--answer") {
      request.answer = true;
    } else if (word == "--bug") {
      const std::string number = i + 1 < argc ? argv[++i] : "";
      if (number.empty() || number.size() > 9 ||
          number.find_first_not_of("0123456789") != std::string::npos || std::stoul(number) == 0)
        throw UsageError("a bug is a number from 1: make zoo BUG=7");
      request.bug = std::stoul(number);
    } else if (word.rfind('-', 0) == 0) {
      throw UsageError("it understands --bug N and --answer");
    } else {
      request.sources = word;
    }
  }
  if (!fs::exists(request.sources / "engine/autograd.cpp"))
    throw InputError(request.sources.string() +
                     " is not the project's folder: no engine/autograd.cpp");
  return request;
}

// Gradients alone: the checker's own bugs would be judges in their own case, and an optimiser has
// no gradient.
std::vector<Bug> zoo_bugs() {
  std::vector<Bug> bugs = planted::all_bugs();
  std::erase_if(bugs, [](const Bug& bug) {
    return bug.file.find("gradcheck") != bug.file.npos ||
           bug.file.find("/optim/") != bug.file.npos || bug.file.rfind("examples/", 0) == 0 ||
           bug.file.rfind("tests/", 0) == 0;
  });
  return bugs;
}

// Neighbours in the table are alike; 7919, a prime, takes them far from each other.
const Bug& numbered(const std::vector<Bug>& bugs, std::size_t number) {
  return bugs[number % bugs.size() * 7919 % bugs.size()];
}

struct Zoo {
  fs::path folder;
  fs::path inside() const { return folder / "number"; }

  int run(const planted::Command& command, const char* log) const {
    planted::start(command, folder / log);
    return planted::wait_for_any().ending.status;
  }
  void require(const planted::Command& command, const char* log) const {
    if (run(command, log) != 0)
      throw std::runtime_error(command[0] + " failed: see " + (folder / log).string());
  }
};

void configure(const Zoo& zoo, const planted::Workshop& shop) {
  zoo.require({"cmake", "-S", shop.source().string(), "-B", shop.build().string(),
               "-DFLEDGE_NATIVE=OFF", "-DFLEDGE_PRECOMPILE=ON", "-DFLEDGE_UNITY=OFF",
               "-DFLEDGE_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1"},
              "configure.log");
}

bool refused_by_gradcheck(const Zoo& zoo, const planted::Workshop& shop, const char* jobs) {
  zoo.require({"cmake", "--build", shop.build().string(), "--parallel", jobs, "--target",
               "fledge_command", "lessons"},
              "build.log");
  return zoo.run({shop.build().string() + "/fledge", "gradcheck"}, "gradcheck.log") == 1;
}

void write_number(const Zoo& zoo, std::size_t number) {
  const std::string text = std::to_string(number);
  std::FILE* file = std::fopen(zoo.inside().c_str(), "w");
  if (file == nullptr || std::fputs(text.c_str(), file) < 0 || std::fclose(file) != 0)
    throw std::runtime_error("cannot write " + zoo.inside().string());
}

int let_in(const Request& request, const Zoo& zoo, const std::vector<Bug>& bugs) {
  const auto originals = planted::originals_of(request.sources, bugs);
  fs::create_directories(zoo.folder);
  fs::remove(zoo.inside());
  std::fprintf(stderr, "zoo: building fledge with one wrong line in %s (minutes at first)\n",
               zoo.folder.c_str());
  planted::Workshop shop(request.sources, zoo.folder, originals);
  configure(zoo, shop);
  std::size_t number = request.bug;
  for (std::size_t tries = 0;; ++tries, ++number) {
    if (tries == bugs.size()) throw std::runtime_error("no bug was refused by gradcheck");
    shop.plant(numbered(bugs, number));
    if (refused_by_gradcheck(zoo, shop, "2")) break;
  }
  write_number(zoo, number);
  const std::string build = shop.build().string();
  std::printf(
      "One line of engine/ or nn/ is wrong now, in a copy of the sources.\n\n"
      "  ask    %s/fledge gradcheck  which gradients are wrong?\n"
      "  run    %s/lessons/*       which claims fail, and which hold all the same?\n"
      "  read   %s            the rule that does not follow from its formula\n"
      "  then   make zoo ANSWER=1\n\n"
      "Another: make zoo BUG=%zu (of %zu).\n",
      build.c_str(), build.c_str(), shop.source().c_str(), number + 1, bugs.size());
  return 0;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : c;
  }
  return line;
}

int tell(const Request& request, const Zoo& zoo, const std::vector<Bug>& bugs) {
  if (!fs::exists(zoo.inside())) throw UsageError("no bug is in: make zoo first");
  const Bug& bug = numbered(bugs, std::stoul(planted::contents(zoo.inside())));
  const std::string wrong = planted::contents(zoo.folder / "source" / bug.file);
  const std::string right = planted::contents(request.sources / bug.file);
  std::size_t line = 1, at = 0;
  for (; at < std::min(right.size(), wrong.size()) && right[at] == wrong[at]; ++at)
    line += right[at] == '\n' ? 1 : 0;
  std::printf("%s, in %s, line %zu\n\n  right  %s\n  wrong  %s\n\n%s\n",
              std::string(bug.name).c_str(), std::string(bug.file).c_str(), line,
              one_line(bug.find).c_str(), one_line(bug.replace).c_str(),
              std::string(bug.seen).c_str());
  return 0;
}

int run(int argc, char** argv) {
  const Request request = parse(argc, argv);
  const Zoo zoo{fs::absolute(request.sources / "build/zoo").lexically_normal()};
  // The make that called must lend neither its job slots nor its variables to that of the copy.
  for (const char* name : {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"}) unsetenv(name);
  const std::vector<Bug> bugs = zoo_bugs();
  return request.answer ? tell(request, zoo, bugs) : let_in(request, zoo, bugs);
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const UsageError& error) {
  std::fprintf(stderr, "zoo: %s\n", error.what());
  return 2;
} catch (const InputError& error) {
  std::fprintf(stderr, "zoo: %s\n", error.what());
  return 3;
} catch (const std::exception& error) {
  std::fprintf(stderr, "zoo: %s\n", error.what());
  return 1;
}
