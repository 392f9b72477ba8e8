// What a session is asked to watch: pairs of words on the way, sentences at the end.
#include "examples/fledge/train/session.h"
#include "examples/fledge/train/source.h"
#include "examples/support/formatted.h"
#include "examples/support/text.h"
#include "nn/inspect/probes.h"
#include "nn/io/json.h"

namespace fledge::train {

using support::formatted;

void Session::find_watched() {
  watched_words_ = watched_pairs(plan_.watch);
  for (const auto& [word, looks_at] : watched_words_) {
    const auto number = [&](const std::string& symbol) {
      const Tokenizer& tokenizer = corpus_->tokenizer;
      if (const std::optional<Dim> found = tokenizer.find(symbol)) return *found;
      const bool words = tokenizer.kind() == Tokens::word;
      const std::string meant = words ? support::closest(symbol, tokenizer.symbols()) : "";
      throw InputError("--watch: " + support::quoted(symbol) + " is no " +
                           token_word(tokenizer.kind()) + " of the text",
                       !words          ? "to watch words: --tokens word"
                       : meant.empty() ? "write words as they stand in the text"
                                       : "nearest by spelling: " + support::quoted(meant));
    };
    const Dim first = number(word), second = number(looks_at);
    watched_.emplace_back(first, second);
  }
}

// Each pair, and the control beside it.
std::vector<Session::Watched> Session::watch() const {
  std::vector<Watched> watched;
  const std::vector<Dim>& tokens = corpus_->train.tokens;
  for (const auto& [a, b] : watched_) {
    const Dim control = control_of(tokens, plan_.sizes.vocabulary, a, b);
    watched.push_back(
        {control, watch_pair(*model_, tokens, a, b), watch_pair(*model_, tokens, a, control)});
    const WatchedPair& seen = watched.back().seen;
    if (!std::isfinite(seen.attention + seen.association + seen.similarity))
      throw Diverged("the attention of " +
                     support::quoted(watched_words_[watched.size() - 1].word) +
                     " is not a number after step " + std::to_string(trainer_->steps_done()));
  }
  return watched;
}

void Session::say_watched(const std::vector<Watched>& watched) {
  for (std::size_t i = 0; i < watched.size(); ++i) {
    const auto& [control, seen, beside] = watched[i];
    const auto& [word, looks_at] = watched_words_[i];
    const std::string name = support::printable(word) + "->" + support::printable(looks_at);
    if (i == 0) pair_ = name + formatted(" %.2f", seen.attention);
    screen_.say("  step " + std::to_string(trainer_->steps_done()) + ": " + name +
                formatted(" attention %.3f (chance %.3f), association %.3f, cosine %.3f; control ",
                          seen.attention, seen.chance, seen.association, seen.similarity) +
                support::quoted(corpus_->tokenizer.decode({control})) +
                formatted(" attention %.3f", beside.attention));
    JsonWriter json;
    json.begin_object().field("type", "watch").field("step", trainer_->steps_done());
    json.field("word", word).field("looks_at", looks_at).field("places", seen.pairs);
    json.field("attention", seen.attention).field("chance", seen.chance);
    json.field("association", seen.association).field("cosine", seen.similarity);
    json.field("control", corpus_->tokenizer.decode({control}));
    json.field("control_attention", beside.attention);
    const std::string line = json.end_object().text();
    if (plan_.json) say_json(line);
    if (folder_) folder_->append_json(line);
  }
}

void Session::find_probed() {
  probes_ = probed_sentences(plan_.probe);
  for (const auto& [sentence, at] : probes_) {
    std::vector<Dim> ids = tokens_of(corpus_->tokenizer, sentence, "--probe", at);
    const auto there = static_cast<Dim>(ids.size()), context = plan_.sizes.context;
    if (there > context)
      throw InputError(
          "--probe " + support::quoted(sentence) + " has " + std::to_string(there) + " " +
              token_word(corpus_->tokenizer.kind()) + "s; the model looks back over " +
              std::to_string(context),
          plan_.resumes() ? "shorten it" : "shorten it, or use --context " + std::to_string(there));
    probed_.push_back(std::move(ids));
  }
}

void Session::report_probed(std::int64_t step) {
  if (plan_.quiet && !plan_.json) return;
  support::MapStyle style;
  style.columns = support::terminal_width(stderr);
  style.paint = {support::colour_wanted(stderr)};
  for (std::size_t i = 0; i < probed_.size(); ++i) {
    Decoder decoder(*model_);
    decoder.read(probed_[i]);
    const Looked looked = looked_at(decoder);
    std::string map = attention_report(looked, corpus_->tokenizer, style);
    map.pop_back();  // its line end, which the screen makes
    screen_.say("attention in " + support::quoted(probes_[i].sentence) + "\n" + map);
    if (!plan_.json) continue;
    JsonWriter json;
    json.begin_object().field("type", "probe").field("step", step);
    json.field("sentence", probes_[i].sentence).key("tokens").begin_array();
    for (const Dim id : probed_[i]) json.value(corpus_->tokenizer.decode({id}));
    json.end_array().key("attention").begin_array();  // a layer, T rows of T
    const std::size_t T = probed_[i].size();
    for (const std::vector<double>& weights : looked.weights) {
      json.begin_array();
      for (std::size_t row = 0; row < T; ++row) {
        json.begin_array();
        for (std::size_t column = 0; column < T; ++column) json.value(weights[row * T + column]);
        json.end_array();
      }
      json.end_array();
    }
    say_json(json.end_array().end_object().text());
  }
}

}  // namespace fledge::train
