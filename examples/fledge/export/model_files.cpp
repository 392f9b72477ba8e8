#include "examples/fledge/export/model_files.h"

#include <algorithm>
#include <map>

#include "examples/support/text.h"
#include "nn/gpt/weights.h"
#include "nn/text/tokenizer_files.h"

namespace fledge {

namespace {

// The names in PyTorch of the types that are written.
std::string torch_name(const Dtype& type) {
  return type.name == "F16" ? "float16" : type.name == "BF16" ? "bfloat16" : "float32";
}

// Throws for numbers that are too large for the type.
void require_fitting(const std::string& name, const Rounding& rounding, const Dtype& type) {
  if (rounding.infinite == 0) return;
  const bool is_half = type.name == "F16";
  throw support::InputError(name + " has " + support::counted(rounding.infinite, "number") +
                                " too large for " + std::string(type.name) +
                                (is_half ? ", whose largest number is 65504" : ""),
                            is_half ? "use --to bf16 or --to f32" : "use --to f32");
}

}  // namespace

std::string weight_file(const TrainedModel& trained, const Dtype& type) {
  std::map<std::string, std::string> metadata{{"format", "pt"}};
  if (trained.step > 0) metadata["step"] = std::to_string(trained.step);
  return stored_bytes(named_weights(trained.model, &type), metadata);
}

NamedFiles text_files(const TrainedModel& trained, const Dtype& type, const Folder& folder) {
  const Json::Members notes{{"torch_dtype", torch_name(type)}};
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

std::string rounding_report(const LanguageModel& model, const Dtype& type) {
  Rounding all;
  Dim numbers = 0;
  for (const auto& [name, tensor] : named_parameters(model)) {
    const Rounding one = rounding_of(tensor.value().data(), tensor.size(), type);
    require_fitting(name, one, type);
    all.changed += one.changed;
    all.largest = std::max(all.largest, one.largest);
    numbers += tensor.size();
  }
  const std::string count = support::thousands(numbers), of_type(type.name);
  if (all.changed == 0)
    return "No number was rounded: all " + count + " are numbers of " + of_type + ".";
  return support::thousands(all.changed) + " of " + count + " numbers were rounded to " + of_type +
         support::formatted("; the largest change is %.2g.", all.largest);
}

}  // namespace fledge
