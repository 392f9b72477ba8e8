// Writes what fledge export --training writes:   export_training RUN OUT
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "examples/fledge/train/run_place.h"
#include "examples/fledge/train/training_file.h"

namespace fs = std::filesystem;

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: export_training RUN OUT\n");
    return 2;
  }
  const fs::path run = argv[1], out = argv[2];
  const fledge::Folder folder(run.string(), fledge::train::run_files());
  const std::string bytes =
      fledge::train::training_file(folder, fledge::train::read_run_config(folder));
  fs::create_directories(out);
  for (const char* name : {fledge::train::config_name, fledge::train::model_name})
    fs::copy_file(run / name, out / name, fs::copy_options::overwrite_existing);
  std::ofstream file(out / "training.safetensors", std::ios::binary);
  file << bytes;
  return file.flush() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "export_training: %s\n", error.what());
  return 1;
}
