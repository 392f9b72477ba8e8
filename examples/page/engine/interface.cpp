#include "examples/page/engine/interface.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/autograd.h"
#include "examples/page/engine/excerpt.h"
#include "examples/page/engine/head.h"
#include "examples/page/engine/settings.h"
#include "examples/page/engine/view.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/inspect/word_vectors.h"
#include "nn/io/checksum.h"
#include "nn/io/json.h"
#include "nn/text/tokenizer_json.h"
#include "nn/train/checkpoint.h"

namespace fledge {

namespace {

struct Run {
  std::string name;  // of the text's file
  std::uint64_t text_bytes = 0, text_hash = 0;
  Settings settings;
  Corpus corpus;
  LanguageModel model, shown;
  Excerpt beginning;               // of the text
  std::optional<Trainer> trainer;  // none for a model without its text
};

std::unique_ptr<Run> run;
std::vector<Dim> sentence;
Changes the_changes;
std::string input, output;

Run& the_run() {
  require<ValueError>(run != nullptr, "page", "needs a run: begin or load one first");
  return *run;
}

std::uint32_t answer(std::string bytes) {
  output = std::move(bytes);
  return static_cast<std::uint32_t>(output.size());
}
std::uint32_t answer(const Json& json) { return answer(json.text()); }
template <class Number>
std::uint32_t answer(const std::vector<Number>& numbers) {
  return answer(
      std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)));
}

void append(std::vector<float>& list, const Array& array) {
  list.insert(list.end(), array.data(), array.data() + array.size());
}

/// A part of what the page has written.
std::string_view input_part(std::uint32_t begin, std::uint32_t bytes) {
  require<ValueError>(begin <= input.size() && bytes <= input.size() - begin, "page", "needs ",
                      bytes, " bytes of input from byte ", begin, " on: got ", input.size());
  return std::string_view(input).substr(begin, bytes);
}

std::vector<std::string> words_of(const std::vector<Dim>& tokens) {
  const std::vector<std::string>& symbols = the_run().corpus.tokenizer.symbols();
  std::vector<std::string> words;
  for (const Dim token : tokens) words.push_back(symbols.at(static_cast<std::size_t>(token)));
  return words;
}

/// The shown model reads the sentence under all changes.
View view() {
  require<ValueError>(!sentence.empty(), "page", "needs a sentence");
  return look(the_run().shown, sentence, the_changes);
}

