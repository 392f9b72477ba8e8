#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "examples/fledge/commands.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/train/run.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/options.h"
#include "examples/support/text.h"
#include "nn/gpt/weights.h"
#include "nn/text/tokenizer_files.h"

namespace fledge {

namespace {

/// Files as (name, bytes).
using NamedFiles = std::vector<std::pair<std::string, std::string>>;

// The path without slashes at its end; "." and ".." become the name of the folder.
std::string whole_name(const std::string& folder) {
  std::filesystem::path path(folder.substr(0, folder.find_last_not_of('/') + 1));
  std::error_code unknown;
  if (path.filename() == "." || path.filename() == "..")
    path = std::filesystem::canonical(path, unknown);
  return path.string();
}

/// config.json, generation_config.json and the files of the tokenizer. Those of a folder without a
/// run of fledge train are copied; its config.json is written anew, without keys that change nothing.
/// config.json is the last.
NamedFiles text_files(const TrainedModel& trained, const Folder& folder) {
  const Json::Members notes{{"torch_dtype", "float32"}};
  if (trained.has_run()) {
    const Tokenizer& tokenizer = trained.tokenizer();
    NamedFiles files = tokenizer_files(tokenizer, trained.model.sizes.context);
    files.emplace_back("generation_config.json",
                       generation_config_json(train::saved_marks(tokenizer)));
    files.emplace_back(config_name, train::config_text(trained.run, notes));
    return files;
  }
  NamedFiles files;
  for (const char* name :
       {"tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt",
        "generation_config.json", "special_tokens_map.json", "added_tokens.json"})
    if (std::optional<std::string> text = folder.read(name, most_json_bytes))
      files.emplace_back(name, std::move(*text));
  const JsonValue config = read_json(folder.read(config_name, most_json_bytes).value_or(""));
  Json::Members members = notes;
  std::vector<std::string> others;
  for (auto& mark : mark_notes(read_marks(config, trained.model.sizes.vocabulary, others)))
    if (config.has(mark.first)) members.push_back(std::move(mark));
  files.emplace_back(config_name, config_json(trained.model.sizes, {}, members));
  return files;
}

/// Why no class of Hugging Face's computes a model with parts that GPT-2 has not: all the parts that
/// the nearest class lacks.
std::string of_no_family(const LanguageModelSizes& sizes) {
  using Class = std::tuple<std::string, Recipe, std::string, std::string>;
  std::string reason;
  std::size_t fewest = 99;
  for (const auto& [name, recipe, may_have, needs] :
       {Class("GPT2LMHeadModel", {}, "", "mask residual norm"),
        Class("LlamaForCausalLM", llama(), "head key_heads", "mask residual scale"),
        Class("Starcoder2ForCausalLM", {.position = Position::rotary}, "head key_heads window",
              "mask residual norm scale")}) {
    const auto forms = forms_of(recipe);
    std::map<std::string, std::string> needed(forms.begin(), forms.end());
    std::vector<std::string> foreign;
    for (const auto& [part, word] : forms_of(sizes.recipe)) {
      if (may_have.find(part) == std::string::npos && needed[part] != word)
        foreign.push_back("with " + part + " " + word);
      needed.erase(part);
    }
    for (const auto& [part, word] : needed)
      foreign.push_back("with " + part + " other than " + word);
    for (const std::string& part : words_of_none(sizes.recipe))
      if (needs.find(part) != std::string::npos) foreign.push_back("without " + part);
    if (recipe.norm == Norm::rms && sizes.bias == Bias::with) foreign.emplace_back("with biases");
    if (foreign.size() >= fewest) continue;
    fewest = foreign.size();
    reason = "no class of Hugging Face's libraries computes this model: " + name +
             ", the nearest, computes none";
    for (const std::string& part : foreign) reason += (part == foreign[0] ? " " : ", ") + part;
  }
  return reason;
}

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
  train::new_folder(path, {}, false, [&](const LockedFolder& folder) {
    if (!is_unfinished(folder, files))
      train::refuse_folder("the folder " + support::quoted(path) + " is not empty",
                           train::another_folder);
    try {
      for (const auto& [name, bytes] : files) folder.replace(name, bytes);
    } catch (const WriteError&) {
      for (const auto& file : files) std::filesystem::remove(folder.file(file.first), unknown);
      throw;
    }
  });
}

}  // namespace

int export_command(int argc, char** argv) {
  std::string out;
  support::Options options(
      "fledge export",
      "A folder of the model for other programs: GPT2LMHeadModel, "
      "LlamaForCausalLM, Starcoder2ForCausalLM and AutoTokenizer of Hugging Face's transformers, "
      "PyTorch, Netron.");
  options.arguments("DIR", 1, 1);
  options.example("fledge export run", "writes the folder run-export");
  options.add("-o, --out", "DIR", out, "the new folder. Without it the name is DIR-export");
  options.parse(argc, argv);
  const std::string& path = options.arguments()[0];
  if (out.empty()) out = whole_name(path) + "-export";

  const TrainedModel trained = load_trained(path, TextForm::text_if_run);
  const Recipe& recipe = trained.model.sizes.recipe;
  const Family family = trained.model.sizes.family();
  if (family == Family::none && !forms_of(recipe).empty())
    throw support::InputError(of_no_family(trained.model.sizes),
                              "train one with --recipe llama or --recipe gpt2; fledge itself reads "
                              "the run: fledge generate " +
                                  support::shell_word(path));
  std::map<std::string, std::string> metadata{{"format", "pt"}};
  if (trained.step > 0) metadata["step"] = std::to_string(trained.step);
  NamedFiles files{{weights_name, stored_bytes(named_weights(trained.model), metadata)}};
  support::with_advice("a model's folder is made by: fledge train FILE -o DIR", [&] {
    for (auto& file : text_files(trained, Folder(path))) files.push_back(std::move(file));
  });
  write_folder(out, files);
  if (family == Family::none)
    support::say(
        stderr,
        "This model leaves out mask, residual or norm, so it is no GPT-2: its config.json has "
        "the type fledge, which GPT2LMHeadModel refuses.");
  std::fprintf(stderr, "The folder is %s.\n", support::printable(out).c_str());
  return 0;
}

}  // namespace fledge
