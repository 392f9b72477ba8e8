#include "examples/fledge/train/report.h"

#include <cmath>

#include "examples/support/table.h"
#include "examples/support/text.h"
#include "nn/inspect/ngram_losses.h"

namespace fledge::train {

using support::counted;
using support::formatted;
using support::thousands;

namespace {

constexpr const char* table_names[] = {"single", "pairs of", "triples of", "fours of"};

}  // namespace

std::string token_word(Tokens kind) {
  return kind == Tokens::character ? "character"
         : kind == Tokens::word    ? "word"
         : kind == Tokens::byte    ? "byte"
                                   : "token";
}

Baselines baselines_of(const Corpus& corpus) {
  Baselines result;
  const Dim V = corpus.tokenizer.size();
  result.uniform = std::log(static_cast<double>(V));
  const TokenText& test = corpus.valid.size() < 2 ? corpus.train : corpus.valid;
  result.counting = ngram_losses(corpus.train, test, V, 3);
  return result;
}

std::string text_report(const std::string& path, const Corpus& corpus) {
  const std::string token = token_word(corpus.tokenizer.kind());
  const auto size = [](const TokenText& text) { return static_cast<Dim>(text.tokens.size()); };
  std::string text = support::printable(path) + ": " + counted(corpus.facts.bytes, "byte");
  if (!corpus.train.starts.empty()) text += ", " + counted(corpus.facts.documents, "line");
  text += "; " + counted(size(corpus.train) + size(corpus.valid), token) + ", " +
          thousands(corpus.tokenizer.size()) + " different; " + thousands(size(corpus.valid)) +
          " held out";
  if (corpus.facts.repeated > 0)
    text += "\nthe split leaks: " + counted(corpus.facts.repeated, "held-out line") +
            (corpus.facts.repeated == 1 ? " also stands" : " also stand") + " in the training text";
  if (corpus.facts.unseen > 0)
    text += "\n" + counted(corpus.facts.unseen, "held-out " + token) +
            " never came in the training text";
  return text;
}

std::string model_report(const LanguageModel& model) {
  using Align = support::Table::Align;
  support::Table table(
      {{"tensor", Align::left}, {"shape", Align::left}, {"numbers", Align::right}});
  const LanguageModelSizes& s = model.sizes;
  for (const auto& [name, tensor] : named_parameters(model)) {
    const bool of_a_layer = name.starts_with("h.");
    if (of_a_layer && !name.starts_with("h.0.")) continue;  // the other layers have the same shapes
    const Dim count = of_a_layer ? s.layers : 1;
    const std::string times = count > 1 ? " x " + std::to_string(count) : "";
    table.row({of_a_layer ? "h.*" + name.substr(3) : name, to_string(tensor.shape()) + times,
               thousands(tensor.size() * count)});
  }
  table.row({"all", "", thousands(count_parameters(model))});
  return counted(s.layers, "layer") + ", " + counted(s.heads, "head") + ", " + thousands(s.width) +
         " wide, looks back over " + thousands(s.context) + "\n" + table.text();
}

std::string baseline_report(const Baselines& baselines, const std::string& token) {
  std::string text = "guessing blindly would score " + formatted("%.3f", baselines.uniform) +
                     " nats per " + token + "; counting on the training text:";
  for (std::size_t n = 0; n < baselines.counting.size(); ++n)
    text += std::string(n > 0 ? "," : "") + " " + table_names[n] + " " + token + "s " +
            formatted("%.3f", baselines.counting[n]);
  return text;
}

std::string loss_report(double loss, const Baselines& baselines, const std::string& token,
                        support::Paint paint) {
  std::string text = formatted("%.4f", loss) + " nats per " + token + ": like choosing among " +
                     formatted("%.1f", std::exp(loss)) + " " + token + "s";
  text +=
      "\n  " + support::pad_right("guessing blindly", 31) + formatted("%.4f", baselines.uniform);
  for (std::size_t n = 0; n < baselines.counting.size(); ++n) {
    const std::string name = "table of " + std::string(table_names[n]) + " " + token + "s";
    const bool beaten = loss < baselines.counting[n];
    text += "\n  " + support::pad_right(name, 31) + formatted("%.4f", baselines.counting[n]) +
            "  " + (beaten ? paint.good("beaten") : paint.bad("not beaten"));
  }
  return text;
}

}  // namespace fledge::train
