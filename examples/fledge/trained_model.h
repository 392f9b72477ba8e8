// A trained model, read from its folder: of fledge train, or in the layout of Hugging Face's libraries.
#pragma once

#include <string>

#include "examples/fledge/train/store.h"
#include "examples/support/options.h"
#include "nn/gpt/language_model.h"

namespace fledge {

/// How texts become tokens.
enum class TextForm {
  text,        // with the tokenizer of the folder
  token_ids,   // a text is token numbers with blanks between: "15 7"
  text_if_run  // token_ids unless fledge train made the folder: its tokenizer may be missing
};

inline constexpr const char* config_name = "config.json";

struct TrainedModel {
  LanguageModel model;
  train::RunConfig run;
  std::int64_t step = 0;  // of its weights; 0 if the file does not say it
  std::string file;       // the path of the file with the weights
  TextForm form = TextForm::text;

  const Tokenizer& tokenizer() const { return run.tokenizer; }
  /// Whether it was trained on lines, each read from its beginning.
  bool lines() const { return run.settings.corpus.reading == Reading::lines; }
  /// The token in front of a text's first token (source.h).
  Dim first_token() const;
  /// The text of a file or, "-", of standard input, read as that of the run: without byte order mark
  /// and perhaps without \r, which stderr then says. Throws InputError.
  std::string file_text(const std::string& path) const;
  /// Whether a text that the model writes ends with this token: with one of those that its folder
  /// names as ends (Tokenizer::ends_text), and with the line end if it was trained on lines.
  bool ends_text(Dim token) const {
    return tokenizer().ends_text(token) || (lines() && token == first_token());
  }
  /// The tokens of the model's vocabulary that have no text: they are never drawn.
  std::vector<Dim> without_text() const { return tokenizer().without_text(model.sizes.vocabulary); }
  /// The text as the tokenizer reads it. Throws InputError, which calls the text `name`, for a word
  /// that is no token number where texts are token numbers.
  std::string readable(std::string text, const std::string& name) const;
  /// Whether the folder has the settings of a run of fledge train. Otherwise `run` has only sizes and
  /// a tokenizer.
  bool has_run() const { return run.text_bytes > 0; }
};

/// Adds --tokens-in to the table of a command.
void add_text_form(support::Options& options, TextForm& form);

/// Reads the folder: the kept model of run.safetensors, or config.json and model.safetensors. Prints a
/// warning about keys of config.json that are not known, and about a tokenizer with more tokens than
/// the model. Throws InputError, which names the file of the folder, its fault and the advice.
TrainedModel load_trained(
    const std::string& folder, TextForm form = TextForm::text,
    const std::string& advice = "a model's folder is made by: fledge train FILE -o DIR");

/// For a model whose scores are infinite or NaN. Reads these tokens to find the first op with such
/// a number. Throws InputError that names the file, this op, its parameters and the largest weight.
[[noreturn]] void refuse_numbers(const TrainedModel& trained, std::vector<Dim> ids);

}  // namespace fledge
