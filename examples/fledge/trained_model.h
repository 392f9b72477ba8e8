// A trained model, read from its folder by `generate` and `eval`.
#pragma once

#include <string>

#include "examples/fledge/train/run_folder.h"
#include "nn/gpt/language_model.h"

namespace fledge {

struct TrainedModel {
  LanguageModel model;
  train::RunConfig run;
  bool lines = false;     // trained on lines, each read from its beginning
  std::int64_t step = 0;  // of its weights; 0 if model.safetensors does not say it

  const Tokenizer& tokenizer() const { return run.tokenizer; }
  /// The token in front of a text's first token: the line end, or token 0 if there is no line end.
  Dim first_token() const;
  /// The held-out part of the text that it was trained on, read again. Throws InputError when the
  /// text is not there, has changed, or nothing of it was held out.
  TokenText held_out() const;
};

/// Throws FileError or InputError, which name the file of the folder and its fault.
TrainedModel load_trained(const std::string& folder);

/// For a model whose scores are infinite or NaN. Reads these tokens to find the first op with such
/// a number. Throws InputError that names the file, this op, its parameters and the largest weight.
[[noreturn]] void refuse_numbers(const std::string& folder, const LanguageModel& model,
                                 std::vector<Dim> ids);

}  // namespace fledge
