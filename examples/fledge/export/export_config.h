// The options of `fledge export`.
#pragma once

#include <string>

namespace fledge {

/// How the weights are stored.
enum class StoredAs { f32, f16, bf16 };

struct ExportConfig {
  std::string folder, out;  // out: "run-f16" for "run" unless it is given
  StoredAs type = StoredAs::f32;
  bool training = false;
};

ExportConfig export_config(int argc, char** argv);

}  // namespace fledge
