// A trained model as `generate` and `eval` find it in its folder.
#pragma once

#include <string>

#include "examples/fledge/train/run_folder.h"
#include "nn/gpt/language_model.h"

namespace fledge {

struct TrainedModel {
  LanguageModel model;
  train::RunConfig run;
  bool lines = false;  // it was trained on lines, each from its beginning

  const Tokenizer& tokenizer() const { return run.tokenizer; }
  /// What stands before the first token: the line end, or the first symbol where there is none.
  Dim first_token() const { return tokenizer().find("\n").value_or(0); }
  /// The held-out part of the text that it was trained on, read again. Throws InputError when the
  /// text is not there, has changed, or nothing of it was held out.
  TokenText held_out() const;
};

/// Throws FileError or InputError, which say what is wrong with which file of the folder.
TrainedModel load_trained(const std::string& folder);

/// For a model whose scores are infinite or NaN: throws InputError with the file, the op that gives the
/// first such number when these tokens are read, the parameter in it, and the largest weight.
[[noreturn]] void refuse_numbers(const std::string& folder, const LanguageModel& model,
                                 std::vector<Dim> ids);

}  // namespace fledge
