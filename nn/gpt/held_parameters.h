// Held parameters: numbers of a model that training does not move, as its Variant says.
//
// Key idea: a part whose last weights are held at 0 adds nothing, so the formula stays GPT-2's, and
// so do the files. No held value is stored outside the model: a step keeps what it finds.
#pragma once

#include <functional>
#include <vector>

#include "nn/gpt/language_model.h"

namespace fledge {

/// Sets what a new model is without: to 0, or W_V to the identity matrix. If W_Q and W_K are tied,
/// sets W_K to W_Q. Frozen weights stay as they are.
void set_held_values(const LanguageModel& model);

class HeldParameters {
 public:
  /// Shares the parameters of the model.
  explicit HeldParameters(const LanguageModel& model);

  /// Sets the gradients of held numbers to 0. If W_Q and W_K are tied, sets the gradients of both to
  /// their sum: equal weights with equal moments then stay equal.
  void change_gradients() const;
  /// Calls step(). After it, the held numbers are what they were before, as weight decay moves
  /// numbers without a gradient.
  void keep_during(const std::function<void()>& step) const;

  /// Runs of numbers of a parameter: run r of `count` has `length` numbers from r·step + first on.
  struct Runs {
    Tensor parameter;
    Dim count = 0, step = 0, first = 0, length = 0;
  };

 private:
  std::vector<Runs> held_;
  std::vector<Runs> tied_;  // W_Q and its bias; each run of W_K is right behind its run of W_Q
};

}  // namespace fledge
