// Compares fledge in double with what PyTorch computed.
//
//   parity DIR...              the dumps in these folders, as torch_dumps.py writes them
//   parity --planted DIR...    each dump has one wrong number: all of them must be found
//   parity --part DIR...       without asking for a program of every op
//
// Exit status: 0 all agree, 1 not all agree, 2 wrong usage. README.md describes the dumps. fledge in
// double is the build of dual numbers with all tangents 0.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/parity/dumps.h"
#include "tests/support/declared_ops.h"
#include "tests/support/dump.h"

namespace fs = std::filesystem;

namespace {

using parity::Errors;
using parity::largest;

constexpr double most_of_model = 1e-10, most_of_steps = 1e-9, most_of_program = 1e-11;

// The folders that have this file, sorted.
std::vector<fs::path> folders_with(const char* file, const std::vector<std::string>& where) {
  std::vector<fs::path> found;
  for (const std::string& folder : where) {
    if (fs::exists(fs::path(folder) / file)) found.emplace_back(folder);
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (fs::exists(entry.path() / file)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string described(const fledge::LanguageModelSizes& sizes) {
  const auto number = [](fledge::Dim n) { return static_cast<int>(n); };
  char text[80];
  std::snprintf(text, sizeof text, "%d %5d %6d %6d %7d %7d   %-3s", number(sizes.layers),
                number(sizes.heads), number(sizes.width),
                number(sizes.hidden > 0 ? sizes.hidden : 4 * sizes.width), number(sizes.context),
                number(sizes.vocabulary), sizes.bias == fledge::Bias::with ? "yes" : "no");
  return text;
}

// A row of the table. Whether all of it agrees.
bool compare_model(const fs::path& folder) {
  const Errors errors = tests::dump_errors(folder);
  const auto [worst, gradient] = largest(Errors(errors.begin() + 2, errors.end()));
  std::printf("%-12s %s  %8.1e %8.1e %8.1e", folder.filename().c_str(),
              described(fledge::read_model(folder.string()).model.sizes).c_str(), errors[0].second,
              errors[1].second, gradient);
  bool agrees = largest(errors).second <= most_of_model;
  std::string where = agrees ? "" : largest(errors).first;
  if (fs::exists(folder / "training.json") || fs::exists(folder / "training.safetensors")) {
    const auto [name, error] = largest(parity::training_errors(folder));
    std::printf(" %8.1e", error);
    if (!(error <= most_of_steps)) {
      agrees = false;
      where += (where.empty() ? "" : ", ") + ("after the steps: " + name);
    }
  }
  std::printf("%s\n", where.empty() ? "" : ("  DIFFERENT: " + where).c_str());
  return agrees;
}

struct Programs {
  std::set<std::string> ops;
  double value = 0, gradient = 0;  // the largest errors
};

bool compare_program(const fs::path& folder, Programs& all) {
  const parity::ProgramErrors errors = parity::program_errors(folder);
  all.ops.insert(errors.ops.begin(), errors.ops.end());
  const auto [value, value_error] = largest(errors.values);
  const auto [gradient, gradient_error] = largest(errors.gradients);
  all.value = std::max(all.value, value_error);
  all.gradient = std::max(all.gradient, gradient_error);
  if (value_error <= most_of_program && gradient_error <= most_of_program) return true;
  std::printf("%s  DIFFERENT: %s %8.1e  %s %8.1e\n", folder.filename().c_str(), value.c_str(),
              value_error, gradient.c_str(), gradient_error);
  return false;
}

// How many dumps differ. One that cannot be read differs.
template <class F>
std::size_t count_different(const std::vector<fs::path>& folders, F agrees) {
  return static_cast<std::size_t>(
      std::count_if(folders.begin(), folders.end(), [&](const fs::path& folder) {
        try {
          return !agrees(folder);
        } catch (const std::exception& error) {
          std::printf("%s  DIFFERENT: %s\n", folder.filename().c_str(), error.what());
          return true;
        }
      }));
}

// Whether each op of engine/ops.h is in a program, with all its overloads.
bool has_every_op(const std::set<std::string>& names) {
  std::vector<std::string> unread;
  const auto declared = testing::declared_ops(
      testing::source_text(fs::path(FLEDGE_SOURCE_DIR) / "engine" / "ops.h"), &unread);
  const std::vector<std::string> missing = testing::without_rows(declared, names);
  for (const std::string& op : missing)
    std::printf("%s is in engine/ops.h and, or one of its overloads, in no program\n", op.c_str());
  for (const std::string& line : unread)
    std::printf("engine/ops.h: this line is no declaration of an op: %s\n", line.c_str());
  return missing.empty() && unread.empty();
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> where(argv + 1, argv + argc);
  const std::string option = where.empty() || where[0][0] != '-' ? "" : where[0];
  if (!option.empty()) where.erase(where.begin());
  if (where.empty() || (option != "" && option != "--planted" && option != "--part")) {
    std::fprintf(stderr, "usage: parity [--planted | --part] DIR...\n");
    return 2;
  }
  const auto models = folders_with("config.json", where);
  const auto programs = folders_with("program.json", where);
  if (models.empty() && programs.empty()) {
    std::fprintf(stderr, "parity: no folder there has a config.json or a program.json\n");
    return 2;
  }
  if (!models.empty())
    std::printf(
        "model        layers heads width hidden context symbols biases   logits     loss "
        "gradient    steps\n");
  std::size_t different = count_different(models, compare_model);
  Programs all;
  different += count_different(
      programs, [&](const fs::path& folder) { return compare_program(folder, all); });
  std::printf(
      "%zu programs of %zu kinds of steps: the largest error of a value is %.1e, of a "
      "gradient %.1e\n",
      programs.size(), all.ops.size(), all.value, all.gradient);
  if (option == "--planted") {
    const std::size_t planted = models.size() + programs.size();
    std::printf("%zu of %zu planted differences were found\n", different, planted);
    return different == planted ? 0 : 1;
  }
  const bool agree = different == 0 && (option == "--part" || has_every_op(all.ops));
  std::printf(
      "%zu configurations, %zu programs: %s 1e-10 (model), 1e-9 (weights after the steps), "
      "1e-11 (program)\n",
      models.size(), programs.size(), agree ? "within" : "NOT within");
  return agree ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "parity: %s\n", error.what());
  return 2;
}
