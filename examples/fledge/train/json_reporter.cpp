#include <cstdio>

#include "examples/fledge/train/reporter.h"
#include "nn/io/json.h"

namespace fledge::train {

namespace {

void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void write_baselines(JsonWriter& json, const Baselines& baselines) {
  static constexpr const char* names[] = {"unigram", "bigram", "trigram", "fourgram"};
  json.key("baselines").begin_object().field("uniform", baselines.uniform);
  for (std::size_t n = 0; n < baselines.counting.size(); ++n)
    json.field(names[n], baselines.counting[n]);
  json.end_object();
}

}  // namespace

std::string as_json(const PairWatched& event) {
  const auto& [step, words, is_first, control, seen, beside] = event;
  JsonWriter json;
  json.begin_object().field("type", "watch").field("step", step);
  json.field("word", words.word).field("looks_at", words.looks_at).field("places", seen.pairs);
  json.field("attention", seen.attention).field("chance", seen.chance);
  json.field("association", seen.association).field("cosine", seen.similarity);
  json.field("control", control).field("control_attention", beside.attention);
  return json.end_object().text();
}

void JsonReporter::report(const RunStarted& event) {
  JsonWriter json;
  json.begin_object().field("type", "start").field("version", 1);
  json.field("tokens", event.corpus.train.size()).field("held_out", event.corpus.valid.size());
  json.field("vocabulary", event.config.sizes.vocabulary);
  json.field("parameters", count_parameters(event.model));
  json.field("seed", event.config.training.seed).field("step", event.step);
  write_baselines(json, event.baselines);
  print(json.end_object().text());
}

void JsonReporter::report(const StepLogged& event) { print(as_json(event.row)); }

void JsonReporter::report(const PairWatched& event) { print(as_json(event)); }

void JsonReporter::report(const SampleDrawn& event) {
  JsonWriter json;
  json.begin_object().field("type", "sample").field("step", event.step).field("text", event.text);
  print(json.end_object().text());
}

void JsonReporter::report(const SentenceProbed& event) {
  const auto& [step, sentence, tokenizer, looked] = event;
  JsonWriter json;
  json.begin_object().field("type", "probe").field("step", step);
  json.field("sentence", sentence).key("tokens").begin_array();
  for (const Dim id : looked.ids) json.value(tokenizer.decode({id}));
  json.end_array().key("attention").begin_array();  // of each layer T rows of T weights
  const std::size_t T = looked.ids.size();
  for (const std::vector<double>& weights : looked.weights) {
    json.begin_array();
    for (std::size_t row = 0; row < T; ++row) {
      json.begin_array();
      for (std::size_t column = 0; column < T; ++column) json.value(weights[row * T + column]);
      json.end_array();
    }
    json.end_array();
  }
  print(json.end_array().end_object().text());
}

void JsonReporter::report(const RunEnded& event) {
  static constexpr const char* names[] = {"ok", "interrupted", "diverged"};
  JsonWriter json;
  json.begin_object().field("type", "end");
  json.field("status", names[static_cast<int>(event.status)]);
  json.field("step", event.step).field("train_loss", event.train_loss);
  json.field("val_loss", event.last_loss).field("best_val_loss", event.best_loss);
  if (event.model_step)
    json.field("model_step", *event.model_step);
  else
    json.key("model_step").value(nullptr);
  write_baselines(json, event.baselines);
  json.field("seconds", event.seconds);
  print(json.end_object().text());
}

}  // namespace fledge::train
