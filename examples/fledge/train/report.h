// The messages before the first and after the last step of a run.
//
// Key idea: a loss alone means little, so it is shown beside the losses of guessing and of n-gram
// models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examples/support/terminal.h"
#include "nn/gpt/language_model.h"
#include "nn/text/corpus.h"

namespace fledge::train {

/// Losses of uniform guessing and of n-gram models, on the held-out text (on the training text
/// when nothing is held out), in nats per token.
struct Baselines {
  double uniform = 0;            // ln V
  std::vector<double> counting;  // 1- to 4-grams
};
Baselines baselines_of(const Corpus& corpus);

/// The sizes of the text, how much of it is held out, and what the split leaks.
std::string text_report(const std::string& path, const Corpus& corpus);

/// The parameters by tensor. The same tensor of all layers is shown on one line (h.*).
std::string model_report(const LanguageModel& model);

/// "guessing blindly would score ln 65 = 4.174; counting tables …"
std::string baseline_report(const Baselines& baselines, const std::string& token);

/// A sentence about the loss, and the losses of the n-gram models beside it.
std::string loss_report(double loss, const Baselines& baselines, const std::string& token,
                        support::Paint paint);

/// The word for a token of this kind: "character".
std::string token_word(Tokens kind);

}  // namespace fledge::train
