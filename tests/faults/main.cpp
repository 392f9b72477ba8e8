// Faults as tests: whatever fails, is killed or is cut off, a run is there, whole, and goes on to
// the same bytes.
//
//   faults [--sample] [--only TEXT] [--jobs N]
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "tests/faults/world.h"

namespace {

using fledge::faults::Case;
using fledge::faults::CasesOfKind;
using fledge::faults::World;

constexpr const char* usage =
    "faults: fails, kills and cuts off fledge's commands at every call, and checks what is left\n"
    "\n"
    "  --sample        some cases of each kind, always the same ones\n"
    "  --only TEXT     the cases with this text in their name, such as kill/begin/17\n"
    "  --jobs N        cases at a time; 2 by default\n"
    "\n"
    "Exit  0 all passed  1 one failed  2 usage\n";

struct Options {
  std::string only;
  bool samples = false;
  unsigned jobs = 2;
};

constexpr std::size_t sampled = 80;     // cases of a kind, in a sample
constexpr std::size_t most_shown = 30;  // failed cases of a kind that are printed

struct Count {
  std::size_t passed = 0, failed = 0;
};

/// A folder that goes with what is in it.
class Workplace {
 public:
  explicit Workplace(const std::string& pattern) : path_(pattern) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
  }
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<Case> chosen(const CasesOfKind& kind, const Options& options) {
  std::vector<Case> cases;
  for (const Case& one : kind.cases)
    if (one.name.find(options.only) != std::string::npos) cases.push_back(one);
  if (!options.samples || cases.size() <= sampled) return cases;
  std::vector<Case> spread;
  for (std::size_t i = 0; i < sampled; ++i)
    spread.push_back(cases[(2 * i + 1) * cases.size() / (2 * sampled)]);
  for (const Case& one : cases)  // that all is durable in the end is seen by these alone
    if (one.name.ends_with("/end")) spread.push_back(one);
  return spread;
}

/// Nothing, or what was broken.
std::string broken_by(const Case& one, const std::string& root) {
  try {
    const Workplace place(root + "/case-XXXXXX");
    one.check(place.path());
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

Count run_all(const std::vector<Case>& cases, const std::string& root, unsigned jobs) {
  Count count;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      const std::string broken = broken_by(cases[i], root);
      const std::lock_guard guard(mutex);
      broken.empty() ? ++count.passed : ++count.failed;
      if (!broken.empty() && count.failed <= most_shown)
        std::printf("FAILED %s: %s\n", cases[i].name.c_str(), broken.c_str());
      std::fflush(stdout);
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < jobs; ++i) workers.emplace_back(work);
  workers.clear();  // waits for them
  return count;
}

int run(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const Workplace root((std::filesystem::temp_directory_path() / "fledge-faults-XXXXXX").string());
  const World world(FLEDGE_BINARY_DIR "/fledge", FLEDGE_CALLS_LIBRARY, root.path());
  Count all;
  std::string lines;
  for (const CasesOfKind& kind : fledge::faults::all_cases(world)) {
    const std::vector<Case> cases = chosen(kind, options);
    if (cases.empty()) continue;
    std::printf("%s: %zu of %zu cases\n", kind.kind.c_str(), cases.size(), kind.cases.size());
    const Count count = run_all(cases, root.path(), options.jobs);
    char line[120];
    std::snprintf(line, sizeof line, "%-14s %6zu passed, %zu failed\n", kind.kind.c_str(),
                  count.passed, count.failed);
    lines += line;
    all.passed += count.passed;
    all.failed += count.failed;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("\n%s%zu passed, %zu failed in %.0f s\n", lines.c_str(), all.passed, all.failed,
              took.count());
  return all.failed == 0 && all.passed > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--sample") {
      options.samples = true;
    } else if (word == "--only" && has_value) {
      options.only = argv[++i];
    } else if (word == "--jobs" && has_value) {
      options.jobs = static_cast<unsigned>(std::atoi(argv[++i]));
    } else {
      std::fputs(usage, word == "--help" ? stdout : stderr);
      return word == "--help" ? 0 : 2;
    }
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "faults: %s\n", error.what());
    return 1;
  }
}
