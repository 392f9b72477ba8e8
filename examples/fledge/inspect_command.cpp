#include <cstdio>

#include "examples/fledge/commands.h"
#include "examples/fledge/inspect/model_facts.h"
#include "examples/fledge/inspect/what_if.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/train/source.h"
#include "examples/support/options.h"
#include "examples/support/table.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "examples/support/token_label.h"
#include "nn/inspect/word_vectors.h"

namespace fledge {

namespace {

using support::formatted, support::thousands;

struct InspectConfig {
  TextForm form = TextForm::text;
  std::string folder, near, what_if, row;
  std::int64_t layer = 0, head = 0;
  bool has_head = false, json = false;
};

InspectConfig inspect_config(int argc, char** argv) {
  InspectConfig config;
  support::Options options("fledge inspect", "What a trained model is made of.");
  options.arguments("DIR", 1, 1);
  options.example("fledge inspect run", "its tensors and heads, and its most similar tokens");
  options.example("fledge inspect run --near birds", "the tokens whose vectors are most alike");
  options.example("fledge inspect run --what-if \"birds sometimes walk\" --row walk=birds:1",
                  "what comes next if walk looks at birds alone");
  options.add("--near", "WORD", config.near, "the eight tokens nearest to this one");
  options.add("--what-if", "TEXT", config.what_if, "the prediction after TEXT with --row");
  options.is_text();
  options.add("--row", "A=B:W,...", config.row,
              "token A looks at B with weight W; the rest is shared by the other tokens as now");
  options.add("--layer", "N", config.layer, "of --row, counted from 0", {0, 1e6});
  options.add("--head", "N", config.head, "of --row, counted from 0; without it: all heads",
              {0, 1e6});
  options.add("--json", "", config.json, "all of it as one JSON object on stdout");
  add_text_form(options, config.form);
  options.threads();
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  options.parse(argc, argv);
  config.folder = options.arguments()[0];
  config.has_head = options.given().contains("--head");
  if (config.what_if.empty() != config.row.empty())
    support::refuse_usage("--what-if and --row belong together",
                          "write --what-if \"birds sometimes walk\" --row walk=birds:1");
  if (!config.near.empty() && !config.what_if.empty())
    support::refuse_usage("--near and --what-if are two questions", "use one of them");
  for (const char* of_row : {"--layer", "--head"})
    if (config.what_if.empty() && options.given().contains(of_row))
      support::refuse_usage(std::string(of_row) + " is for --what-if",
                            "leave it out, or add --what-if and --row");
  return config;
}

int columns() { return support::text_width(stdout); }

/// Tokens with visible blanks.
std::vector<std::string> labels_of(const Tokenizer& tokenizer, bool unicode) {
  std::vector<std::string> labels;
  for (Dim id = 0; id < tokenizer.size(); ++id)
    labels.push_back(support::token_label(tokenizer.decode({id}), unicode));
  return labels;
}

std::string facts_text(const TrainedModel& trained, const ModelFacts& facts) {
  using Align = support::Table::Align;
  const LanguageModelSizes& s = facts.sizes;
  std::string text = support::wrapped(
      support::counted(s.layers, "layer") + ", " + support::counted(s.heads, "head") + ", width " +
          thousands(s.width) + ", context " + thousands(s.context) + "; " +
          thousands(s.vocabulary) + " tokens (" + to_string(trained.tokenizer().kind()) + "); " +
          support::counted(facts.parameters, "parameter"),
      columns());
  if (const std::string variant = train::variant_report(trained.run.settings.sizes.recipe);
      !variant.empty())
    text += "\n" + support::wrapped(variant, columns());
  support::Table tensors({{"tensor", Align::left},
                          {"shape", Align::left},
                          {"parameters", Align::right},
                          {"norm", Align::right},
                          {"largest", Align::right}});
  for (const TensorFacts& tensor : facts.tensors)
    tensors.row({tensor.name, to_string(tensor.shape), thousands(tensor.shape.size()),
                 formatted("%.3g", tensor.norm), formatted("%.3g", tensor.largest)});
  support::Table heads({{"head", Align::left},
                        {"query", Align::right},
                        {"key", Align::right},
                        {"value", Align::right},
                        {"output", Align::right}});
  for (const HeadFacts& head : facts.heads)
    heads.row({std::to_string(head.layer) + "." + std::to_string(head.head),
               formatted("%.3g", head.query), formatted("%.3g", head.key),
               formatted("%.3g", head.value), formatted("%.3g", head.output)});
  const auto paragraph = [](const std::string& line) {
    return support::wrapped(line, columns()) + "\n";
  };
  return text + "\n\n" +
         tensors.text(support::unicode_wanted(), {}, support::terminal_width(stdout)) +
         paragraph("norm: square root of the sum of squares; largest: largest absolute value.") +
         paragraph("The names are GPT-2's: wte token vectors, wpe position vectors, h.0 layer 0.") +
         "\n" + paragraph("Norms of each head's weights (layer.head, both counted from 0):") +
         "\n" + heads.text(support::unicode_wanted(), {}, support::terminal_width(stdout));
}

std::string pair_text(const SimilarTokens& pair, const std::vector<std::string>& labels) {
  return labels[static_cast<std::size_t>(pair.a)] + " " + labels[static_cast<std::size_t>(pair.b)] +
         formatted(" %.2f", pair.cosine);
}

// More tokens are not compared with each other: the time grows with the square of their number, and
// GPT-2's 50,257 take half a minute.
constexpr Dim most_compared = 10'000;

std::string pairs_text(const std::vector<SimilarTokens>& pairs,
                       const std::vector<std::string>& labels) {
  if (pairs.empty() && labels.size() > static_cast<std::size_t>(most_compared))
    return support::wrapped("The most similar tokens are searched among at most " +
                                thousands(most_compared) +
                                ". --near WORD names the nearest to one.",
                            columns()) +
           "\n";
  std::string text = "Most similar tokens (cosine of their vectors): ";
  for (std::size_t i = 0; i < pairs.size(); ++i)
    text += (i > 0 ? ",  " : "") + pair_text(pairs[i], labels);
  return support::wrapped(text, columns(), 2) + "\n";
}

std::string near_text(const std::vector<SimilarTokens>& found,
                      const std::vector<std::string>& labels) {
  using Align = support::Table::Align;
  support::Table table({{"token", Align::left}, {"cosine", Align::right}});
  for (const SimilarTokens& one : found)
    table.row({labels[static_cast<std::size_t>(one.b)], formatted("%.3f", one.cosine)});
  return table.text();
}

Json as_json(const ModelFacts& facts) {
  std::vector<Json> tensors, heads;
  for (const TensorFacts& tensor : facts.tensors) {
    std::vector<Dim> shape;
    for (int axis = 0; axis < tensor.shape.rank(); ++axis) shape.push_back(tensor.shape[axis]);
    tensors.push_back(Json::object({{"name", tensor.name},
                                    {"shape", shape},
                                    {"norm", tensor.norm},
                                    {"largest", tensor.largest}}));
  }
  for (const HeadFacts& head : facts.heads)
    heads.push_back(Json::object({{"layer", head.layer},
                                  {"head", head.head},
                                  {"query", head.query},
                                  {"key", head.key},
                                  {"value", head.value},
                                  {"output", head.output}}));
  return Json::object({{"layers", facts.sizes.layers},
                       {"heads", facts.sizes.heads},
                       {"width", facts.sizes.width},
                       {"context", facts.sizes.context},
                       {"vocabulary", facts.sizes.vocabulary},
                       {"parameters", facts.parameters},
                       {"tensors", tensors},
                       {"head_norms", heads}});
}

Json as_json(const std::vector<SimilarTokens>& pairs, const Tokenizer& tokenizer) {
  std::vector<Json> objects;
  for (const SimilarTokens& pair : pairs)
    objects.push_back(Json::object({{"a_id", pair.a},
                                    {"a", utf8_text(tokenizer.decode({pair.a}))},
                                    {"b_id", pair.b},
                                    {"b", utf8_text(tokenizer.decode({pair.b}))},
                                    {"cosine", pair.cosine}}));
  return objects;
}

std::string inspected(const InspectConfig& config, const TrainedModel& trained) {
  const Tokenizer& tokenizer = trained.tokenizer();
  const bool unicode = support::unicode_wanted();
  if (!config.what_if.empty()) {
    const auto head = config.has_head ? std::optional<Dim>(config.head) : std::nullopt;
    const WhatIf result =
        what_if(trained, config.what_if, parse_row(config.row), config.layer, head);
    return config.json ? as_json(result, trained).text() + "\n"
                       : what_if_text(result, trained, unicode);
  }
  const Array table = trained.model.wte.weight.value();
  const std::vector<std::string> labels = labels_of(tokenizer, unicode);
  if (!config.near.empty()) {
    const std::vector<Dim> ids = train::tokens_of(tokenizer, config.near, "--near");
    if (ids.size() != 1)
      throw support::InputError("--near " + support::quoted(config.near) + " has " +
                                    support::counted(std::ssize(ids), "token"),
                                "name one " + train::token_word(tokenizer.kind()));
    const auto found = nearest_tokens(table, ids[0], 8);
    return config.json ? as_json(found, tokenizer).text() + "\n" : near_text(found, labels);
  }
  const ModelFacts facts = facts_of(trained.model);
  const auto pairs = tokenizer.size() <= most_compared ? most_similar_pairs(table, 12)
                                                       : std::vector<SimilarTokens>();
  if (config.json)
    return Json::object({{"model", as_json(facts)}, {"similar", as_json(pairs, tokenizer)}})
               .text() +
           "\n";
  return facts_text(trained, facts) + "\n" + pairs_text(pairs, labels);
}

}  // namespace

int inspect_command(int argc, char** argv) {
  const InspectConfig config = inspect_config(argc, argv);
  const std::string text = support::with_advice(
      "a model's folder is made by: fledge train FILE -o DIR",
      [&] { return inspected(config, load_trained(config.folder, config.form)); });
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace fledge
