#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "examples/fledge/commands.h"
#include "examples/fledge/export/export_config.h"
#include "examples/fledge/export/model_files.h"
#include "examples/fledge/train/report.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/gpt/weight_files.h"

namespace fledge {

namespace {

// Whether the folder has no other files than an export that was interrupted: config.json is missing,
// which is written last and without which no program reads the others.
bool is_unfinished(const Folder& folder, const NamedFiles& files) {
  const std::vector<std::string> names = folder.names();
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return name != config_name && std::any_of(files.begin(), files.end(),
                                              [&](const auto& file) { return file.first == name; });
  });
}

// Writes all files of a new folder; if one cannot be written, none.
void write_folder(const std::string& path, const NamedFiles& files) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(path, unknown)) train::require_place(path, false);
  const std::vector<std::string> made = train::make_folders(path);
  try {
    const LockedFolder folder(path);
    if (!is_unfinished(folder, files))
      train::refuse_folder("the folder " + support::quoted(path) + " is not empty",
                           train::another_folder);
    try {
      for (const auto& [name, bytes] : files) folder.replace(name, bytes);
    } catch (const WriteError&) {
      for (const auto& file : files) std::filesystem::remove(folder.file(file.first), unknown);
      throw;
    }
  } catch (const FileError& error) {
    train::remove_folders(made);
    train::refuse_folder(error.what(), train::another_folder);
  }
}

int export_model(const ExportConfig& config) {
  const TrainedModel trained = load_trained(config.folder, TextForm::text_if_run);
  constexpr const char* types[] = {"F32", "F16", "BF16"};
  const Dtype& type = *find_dtype(types[static_cast<int>(config.type)]);
  const std::string report =
      config.type == StoredAs::f32 ? "" : rounding_report(trained.model, type);
  NamedFiles files{{weights_name, weight_file(trained, type)}};
  if (config.training) {
    if (!train::variant_report(trained.run.settings.sizes.variant).empty())
      throw support::InputError(
          "this run leaves out parts of the model or holds weights, and PyTorch's AdamW does not",
          "leave out --training");
    if (!trained.has_run())
      throw support::InputError(support::quoted(config.folder) + " has no run of fledge train",
                                "leave out --training");
    files.emplace_back("training.safetensors", training_file(Folder(config.folder)));
  }
  for (auto& file : text_files(trained, type, Folder(config.folder)))
    files.push_back(std::move(file));
  write_folder(config.out, files);
  if (!report.empty()) support::say(stderr, report);
  if (trained.model.sizes.variant.without.is_other_formula())
    support::say(
        stderr,
        "This model leaves out mask, residual or norm, so it is no GPT-2: its config.json has "
        "the type fledge, which GPT2LMHeadModel refuses.");
  std::fprintf(stderr, "The folder is %s.\n", support::printable(config.out).c_str());
  return 0;
}

}  // namespace

int export_command(int argc, char** argv) {
  const ExportConfig config = export_config(argc, argv);
  return support::with_advice("a model's folder is made by: fledge train FILE -o DIR",
                              [&] { return export_model(config); });
}

}  // namespace fledge
