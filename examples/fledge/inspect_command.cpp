// fledge inspect: the tensors, heads and most similar tokens of a model.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/fledge/commands.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/options.h"
#include "examples/support/table.h"
#include "nn/inspect/word_vectors.h"

namespace fledge {

namespace {

using support::paragraph, support::thousands;

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
    const Dim values = C + attn.key_width();  // where their columns begin
    for (Dim head = 0; head < H; ++head) {
      const std::string name = std::to_string(layer) + "." + std::to_string(head);
      const Dim own = head * attn.heads.keys / H * D;  // its columns of keys, and of values
      rows.add({{name, name},
                layer,
                head,
                norm_of_part(qkv, 0, C, head * D, D),
                norm_of_part(qkv, 0, C, C + own, D),
                norm_of_part(qkv, 0, C, values + own, D),
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
  const std::string variant = train::variant_report(trained.run.settings.sizes);
  const int room = support::terminal_width(stdout);
  return paragraph(support::counted(s.layers, "layer") + ", " + support::counted(s.heads, "head") +
                   ", width " + thousands(s.width) + ", context " + thousands(s.context) + "; " +
                   thousands(s.vocabulary) + " tokens (" + to_string(trained.tokenizer().kind()) +
                   "); " + support::counted(count_parameters(trained.model), "parameter")) +
         (variant.empty() ? "" : paragraph(variant)) + "\n" + tensors_of(trained.model).text(room) +
         paragraph("norm: square root of the sum of squares; largest: largest absolute value.") +
         paragraph(
             "The names are GPT-2's: wte token vectors, " +
             std::string(s.recipe.position == Position::rotary ? "" : "wpe position vectors, ") +
             "h.0 layer 0, ln a norm, c_attn queries, keys and values, c_proj the way back "
             "to the width, c_fc the MLP's first matrix.") +
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

/// The tokens nearest to a word.
support::Rows near_rows(const TrainedModel& trained, const std::string& word) {
  const Tokenizer& tokenizer = trained.tokenizer();
  const std::vector<Dim> ids = train::tokens_of(tokenizer, word, "--near");
  if (ids.size() != 1)
    throw support::InputError(
        "--near " + support::quoted(word) + " has " + support::counted(std::ssize(ids), "token"),
        "name one " + train::token_word(tokenizer.kind()));
  return similar_rows(nearest_tokens(trained.model.wte.weight.value(), ids[0], 8), tokenizer);
}

}  // namespace

int inspect_command(int argc, char** argv) {
  TextForm form = TextForm::text;
  std::string near;
  bool json = false;
  support::Options options("fledge inspect", "What a trained model is made of.");
  options.arguments("DIR", 1, 1);
  options.example("fledge inspect run", "its tensors and heads, and its most similar tokens");
  options.example("fledge inspect run --near birds", "the tokens whose vectors are most alike");
  options.add("--near", "WORD", near, "the eight tokens nearest to this one");
  options.add("--json", "", json, "all of it as one JSON object on stdout");
  add_text_form(options, form);
  options.threads();
  options.parse(argc, argv);

  const TrainedModel trained = load_trained(options.arguments()[0], form);
  const Tokenizer& tokenizer = trained.tokenizer();
  std::string text;
  if (!near.empty()) {
    const support::Rows found = near_rows(trained, near);
    text = json ? found.json().text() + "\n" : found.text(support::terminal_width(stdout));
  } else {
    const auto pairs = tokenizer.size() <= most_compared
                           ? most_similar_pairs(trained.model.wte.weight.value(), 12)
                           : std::vector<SimilarTokens>();
    const Json all = Json::object(
        {{"model", facts_json(trained.model)}, {"similar", similar_rows(pairs, tokenizer).json()}});
    text = json ? all.text() + "\n" : facts_text(trained) + "\n" + pairs_text(pairs, tokenizer);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace fledge
