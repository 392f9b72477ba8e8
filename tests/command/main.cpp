// What the command says, as text files:   transcripts [--approve] FILE...
//
//   $ fledge eval run          a line of the shell, run in a new folder that the file's lines share
//   held-out loss 1.72 ...     then what it writes to stdout: ... is any text
//   ...                        any number of lines
//   ! fledge eval: ...         what it writes to stderr
//   = 3                        its exit status, if that is not 0
//
// Lines that begin with # are comments. A number may differ by three units in its last place, and
// one with six digits behind the point or more by 0.00001.
// $TEXTS is the folder of this folder's texts; $SIZES are options of a model that trains in some
// hundredths of a second, $TINY those of GPT-2's recipe and optimiser beside them.
// --approve writes what was said into the file, and keeps each line that still holds. In a step that
// has changed, a line ... is written out: put it back where the lines differ each time.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/folder.h"
#include "tests/support/process.h"

namespace {

using Lines = std::vector<std::string>;

struct Step {
  Lines comments;
  std::string command;
  Lines said;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number at `at`, such as 0.125, moved behind; its last place is worth `unit`.
double number_at(const std::string& text, std::size_t& at, double& unit) {
  double value = 0;
  unit = 1;
  for (bool point = false; at < text.size(); ++at) {
    if (text[at] == '.' && !point && at + 1 < text.size() && is_digit(text[at + 1])) {
      point = true;
    } else if (is_digit(text[at])) {
      value = 10 * value + (text[at] - '0');
      unit /= point ? 10 : 1;
    } else {
      break;
    }
  }
  return value * unit;
}

bool matches(const std::string& wanted, const std::string& said, std::size_t i = 0,
             std::size_t j = 0) {
  while (i < wanted.size()) {
    if (wanted.compare(i, 3, "...") == 0) {
      for (std::size_t end = j; end <= said.size(); ++end)
        if (matches(wanted, said, i + 3, end)) return true;
      return false;
    }
    if (j >= said.size()) return false;
    if (is_digit(wanted[i]) && is_digit(said[j])) {
      double unit = 1, other = 1;
      const double a = number_at(wanted, i, unit), b = number_at(said, j, other);
      // A whole number is a count. JSON and CSV have all digits of a number, and the last ones depend
      // on the processor.
      const bool exact = unit < 2e-6 && other < 2e-6;
      if (unit != other && !exact) return false;
      if (std::abs(a - b) > (exact ? 1e-5 * std::max(1.0, b) : unit < 1 ? 3.001 * unit : 0))
        return false;
    } else if (wanted[i++] != said[j++]) {
      return false;
    }
  }
  return j == said.size();
}

/// How many of the lines of `wanted` from i on stand in `said` from j on, in order, for all i and j.
std::vector<std::vector<int>> common(const Lines& wanted, const Lines& said) {
  std::vector<std::vector<int>> count(wanted.size() + 1, std::vector<int>(said.size() + 1, 0));
  for (std::size_t i = wanted.size(); i-- > 0;)
    for (std::size_t j = said.size(); j-- > 0;)
      count[i][j] = wanted[i] != "..." && matches(wanted[i], said[j])
                        ? count[i + 1][j + 1] + 1
                        : std::max(count[i + 1][j], count[i][j + 1]);
  return count;
}

bool matches(const Lines& wanted, const Lines& said, std::size_t i = 0, std::size_t j = 0) {
  for (; i < wanted.size(); ++i, ++j) {
    if (wanted[i] == "...") {
      for (std::size_t end = j; end <= said.size(); ++end)
        if (matches(wanted, said, i + 1, end)) return true;
      return false;
    }
    if (j >= said.size() || !matches(wanted[i], said[j])) return false;
  }
  return j == said.size();
}

/// What was said, with the lines of `wanted` that hold in place of theirs.
Lines approved(const Lines& wanted, const Lines& said) {
  if (matches(wanted, said)) return wanted;
  const auto count = common(wanted, said);
  Lines lines;
  for (std::size_t i = 0, j = 0; j < said.size();) {
    if (i < wanted.size() && wanted[i] != "..." && matches(wanted[i], said[j])) {
      lines.push_back(wanted[i++]);
      ++j;
    } else if (i < wanted.size() && count[i + 1][j] >= count[i][j + 1]) {
      ++i;
    } else {
      lines.push_back(said[j++]);
    }
  }
  return lines;
}

Lines run_in(const testing::Folder& folder, const std::string& command) {
  const std::string sizes = "--layers 1 --width 16 --heads 1 --context 16 --batch 2 --steps 20";
  const testing::Result result =
      testing::run({"sh", "-c", "cd '" + folder.path() + "' && " + command},
                   {{"PATH", std::string(FLEDGE_BINARY_DIR ":") + std::getenv("PATH")},
                    {"COLUMNS", "80"},
                    {"FLEDGE_THREADS", "1"},
                    {"TEXTS", FLEDGE_SOURCE_DIR "/tests/command/texts"},
                    {"SIZES", sizes},
                    {"TINY", sizes + " --recipe gpt2 --optimizer adamw"}});
  Lines said = testing::lines_of(result.out);
  for (const std::string& line : testing::lines_of(result.err)) said.push_back("! " + line);
  for (std::string& line : said)  // the folder has another name each time
    for (std::size_t at; (at = line.find(folder.path())) != std::string::npos;)
      line.replace(at, folder.path().size(), "/here");
  if (result.status != 0) said.push_back("= " + std::to_string(result.status));
  return said;
}

std::vector<Step> steps_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Step> steps(1);
  for (std::string line; std::getline(file, line);) {
    const bool is_comment = line.starts_with('#');
    if (line.starts_with("$ ") || (is_comment && !steps.back().command.empty()))
      steps.emplace_back();
    // Comments stand above their command.
    if (line.starts_with("$ ") && steps[steps.size() - 2].command.empty()) steps.pop_back();
    if (is_comment)
      steps.back().comments.push_back(line);
    else if (line.starts_with("$ "))
      steps.back().command = line.substr(2);
    else
      steps.back().said.push_back(line);
  }
  return steps;
}

void print(std::FILE* to, const char* before, const Lines& lines) {
  for (const std::string& line : lines) std::fprintf(to, "%s%s\n", before, line.c_str());
}

/// Whether all that the file says holds.
bool play(const std::string& path, bool approve) {
  const testing::Folder folder;
  bool holds = true;
  std::vector<Step> steps = steps_of(path);
  for (Step& step : steps) {
    if (step.command.empty()) continue;
    const Lines said = run_in(folder, step.command);
    if (matches(step.said, said)) continue;
    holds = false;
    if (approve) {
      step.said = approved(step.said, said);
    } else {
      std::printf("%s\n$ %s\n", path.c_str(), step.command.c_str());
      print(stdout, "  wanted  ", step.said);
      print(stdout, "  said    ", said);
    }
  }
  if (!approve || holds) return holds;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + path);
  for (const Step& step : steps) {
    print(file, "", step.comments);
    if (!step.command.empty()) std::fprintf(file, "$ %s\n", step.command.c_str());
    print(file, "", step.said);
  }
  if (std::fclose(file) != 0) throw std::runtime_error("cannot write " + path);
  std::printf("changed: %s\n", path.c_str());
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  bool approve = false, holds = true;
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--approve")
      approve = true;
    else
      holds = play(argv[i], approve) && holds;
  return holds ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "transcripts: %s\n", error.what());
  return 2;
}
