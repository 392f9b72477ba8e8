#include "examples/fledge/train/reporter.h"

#include <cstdio>

#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge::train {

using support::formatted;
using support::printable;

namespace {

void write_baselines(JsonWriter& json, const Baselines& baselines) {
  static constexpr const char* names[] = {"unigram", "bigram", "trigram", "fourgram"};
  json.key("baselines").begin_object().field("uniform", baselines.uniform);
  for (std::size_t n = 0; n < baselines.counting.size(); ++n)
    json.field(names[n], baselines.counting[n]);
  json.end_object();
}

std::string as_json(std::int64_t step, const std::string& sentence, const Tokenizer& tokenizer,
                    const AttentionRows& attention) {
  JsonWriter json;
  json.begin_object().field("type", "probe").field("step", step);
  json.field("sentence", sentence).key("tokens").begin_array();
  for (const Dim id : attention.ids) json.value(tokenizer.decode({id}));
  json.end_array().key("attention").begin_array();  // of each layer T rows of T weights
  const std::size_t T = attention.ids.size();
  for (const std::vector<double>& weights : attention.weights) {
    json.begin_array();
    for (std::size_t row = 0; row < T; ++row) {
      json.begin_array();
      for (std::size_t column = 0; column < T; ++column) json.value(weights[row * T + column]);
      json.end_array();
    }
    json.end_array();
  }
  return json.end_array().end_object().text();
}

}  // namespace

std::string as_json(const PairMeasurement& measured) {
  const auto& [step, words, is_first, control, pair, control_pair] = measured;
  JsonWriter json;
  json.begin_object().field("type", "watch").field("step", step);
  json.field("word", words.word).field("looks_at", words.looks_at).field("places", pair.pairs);
  json.field("attention", pair.attention).field("chance", pair.chance);
  json.field("association", pair.association).field("cosine", pair.similarity);
  json.field("control", control).field("control_attention", control_pair.attention);
  return json.end_object().text();
}

void Reporter::json_line(const std::string& line) const {
  if (!config_->json) return;
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void Reporter::start(const Corpus& corpus, const LanguageModel& model, const Baselines& baselines,
                     std::int64_t step) {
  const TrainConfig& config = *config_;
  if (config.pace > 0 && config.text_path.empty())
    say("at most " + std::to_string(config.pace) +
        " steps a second, to be watched; --pace 0: as fast as it goes");
  if (config.resumes())
    say("going on after step " + thousands(step) +
        (config.given.contains("--lr")
             ? formatted(", from here on with --lr %g", config.training.schedule.rate)
             : ""));
  else if (config.folder().empty())
    say("nothing is kept: -o DIR keeps the model");
  JsonWriter json;
  json.begin_object().field("type", "start").field("version", 1);
  json.field("tokens", corpus.train.size()).field("held_out", corpus.valid.size());
  json.field("vocabulary", config.sizes.vocabulary).field("parameters", count_parameters(model));
  json.field("seed", config.training.seed).field("step", step);
  write_baselines(json, baselines);
  json_line(json.end_object().text());
}

void Reporter::watched(const PairMeasurement& measured) {
  const auto& [step, words, is_first, control, pair, control_pair] = measured;
  const std::string name = printable(words.word) + "->" + printable(words.looks_at);
  if (is_first) pair_ = name + formatted(" %.2f", pair.attention);
  say("  step " + std::to_string(step) + ": " + name +
      formatted(" attention %.3f (chance %.3f), association %.3f, cosine %.3f; control ",
                pair.attention, pair.chance, pair.association, pair.similarity) +
      support::quoted(control) + formatted(" attention %.3f", control_pair.attention));
  json_line(as_json(measured));
}

void Reporter::sample(std::int64_t step, const std::string& text) {
  say("  step " + std::to_string(step) + ": " + support::cut(printable(text), 68));
  JsonWriter json;
  json.begin_object().field("type", "sample").field("step", step).field("text", text);
  json_line(json.end_object().text());
}

void Reporter::progress(Progress progress) {
  progress.pair = pair_;
  show(progress);
}

void Reporter::sentence(std::int64_t step, const std::string& sentence, const Tokenizer& tokenizer,
                        const AttentionRows& attention) {
  support::MapStyle style;
  style.columns = support::terminal_width(stderr);
  style.paint = {support::colour_wanted(stderr)};
  std::string map = attention_report(attention, tokenizer, style);
  map.pop_back();  // its line end: say() adds one
  say("attention in " + support::quoted(sentence) + "\n" + map);
  json_line(as_json(step, sentence, tokenizer, attention));
}

void Reporter::end(const std::string& status, std::int64_t step, double train_loss,
                   double last_loss, double best_loss, std::optional<std::int64_t> model_step,
                   const Baselines& baselines) {
  const bool is_done = status == "ok";
  const std::string folder = support::shell_word(config_->folder());
  if (is_done && !config_->folder().empty()) {
    say("kept in " + printable(config_->folder()) +
        ": model.safetensors, config.json, state.safetensors, metrics.csv");
    say("next: fledge generate " + folder + "   fledge eval " + folder +
        "   fledge train --resume " + folder + " --steps " +
        std::to_string(2 * config_->training.schedule.steps));
  } else if (is_done && config_->text_path.empty()) {
    say("next: fledge train poems.txt -o run   fledge generate run   fledge gradcheck");
  }
  JsonWriter json;
  json.begin_object().field("type", "end");
  json.field("status", status).field("step", step);
  json.field("train_loss", train_loss).field("val_loss", last_loss);
  json.field("best_val_loss", best_loss).key("model_step");
  if (model_step)
    json.value(*model_step);
  else
    json.value(nullptr);
  write_baselines(json, baselines);
  json.field("seconds", elapsed());
  json_line(json.end_object().text());
}

}  // namespace fledge::train
