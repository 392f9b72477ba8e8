// A real model: the heads of a GPT-2 on a sentence of yours. The lesson makes a folder in GPT-2's
// format itself, by saving the birds model with four heads, and reads it as it would read GPT-2's.
#include <filesystem>
#include <fstream>
#include <random>

#include "examples/lessons/attention/blanks.h"
#include "nn/gpt/weights.h"
#include "nn/text/tokenizer_files.h"

namespace fledge::lessons::in_a_real_model {
using blanks::text;
namespace fs = std::filesystem;

/// A folder that exists as long as the object.
struct TemporaryFolder {
  fs::path path =
      fs::temp_directory_path() /
      formatted("fledge-lesson-%llx", static_cast<unsigned long long>(std::random_device{}()));
  TemporaryFolder() { fs::create_directory(path); }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

LanguageModel four_heads() { return blanks::trained(text(), 1, 4); }

/// The logits of a prompt, and the weights of each layer (1, H, T, T).
LanguageModel::LogitsAndWeights read(const LanguageModel& model, const std::vector<Dim>& ids) {
  const NoGrad no_grad;
  return model.forward_with_weights(Indices({1, std::ssize(ids)}, ids));
}

void save_and_read(LessonText& to) {
  const LanguageModel model = four_heads();
  const TemporaryFolder folder;  // for the sizes, and the weights under GPT-2's names
  std::ofstream(folder.path / "config.json", std::ios::binary) << config_json(model.sizes);
  std::ofstream(folder.path / weights_name, std::ios::binary) << stored_bytes(named_weights(model));
  const SavedModel saved = read_model(Folder(folder.path.string()));
  std::string names;
  for (const NamedArray& array : named_weights(model))
    if (array.name.find("attn") != std::string::npos)
      names += "   " + pad_right(array.name, 24) + to_string(array.array.shape()) + "\n";
  const std::vector<Dim> ids = birds::beginning(text(), blanks::slowly.prompt);
  const auto here = read(model, ids), there = read(saved.model, ids);
  Table table = Table::of_numbers({"   'walk' looks at", "line end", "birds", "sometimes", "walk"});
  for (Dim head = 0; head < 4; ++head) {
    std::string cells = formatted("   head %d", static_cast<int>(head));
    for (Dim j = 0; j < 4; ++j)
      cells += formatted(" | %.2f", value_of(there.weights[0].value().at({0, head, 3, j})));
    table.row("%s", cells.c_str());
  }
  to.set_all("names", names, "heads", table, "numbers", thousands(count_parameters(saved.model)));
  to.claim("same sizes", saved.model.sizes == model.sizes);
  to.claim("same logits", numbers(here.logits) == numbers(there.logits));
}

/// What a head does with a text that stands twice: the mean weight over the second copy that a word
/// gives to the first word, to the word before it, and to the word after its earlier copy.
struct Habits {
  Dim layer, head;
  double first = 0, before = 0, after_copy = 0;
};
std::vector<Habits> habits(const LanguageModel& model, std::vector<Dim> ids) {
  const Dim n = std::ssize(ids);
  ids.insert(ids.end(), ids.begin(), ids.end());
  std::vector<Habits> all;
  const auto weights = read(model, ids).weights;
  for (Dim layer = 0; layer < std::ssize(weights); ++layer)
    for (Dim head = 0; head < model.sizes.heads; ++head) {
      const Array& w = weights[static_cast<std::size_t>(layer)].value();
      Habits& one = all.emplace_back(Habits{layer, head});
      for (Dim i = n; i < 2 * n; ++i) {
        const auto at = [&](Dim j) { return value_of(w.at({0, head, i, j})) / double(n); };
        one.first += at(0), one.before += at(i - 1), one.after_copy += at(i - n + 1);
      }
    }
  return all;
}

/// The habits of the four heads, and of a head that is known: with W_Q = 0 each word looks at all
/// words that it sees alike.
void measure_habits(LessonText& to) {
  const LanguageModel model = four_heads();
  const std::vector<Dim> ids = text().tokenizer.encode("birds sometimes walk slowly");
  Table table = Table::of_numbers({"   head", "first word", "word before", "word after the copy"});
  const auto row = [&](const std::string& name, const Habits& h) {
    table.row("   %s | %.2f | %.2f | %.2f", name.c_str(), h.first, h.before, h.after_copy);
  };
  for (const Habits& h : habits(model, ids)) row(std::to_string(h.head), h);
  Real* W = model.h[0].attn.c_attn.weight.write();
  for (Dim i = 0; i < model.sizes.width; ++i)
    std::fill_n(W + 3 * model.sizes.width * i, 16, Real(0));
  std::fill_n(model.h[0].attn.c_attn.bias.write(), 16, Real(0));
  double even = 0;  // position i sees i + 1 words
  for (int i = 4; i < 8; ++i) even += 1.0 / (i + 1) / 4;
  const Habits known = habits(model, ids)[0];
  row("W_Q = 0", known);
  to.set_all("habits", table, "even", even);
  to.claim("measured", std::abs(known.first - even) + std::abs(known.before - even) +
                               std::abs(known.after_copy - even) <
                           1e-6);
}

const char* const how_to_get_it =
    "   There is no model in this folder. GPT-2 small is a download of 0.5 GB:\n\n"
    "      pip install huggingface_hub\n"
    "      hf download openai-community/gpt2 config.json model.safetensors \\\n"
    "         tokenizer.json --local-dir gpt2\n\n"
    "   Then give the folder gpt2 and a sentence again.\n";

/// The words behind the folder are the sentence.
void with_folder(LessonText& to, const std::string& words) {
  const std::string path = words.substr(0, words.find(' '));
  const std::string sentence = words.substr(std::min(path.size() + 1, words.size()));
  if (!fs::exists(fs::path(path) / "config.json")) return to.set("found", how_to_get_it);
  with_advice("give a folder with the files of a GPT-2, and a sentence", [&] {
    const Folder folder(path);
    const std::optional<Tokenizer> tokenizer = read_tokenizer_files(folder);
    require<ValueError>(tokenizer.has_value(), "a_real_model", "no tokenizer in ", path);
    const LanguageModel model = read_model(folder).model;
    const std::vector<Dim> ids = tokenizer->encode(sentence);
    require<ValueError>(!ids.empty() && 2 * std::ssize(ids) <= model.sizes.context, "a_real_model",
                        "the sentence must have 1 to ", model.sizes.context / 2,
                        " tokens, and has ", ids.size());
    std::string found;
    std::vector<Habits> all = habits(model, ids);
    for (const auto& [title, share] :
         {std::pair{"look at the first word", &Habits::first},
          {"look at the word before", &Habits::before},
          {"find the earlier copy and look at the word after it", &Habits::after_copy}}) {
      std::sort(all.begin(), all.end(),
                [by = share](const Habits& a, const Habits& b) { return a.*by > b.*by; });
      found += formatted("   The heads that most %s:\n", title);
      for (std::size_t i = 0; i < std::min<std::size_t>(5, all.size()); ++i)
        found += formatted("      layer %2d, head %2d: %.2f of the weight\n", int(all[i].layer),
                           int(all[i].head), all[i].*share);
    }
    // The heads whose last word looks most at one word that is neither the first nor itself.
    const auto weights = read(model, ids).weights;
    const Dim last = std::ssize(ids) - 1;
    std::vector<std::pair<double, std::string>> looks;
    for (const Habits& head : all)
      for (Dim j = 1; j < last; ++j) {
        const double weight = value_of(
            weights[static_cast<std::size_t>(head.layer)].value().at({0, head.head, last, j}));
        looks.emplace_back(
            weight,
            formatted("      layer %2d, head %2d: %.2f to %s\n", int(head.layer), int(head.head),
                      weight, support::quoted(tokenizer->decode({ids[std::size_t(j)]})).c_str()));
      }
    std::sort(looks.rbegin(), looks.rend());
    found += "   Where the last word looks, the first word and itself left out:\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(8, looks.size()); ++i)
      found += looks[i].second;
    to.set("found", found);
  });
}

const LessonProgram program({save_and_read, measure_habits}, with_folder);

}  // namespace fledge::lessons::in_a_real_model
