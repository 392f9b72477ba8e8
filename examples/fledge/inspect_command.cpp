#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/fledge/commands.h"
#include "examples/fledge/inspect/what_if.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/train/source.h"
#include "examples/support/options.h"
#include "examples/support/table.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/inspect/word_vectors.h"

namespace fledge {

namespace {

using support::paragraph, support::thousands;

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

/// √Σw² of the rows and columns of a matrix.
double norm_of_part(const Array& matrix, Dim first_row, Dim rows, Dim first_column, Dim columns) {
  double sum = 0;
  for (Dim row = first_row; row < first_row + rows; ++row)
    for (Dim column = first_column; column < first_column + columns; ++column) {
      const double w = value_of(matrix[row * matrix.dim(1) + column]);
      sum += w * w;
    }
  return std::sqrt(sum);
}

/// The tensors: norm √Σw² and largest |w|.
support::Rows tensors_of(const LanguageModel& model) {
  support::Rows rows({{"name", "tensor"},
                      {"shape", "shape"},
                      {"", "parameters"},
                      {"norm", "norm"},
                      {"largest", "largest"}});
  for (const auto& [name, tensor] : named_parameters(model)) {
    double squares = 0, largest = 0;
    for (const double w : to_vector(tensor.value())) {
      squares += w * w;
      largest = std::max(largest, std::abs(w));
    }
    const Shape& shape = tensor.shape();
    std::vector<Dim> sides;
    for (int axis = 0; axis < shape.rank(); ++axis) sides.push_back(shape[axis]);
    rows.add({{name, name}, {sides, to_string(shape)}, shape.size(), std::sqrt(squares), largest});
  }
  return rows;
}

/// The parts of each head's weights as norms √Σw²: columns of c_attn, and rows of c_proj.
support::Rows heads_of(const LanguageModel& model) {
  support::Rows rows({{"", "head"},
                      {"layer"},
                      {"head"},
                      {"query", "query"},
                      {"key", "key"},
                      {"value", "value"},
                      {"output", "output"}});
  const Dim C = model.sizes.width, H = model.sizes.heads, D = C / H;
  for (Dim layer = 0; layer < model.sizes.layers; ++layer) {
    const Attention& attn = model.h[static_cast<std::size_t>(layer)].attn;
    const Array qkv = attn.c_attn.weight.value(), output = attn.c_proj.weight.value();
    for (Dim head = 0; head < H; ++head) {
      const std::string name = std::to_string(layer) + "." + std::to_string(head);
      rows.add({{name, name},
                layer,
                head,
                norm_of_part(qkv, 0, C, head * D, D),
                norm_of_part(qkv, 0, C, C + head * D, D),
                norm_of_part(qkv, 0, C, 2 * C + head * D, D),
                norm_of_part(output, head * D, D, 0, C)});
    }
  }
  return rows;
}

/// Pairs of tokens whose vectors are alike. A terminal shows the second one: of --near.
support::Rows similar_rows(const std::vector<SimilarTokens>& pairs, const Tokenizer& tokenizer) {
  support::Rows rows({{"a_id"}, {"a"}, {"b_id"}, {"b", "token"}, {"cosine", "cosine"}});
  for (const auto& [a, b, cosine] : pairs)
    rows.add({a, tokenizer.decode({a}), b, tokenizer.decode({b}), {cosine, "%.3f"}});
  return rows;
}

// More tokens are not compared with each other: the time grows with the square of their number, and
// GPT-2's 50,257 take half a minute.
constexpr Dim most_compared = 10'000;

std::string pairs_text(const std::vector<SimilarTokens>& pairs, const Tokenizer& tokenizer) {
  if (pairs.empty() && tokenizer.size() > most_compared)
    return paragraph("The most similar tokens are searched among at most " +
                     thousands(most_compared) + ". --near WORD names the nearest to one.");
  const auto label = [&](Dim token) { return support::token_label(tokenizer.decode({token})); };
  std::string text = "Most similar tokens (cosine of their vectors): ";
  for (std::size_t i = 0; i < pairs.size(); ++i)
    text += (i > 0 ? ",  " : "") + label(pairs[i].a) + " " + label(pairs[i].b) +
            support::formatted(" %.2f", pairs[i].cosine);
  return support::wrapped(text, support::text_width(stdout), 2) + "\n";
}

std::string facts_text(const TrainedModel& trained) {
  const LanguageModelSizes& s = trained.model.sizes;
  const std::string variant = train::variant_report(trained.run.settings.sizes.recipe);
  const int room = support::terminal_width(stdout);
  return paragraph(support::counted(s.layers, "layer") + ", " + support::counted(s.heads, "head") +
                   ", width " + thousands(s.width) + ", context " + thousands(s.context) + "; " +
                   thousands(s.vocabulary) + " tokens (" + to_string(trained.tokenizer().kind()) +
                   "); " + support::counted(count_parameters(trained.model), "parameter")) +
         (variant.empty() ? "" : paragraph(variant)) + "\n" + tensors_of(trained.model).text(room) +
         paragraph("norm: square root of the sum of squares; largest: largest absolute value.") +
         paragraph("The names are GPT-2's: wte token vectors, wpe position vectors, h.0 layer 0.") +
         "\n" + paragraph("Norms of each head's weights (layer.head, both counted from 0):") +
         "\n" + heads_of(trained.model).text(room);
}

Json facts_json(const LanguageModel& model) {
  const LanguageModelSizes& s = model.sizes;
  return Json::object({{"layers", s.layers},
                       {"heads", s.heads},
                       {"width", s.width},
                       {"context", s.context},
                       {"vocabulary", s.vocabulary},
                       {"parameters", count_parameters(model)},
                       {"tensors", tensors_of(model).json()},
                       {"head_norms", heads_of(model).json()}});
}

std::string inspected(const InspectConfig& config, const TrainedModel& trained) {
  const Tokenizer& tokenizer = trained.tokenizer();
  const auto shown = [&](const Json& json, const auto& text) {
    return config.json ? json.text() + "\n" : text();
  };
  if (!config.what_if.empty()) {
    const auto head = config.has_head ? std::optional<Dim>(config.head) : std::nullopt;
    const WhatIf result =
        what_if(trained, config.what_if, parse_row(config.row), config.layer, head);
    return shown(as_json(result, trained), [&] { return what_if_text(result, trained); });
  }
  const Array table = trained.model.wte.weight.value();
  if (!config.near.empty()) {
    const std::vector<Dim> ids = train::tokens_of(tokenizer, config.near, "--near");
    if (ids.size() != 1)
      throw support::InputError("--near " + support::quoted(config.near) + " has " +
                                    support::counted(std::ssize(ids), "token"),
                                "name one " + train::token_word(tokenizer.kind()));
    const support::Rows found = similar_rows(nearest_tokens(table, ids[0], 8), tokenizer);
    return shown(found.json(), [&] { return found.text(support::terminal_width(stdout)); });
  }
  const auto pairs = tokenizer.size() <= most_compared ? most_similar_pairs(table, 12)
                                                       : std::vector<SimilarTokens>();
  if (!config.json) return facts_text(trained) + "\n" + pairs_text(pairs, tokenizer);
  return Json::object({{"model", facts_json(trained.model)},
                       {"similar", similar_rows(pairs, tokenizer).json()}})
             .text() +
         "\n";
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
