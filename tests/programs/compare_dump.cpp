// Compares a model with what PyTorch computed from it: the largest relative error of the logits,
// the loss and every gradient. Works with dual numbers, as float would round away what it compares.
//
//   compare_dump FOLDER    what add_reference() of tests/parity/torch_folders.py wrote
//
// Without a folder it compares the dumps that are kept beside the tests.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/dump.h"

namespace fs = std::filesystem;

namespace {

constexpr double most = 1e-12;

// Whether all of the folder's quantities agree.
bool compare(const std::string& folder) {
  bool agree = true;
  double worst = 0;
  for (const auto& [quantity, error] : tests::dump_errors(folder)) {
    std::printf("%-28s %8.1e%s\n", quantity.c_str(), error, error <= most ? "" : "  too large");
    agree = agree && error <= most;
    worst = std::max(worst, error);
  }
  std::printf("%-28s %8.1e  %s\n\n", "largest", worst, folder.c_str());
  return agree;
}

}  // namespace

int main(int argc, char** argv) try {
  const fs::path dumps = fs::path(__FILE__).parent_path().parent_path() / "nn" / "gpt" / "dumps";
  std::vector<std::string> folders(argv + 1, argv + argc);
  if (folders.empty())
    folders = {dumps / "bias", dumps / "no_bias", dumps / "llama", dumps / "starcoder2"};
  bool agree = true;
  for (const std::string& folder : folders) agree = compare(folder) && agree;
  return agree ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "compare_dump: %s\n", error.what());
  return 2;
}
