#include "examples/fledge/export/export_config.h"

#include <filesystem>

#include "examples/support/options.h"

namespace fledge {

namespace {

// The path without slashes at its end; "." and ".." become the name of the folder.
std::string whole_name(const std::string& folder) {
  std::filesystem::path path(folder.substr(0, folder.find_last_not_of('/') + 1));
  std::error_code unknown;
  if (path.filename() == "." || path.filename() == "..")
    path = std::filesystem::canonical(path, unknown);
  return path.string();
}

}  // namespace

ExportConfig export_config(int argc, char** argv) {
  ExportConfig config;
  support::Options options("fledge export",
                           "A folder of the model for other programs: GPT2LMHeadModel and "
                           "AutoTokenizer of Hugging Face's transformers, PyTorch, Netron.");
  options.arguments("DIR", 1, 1);
  options.example("fledge export run --to bf16", "writes run-bf16, half as large");
  options.example("fledge export run --training", "with all that PyTorch needs to go on training");
  options.add("-o, --out", "DIR", config.out,
              "the new folder. Without it the name is DIR-f32, DIR-f16, DIR-bf16 or DIR-training");
  options.add("--to", "f32|f16|bf16", config.type, "the type of the numbers");
  options.also_known_as("--dtype --outtype");
  options.add("--training", "", config.training,
              "also write training.safetensors: the last checkpoint, the tokens of the text, the "
              "settings, and a batch to check. examples/pytorch/continue_training.py reads it");
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  options.parse(argc, argv);
  config.folder = options.arguments()[0];
  if (config.training && config.type != StoredAs::f32)
    support::refuse_usage("--training continues with numbers as they are", "leave out --to");
  if (config.out.empty()) {
    constexpr const char* names[] = {"-f32", "-f16", "-bf16"};
    config.out = whole_name(config.folder) +
                 (config.training ? "-training" : names[static_cast<int>(config.type)]);
  }
  return config;
}

}  // namespace fledge
