#include "examples/fledge/trained_model.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "examples/fledge/train/source.h"
#include "examples/support/text.h"
#include "nn/gpt/weights.h"
#include "nn/text/tokenizer_files.h"

namespace fledge {

namespace {

constexpr const char* other_advice =
    "fledge reads models of GPT-2, Llama and Starcoder2, as transformers saves them";

// Says what a file has that is ignored.
void warn_of(const std::string& path, const char* what, const std::vector<std::string>& items) {
  if (!items.empty())
    support::say(stderr, support::quoted(path) + " has " + what +
                             " and ignores: " + train::list_of(items, 5) + ".");
}

constexpr const char* other_tokens = "values that fledge does not find among the model's tokens";

// The tokenizer of a folder that fledge train did not make.
Tokenizer read_tokenizer(const Folder& folder, Dim vocabulary) {
  std::optional<Tokenizer> tokenizer = read_tokenizer_files(folder);
  if (!tokenizer)
    throw support::InputError(
        support::quoted(folder.path()) +
            " has no tokenizer: neither tokenizer.json nor vocab.json and merges.txt",
        "bring them; without them a text is token numbers: fledge generate DIR --tokens-in \"15 7\"");
  if (tokenizer->size() > vocabulary) {
    support::say(stderr, "The tokenizer in " + support::quoted(folder.path()) + " has " +
                             support::thousands(tokenizer->size()) + " tokens, the model " +
                             support::thousands(vocabulary) +
                             ": a text with one of the others is refused.");
    tokenizer->limit_to(vocabulary);
  }
  return std::move(*tokenizer);
}

// The tokens that begin and end texts: what generation_config.json says comes before config.json.
MarkTokens marks_of(const Folder& folder, const ModelConfig& config) {
  constexpr const char* name = "generation_config.json";
  warn_of(folder.file(config_name), other_tokens, config.other_marks);
  const std::optional<std::string> text = folder.read(name, most_json_bytes);
  if (!text) return config.marks;
  const std::string path = folder.file(name);
  MarkTokens marks = located_at(in_quotes(path), [&] {
    const JsonValue json = read_json(*text);
    std::vector<std::string> others;
    MarkTokens found = read_marks(json, config.sizes.vocabulary, others);
    warn_of(path, other_tokens, others);
    return found;
  });
  if (!marks.begin) marks.begin = config.marks.begin;
  if (marks.ends.empty()) marks.ends = config.marks.ends;
  if (!marks.pad) marks.pad = config.marks.pad;
  return marks;
}

train::RunConfig config_without_run(const LanguageModelSizes& sizes, Tokenizer tokenizer,
                                    const MarkTokens& marks) {
  tokenizer.set_marks(marks);
  train::RunConfig run{{}, std::move(tokenizer)};
  run.settings.sizes = sizes;
  run.settings.corpus.tokens = run.tokenizer.kind();
  return run;
}

TrainedModel model_of_run(const Folder& folder, TextForm form) {
  train::SavedRun saved = train::open_run(folder);
  const std::string file = folder.file(train::run_file);
  LanguageModel model = support::with_advice(
      "restore the file, or train again",
      [&] { return kept_model(saved.checkpoint, saved.config.settings.sizes); },
      support::quoted(file));
  train::RunConfig run = std::move(saved.config);
  if (form == TextForm::token_ids)
    run = config_without_run(model.sizes, number_tokenizer(model.sizes.vocabulary),
                             train::saved_marks(run.tokenizer));
  return {std::move(model), std::move(run), saved.checkpoint.notes.kept_step(), file, form};
}

TrainedModel model_of_others(const Folder& folder, TextForm form) {
  std::optional<train::RunConfig> run;
  const auto reader = [&](std::string text) {
    const bool is_of_run = text.find("\"fledge\"") != std::string::npos;
    const auto read = [&] {
      ModelConfig config = read_config(std::move(text));
      if (!config.own.is_null()) run = train::run_config(config);
      return config;
    };
    if (!is_of_run) return read();
    return support::with_advice(train::config_advice, read,
                                support::quoted(folder.file(config_name)));
  };
  try {
    SavedModel saved = read_model(folder, reader);
    const LanguageModelSizes& sizes = saved.model.sizes;
    warn_of(folder.file(config_name), "keys that fledge does not know", saved.config.unknown_keys);
    const bool is_numbers = form == TextForm::token_ids || (form == TextForm::text_if_run && !run);
    if (is_numbers || !run) {
      Tokenizer tokenizer = is_numbers ? number_tokenizer(sizes.vocabulary)
                                       : read_tokenizer(folder, sizes.vocabulary);
      run = config_without_run(sizes, std::move(tokenizer), marks_of(folder, saved.config));
    }
    const std::int64_t step =
        std::max<std::int64_t>(std::strtoll(saved.step.c_str(), nullptr, 10), 0);
    return {std::move(saved.model), std::move(*run), step, folder.file(weights_name), form};
  } catch (const FormatError& error) {
    throw support::InputError(error.what(), error.advice.empty() ? other_advice : error.advice);
  }
}

}  // namespace

void add_text_form(support::Options& options, TextForm& form) {
  options.add("--tokens-in", "", form,
              "texts are token numbers, such as \"15 7\": for a folder without a tokenizer");
}

TrainedModel load_trained(const std::string& path, TextForm form, const std::string& advice) {
  return support::with_advice(advice, [&] {
    const Folder folder(path);
    const bool has_run = folder.has(train::run_file) || folder.has("state.safetensors");
    return has_run ? model_of_run(folder, form) : model_of_others(folder, form);
  });
}

std::string TrainedModel::readable(std::string text, const std::string& name) const {
  if (form != TextForm::token_ids) return text;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (!tokenizer().find(word))
      throw support::InputError(name + " must have token numbers from 0 to " +
                                    std::to_string(tokenizer().size() - 1) + ": got " +
                                    support::quoted(word),
                                "write them with blanks between, such as \"15 7\"");
  return text;
}

std::string TrainedModel::file_text(const std::string& path) const {
  const Tokens kind = tokenizer().kind();
  train::FileRules rules{.not_found = "name a text file", .not_utf8 = train::not_utf8_advice};
  rules.needs_utf8 = kind == Tokens::character || kind == Tokens::word;
  rules.keep_cr = kind == Tokens::byte || run.text_bytes == 0;  // tokens of others have \r
  const train::FileText read = train::joined_text({path}, rules);
  if (const std::string left_out = read.report(", as in training"); !left_out.empty())
    support::say(stderr, left_out);
  return read.text;
}

Dim TrainedModel::first_token() const { return train::first_token(tokenizer(), lines()).id; }

void refuse_numbers(const TrainedModel& trained, std::vector<Dim> ids) {
  const LanguageModel& model = trained.model;
  const auto named = named_parameters(model);
  std::vector<std::pair<std::string, Array>> weights;
  for (const auto& [name, tensor] : named) weights.emplace_back(name, tensor.value());
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(model.sizes.context)));
  const std::string first = first_not_finite(named, [&] {
    model({{1, static_cast<Dim>(ids.size())}, ids});
  });
  throw support::InputError(
      support::quoted(trained.file) +
          ": its scores must be numbers, and its weights are too large for that: " +
          largest_number(weights) + (first.empty() ? "" : "; they overflow " + first),
      "such weights come from a run that diverged: train again, with a smaller --lr");
}

}  // namespace fledge