Json run_json() {
  const Run& r = the_run();
  const Tokenizer& tokenizer = r.corpus.tokenizer;
  std::vector<Dim> all(static_cast<std::size_t>(tokenizer.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Dim>(i);
  std::vector<Dim> counts(all.size());
  for (const TokenText* text : {&r.corpus.train, &r.corpus.valid})
    for (const Dim token : text->tokens) ++counts[static_cast<std::size_t>(token)];
  return Json::object({{"settings", settings_json(r.settings, r.name)},
                       {"kind", to_string(tokenizer.kind())},
                       {"words", words_of(all)},
                       {"counts", counts},
                       {"beginning", r.beginning.text},
                       {"goes_on", r.beginning.goes_on},
                       {"count", count_parameters(r.model)},
                       {"trains", r.trainer.has_value()},
                       {"step", r.trainer ? r.trainer->steps_done() : 1}});
}

// -- settings --------------------------------------------------------------------------------------

void read_setting(const JsonValue& json, double& to) { to = json.number(); }
void read_setting(const JsonValue& json, Dim& to) { to = json.integer(0, 1'000'000'000); }
void read_setting(const JsonValue& json, std::uint64_t& to) {
  const std::optional<std::uint64_t> number = unsigned_number(json.shown(), 10);
  if (!number) json.refuse("must be a whole number below 2^64");
  to = *number;
}
void read_setting(const JsonValue& json, Tokens& to) { to = tokens_named(json.string()); }
void read_setting(const JsonValue& json, Reading& to) {
  to = json.boolean() ? Reading::lines : Reading::stream;
}
void read_setting(const JsonValue& json, Bias& to) {
  to = json.boolean() ? Bias::with : Bias::without;
}
void read_setting(const JsonValue& json, Optimizer& to) {
  if (json.string() != "adamw" && json.string() != "muon") json.refuse("must be adamw or muon");
  to = json.string() == "muon" ? Optimizer::muon : Optimizer::adamw;
}
template <class List>
void read_setting(const JsonValue& words, List& list) {
  words.each_item([&](const JsonValue& word) {
    bool known = false;
    std::string all;
    list.each([&]<class Part>(const std::string& name, Part& part) {
      if (name == word.string()) part = Part::none, known = true;
      all += (all.empty() ? "" : ", ") + name;
    });
    if (!known) word.refuse("must be one of " + all);
  });
}

Settings settings_of_page(const JsonValue& json) {
  Settings s;
  std::vector<std::string_view> names{"name", "forms"};
  if (json.has("forms")) read_forms(json["forms"], s.sizes.recipe);
  s.each([&](std::string_view name, std::string_view, auto& value) {
    if (!name.empty() && json.has(name)) read_setting(json[name], value);
    names.push_back(name);
  });
  json.allow_only(names);
  s.corpus.seed = s.training.seed;
  return s;
}

std::string replaced(std::string text, char from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, 1, to);
  return text;
}

// In run.safetensors an option is a string: a number, true or false, or words with commas.
void read_options(const JsonValue& options, Settings& s) {
  s.each([&]<class T>(std::string_view, std::string_view option, T& value) {
    if (option.empty() || !options.has(option)) return;
    std::string json = options[option].string();
    if constexpr (std::is_same_v<T, Recipe::Learned>)
      json = "[\"" + replaced(json, ',', "\",\"") + "\"]";
    if constexpr (std::is_same_v<T, Optimizer>) json = '"' + json + '"';
    read_setting(read_json(json), value);
  });
  s.corpus.seed = s.training.seed;
}

// The settings in run.safetensors, as `fledge train` writes them (examples/fledge/train/train_config).
constexpr std::int64_t settings_version = 8;

std::string settings_text(const Run& r) {
  Json::Members options;
  Settings s = r.settings;
  s.each([&](std::string_view, std::string_view option, const auto& value) {
    std::string text = json_of(value).text();
    std::erase_if(text, [](char c) { return c == '"' || c == '[' || c == ']'; });
    if (!option.empty() && !text.empty()) options.push_back({option, text});
  });
  const std::optional<Dim> end = r.corpus.tokenizer.find("\n");
  return config_json(s.sizes,
                     {{"version", settings_version},
                      {"text", r.name},
                      {"text_bytes", static_cast<std::int64_t>(r.text_bytes)},
                      {"text_hash", hexadecimal(r.text_hash)},
                      {"file_bytes", std::vector<std::int64_t>{}},
                      {"run", Json::object(options)},
                      {"tokenizer", tokenizer_json(r.corpus.tokenizer)}},
                     mark_notes({end, end ? std::vector<Dim>{*end} : std::vector<Dim>{}, {}}));
}

// The work of half a minute on one core in a page, in operations of operations_of_step().
constexpr double operations_of_half_a_minute = 4e11;

// What is not given is chosen from the text as `fledge train` does, but of a size that makes hundreds
// of steps in half a minute.
void choose_for(const Corpus& corpus, const JsonValue& given, Settings& s) {
  const TrainingDefaults row = row_of_page(defaults_for(corpus), corpus.tokenizer.size());
  s.sizes.vocabulary = corpus.tokenizer.size();
  const auto is_given = [&](std::string_view option) {
    return given.has(option == "lr" ? "rate" : option);
  };
  choose_settings(row, corpus, operations_of_half_a_minute, is_given, s.sizes, s.training);
}

constexpr const char* too_large = "has 2 GB of memory: use a smaller width, context or batch";

/// Makes a run the run of the page. `name`: as Run has it.
std::uint32_t take(const std::string& name, std::string_view text, const Settings& s, Corpus corpus,
                   const LanguageModel& model, bool trains) {
  const Excerpt part = excerpt_of(text, corpus.tokenizer, s.corpus.reading, s.sizes.context);
  Run next{name, text.size(), hash_of(text), s, std::move(corpus), model, model, part, {}};
  run = std::make_unique<Run>(std::move(next));
  if (trains) run->trainer.emplace(run->model, run->corpus.train, s.training);
  sentence.clear();
  the_changes = {};
  return answer(run_json());
}

}  // namespace

extern "C" {

char* fledge_input(std::uint32_t bytes) {
  input.assign(bytes, '\0');
  return input.data();
}
const char* fledge_output() { return output.data(); }

std::uint32_t fledge_new(std::uint32_t text_bytes, std::uint32_t settings_bytes) {
  const JsonValue json = read_json(std::string(input_part(text_bytes, settings_bytes)));
  const std::string_view text = input_part(0, text_bytes);
  Settings s = settings_of_page(json);
  Corpus corpus = read_corpus(text, s.corpus);
  choose_for(corpus, json, s);
  while (s.training.batch > 1 && !fits_page(s.sizes, s.training.batch)) s.training.batch /= 2;
  require<ValueError>(fits_page(s.sizes, s.training.batch), "page", too_large);
  Rng rng(s.training.seed);
  return take(json.has("name") ? json["name"].string() : "", text, s, std::move(corpus),
              LanguageModel(s.sizes, rng), true);
}

std::uint32_t fledge_step(std::uint32_t count) {
  std::optional<Trainer>& trainer = the_run().trainer;
  require<ValueError>(trainer.has_value(), "fledge_step", "needs the text of the run");
  std::vector<double> done;
  for (; count > 0 && trainer->steps_done() < trainer->options().schedule.steps; --count) {
    const Trainer::Step step = trainer->step();
    done.insert(done.end(),
                {static_cast<double>(step.number), step.loss, step.gradient_norm, step.rate});
  }
  return answer(done);
}

double fledge_loss(std::uint32_t held_out, std::uint32_t windows) {
  const Run& r = the_run();
  const TokenText& text = held_out != 0 ? r.corpus.valid : r.corpus.train;
  if (text.size() == 0) return std::nan("");
  return mean_loss(r.shown, text, 16, windows, r.shown.sizes.context / 2);
}

std::uint32_t fledge_baselines() {
  const Corpus& corpus = the_run().corpus;
  const TokenText& test = corpus.valid.size() > 0 ? corpus.valid : corpus.train;
  const Dim V = corpus.tokenizer.size();
  const int history = best_history(corpus.train, V, 8);
  return answer(Json::object({{"guessing", std::log(static_cast<double>(V))},
                              {"tables", ngram_losses(corpus.train, test, V, history)},
                              {"floor", test.documents() > 0 ? Json(least_loss(test)) : Json()}}));
}

std::uint32_t fledge_weights() {
  std::vector<float> numbers;
  for (const Tensor& tensor : parameters(the_run().shown)) append(numbers, tensor.value());
  return answer(numbers);
}

void fledge_show(std::uint32_t bytes) {
  Run& r = the_run();
  if (bytes == 0) {
    r.shown = r.model;
    return;
  }
  const auto numbers = static_cast<Dim>(bytes / sizeof(float));
  require<ValueError>(numbers == count_parameters(r.model), "fledge_show", "needs ",
                      count_parameters(r.model), " weights: got ", numbers);
  LanguageModel copy(r.model.sizes, InitialWeights::none());
  const char* from = input.data();
  for (const Tensor& tensor : parameters(copy)) {
    const std::size_t size = static_cast<std::size_t>(tensor.size()) * sizeof(float);
    std::memcpy(tensor.write(), from, size);
    from += size;
  }
  r.shown = copy;
}

std::uint32_t fledge_save() {
  const Run& r = the_run();
  require<ValueError>(r.trainer.has_value(), "fledge_save", "needs the text of the run");
  return answer(checkpoint_bytes(*r.trainer, {}, {}, settings_text(r)));
}

std::uint32_t fledge_load(std::uint32_t file_bytes, std::uint32_t text_bytes) {
  const std::string_view text = input_part(file_bytes, text_bytes);
  const Checkpoint file = open_checkpoint(input_part(0, file_bytes));
  const ModelConfig config = read_config(file.settings);
  const JsonValue own = config.own;
  if (own["version"].integer(1, 1'000'000) != settings_version)
    own["version"].fail("must be " + std::to_string(settings_version));
  Settings s{{}, config.sizes, {}};
  read_options(own["run"], s);
  Tokenizer tokenizer = read_tokenizer(own["tokenizer"]);
  if (tokenizer.size() > s.sizes.vocabulary) tokenizer.limit_to(s.sizes.vocabulary);
  s.corpus.tokens = tokens_named(to_string(tokenizer.kind())), s.corpus.symbols = tokenizer.size();
  require<ValueError>(fits_page(s.sizes, 1), "page",
                      too_large);  // a view's gradient is one window's
  const LanguageModel model = kept_model(file, s.sizes);
  const bool trains = !text.empty() && hexadecimal(hash_of(text)) == own["text_hash"].string() &&
                      fits_page(s.sizes, s.training.batch);
  Corpus corpus = trains ? read_corpus(text, s.corpus, tokenizer) : Corpus{tokenizer, {}, {}, {}};
  if (!trains && !text.empty() && tokenizer.unknown_symbols(text).counts.empty())
    corpus.train.tokens = tokenizer.encode(text);  // a part of it, for fledge_said() alone
  take(own["text"].is_array() ? "" : own["text"].string(), text, s, std::move(corpus), model,
       trains);
  if (trains) restore(file, *run->trainer);
  return answer(run_json());
}

std::uint32_t fledge_read(std::uint32_t bytes) {
  const Run& r = the_run();
  const Tokenizer& tokenizer = r.corpus.tokenizer;
  const std::string text =
      (r.settings.corpus.reading == Reading::lines ? "\n" : "") + std::string(input_part(0, bytes));
  const UnknownSymbols unknown = tokenizer.unknown_symbols(text);
  std::vector<std::string> unknown_words;
  for (const auto& [word, count] : unknown.counts) unknown_words.push_back(word);
  std::size_t cut = 0;
  if (unknown_words.empty()) {
    std::vector<Dim> tokens = tokenizer.encode(text);
    const auto context = static_cast<std::size_t>(r.model.sizes.context);
    if (tokens.size() > context) cut = tokens.size() - context;
    sentence.assign(tokens.begin() + static_cast<std::ptrdiff_t>(cut), tokens.end());
    the_changes = {};
  }
  return answer(Json::object({{"tokens", sentence},
                              {"words", words_of(sentence)},
                              {"cut", cut},
                              {"unknown", unknown_words}}));
}

void fledge_change(std::uint32_t bytes) {
  const JsonValue json = read_json(std::string(input_part(0, bytes)));
  json.allow_only({"hidden", "rows", "off", "nudges"});
  const LanguageModelSizes& sizes = the_run().model.sizes;
  const auto T = static_cast<Dim>(sentence.size());
  Changes next;
  const auto each = [&](std::string_view key, const auto& f) {
    if (json.has(key)) json[key].each_item(f);
  };
  const auto head_of = [&](const JsonValue& item) {
    return HeadOfLayer{item["layer"].integer(0, sizes.layers - 1),
                       item["head"].integer(0, sizes.heads - 1)};
  };
  each("hidden", [&](const JsonValue& at) { next.hidden.push_back(at.integer(0, T - 1)); });
  each("off", [&](const JsonValue& item) { next.off.push_back(head_of(item)); });
  each("rows", [&](const JsonValue& item) {
    Changes::Row row{head_of(item), item["query"].integer(0, T - 1), {}};
    item["weights"].each_item([&](const JsonValue& w) { row.weights.push_back(w.number()); });
    if (std::ssize(row.weights) != T) item["weights"].fail("must have a weight for each key");
    next.rows.push_back(std::move(row));
  });
  each("nudges", [&](const JsonValue& item) {
    next.nudges.push_back({head_of(item), item["query"].integer(0, T - 1),
                           item["key"].integer(0, T - 1), item["by"].number()});
  });
  the_changes = std::move(next);
}

std::uint32_t fledge_said() {
  const Corpus& corpus = the_run().corpus;
  std::map<Dim, Dim> counts;
  for (const TokenText* text : {&corpus.train, &corpus.valid}) {
    const auto begin = text->tokens.begin(), end = text->tokens.end();
    for (auto at = begin; !sentence.empty(); ++at) {
      at = std::search(at, end, sentence.begin(), sentence.end());
      if (end - at <= std::ssize(sentence)) break;
      ++counts[at[std::ssize(sentence)]];
    }
  }
  std::set<std::pair<Dim, Dim>> said;  // −count, token
  for (const auto& [token, count] : counts) said.emplace(-count, token);
  std::vector<Json> list;
  for (const auto& [count, token] : said)
    list.push_back(
        Json::object({{"token", token}, {"word", words_of({token})[0]}, {"count", -count}}));
  return answer(Json(list));
}

std::uint32_t fledge_attention() {
  const NoGrad no_grad;
  std::vector<float> all;
  for (const View::Layer& layer : view().layers) append(all, layer.weights.value());
  return answer(all);
}

std::uint32_t fledge_next(std::int32_t layer, std::uint32_t part, std::uint32_t position,
                          std::uint32_t count) {
  const NoGrad no_grad;
  const LanguageModel& model = the_run().shown;
  const auto T = static_cast<Dim>(sentence.size());
  require<ValueError>(position < T && layer < model.sizes.layers && part < 3, "fledge_next",
                      "needs a layer and a position that exist");
  Tensor logits;
  if (layer < 0 && the_changes.empty()) {
    // Attention in one op, as `fledge` writes: step by step the last bits are others.
    logits = model(Indices({1, T}, sentence));
  } else {
    const View seen = view();
    Tensor x = seen.output;
    if (layer >= 0) {
      const View::Layer& l = seen.layers[static_cast<std::size_t>(layer)];
      x = part == 0 ? l.input : part == 1 ? l.between : l.output;
    }
    logits = model.logits(x);
  }
  const Array row = slice(logits, 1, position, Dim{position} + 1).value();
  std::vector<Json> list;
  for (const Choice& choice : most_likely(row.with_shape({row.size()}), count))
    list.push_back(Json::object({{"token", choice.token},
                                 {"word", words_of({choice.token})[0]},
                                 {"p", choice.probability}}));
  return answer(Json(list));
}

std::uint32_t fledge_cell(std::uint32_t layer, std::uint32_t head, std::uint32_t query,
                          std::uint32_t key) {
  const NoGrad no_grad;
  return answer(cell_json(the_run().shown, view(), layer, head, query, key));
}

double fledge_sentence_loss(std::int32_t next) {
  const NoGrad no_grad;
  if (sentence.size() == 1 && next < 0) return std::nan("");  // nothing is predicted
  return sentence_loss(the_run().shown, view(), sentence, next).item();
}

std::uint32_t fledge_gradient(std::int32_t next) {
  const View seen = view();
  std::vector<float> all;
  if (sentence.size() == 1 && next < 0) {  // nothing is predicted: no score matters
    for (const View::Layer& layer : seen.layers) append(all, Array::zeros(layer.scores.shape()));
    return answer(all);
  }
  for (const View::Layer& layer : seen.layers) layer.scores.keep_grad();
  backward(sentence_loss(the_run().shown, seen, sentence, next));
  zero_grad(the_run().shown);
  for (const View::Layer& layer : seen.layers) append(all, layer.scores.grad());
  return answer(all);
}

std::uint32_t fledge_map() {
  const TokenMap map = token_map(the_run().shown.wte.weight.value());
  std::vector<double> numbers{map.share};
  numbers.insert(numbers.end(), map.x.begin(), map.x.end());
  numbers.insert(numbers.end(), map.y.begin(), map.y.end());
  return answer(numbers);
}

std::uint32_t fledge_write(std::uint32_t count, double temperature, std::uint32_t seed) {
  const NoGrad no_grad;
  const Run& r = the_run();
  const Tokenizer& tokenizer = r.corpus.tokenizer;
  const bool lines = r.settings.corpus.reading == Reading::lines;
  Decoder decoder(r.shown);
  Rng rng(seed);
  std::vector<Dim> tokens;
  generate(decoder, sentence, count, {.temperature = temperature}, rng,
           [&](Dim token, const Array&) {
             if (lines && token == tokenizer.find("\n")) return false;
             tokens.push_back(token);
             return true;
           });
  return answer(Json::object({{"text", tokenizer.decode(tokens)}}));
}

std::uint32_t fledge_head(std::uint32_t bytes) {
  return answer(head_json(read_json(std::string(input_part(0, bytes)))));
}

}  // extern "C"

}  // namespace fledge
