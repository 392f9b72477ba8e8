// A variant of a model: which parts it is without, and which weights do not learn. An experiment
// with it shows what each part is for.
//
// Not here: what holds the numbers of such a part (nn/gpt/held_parameters.h).
#pragma once

#include <string>
#include <vector>

namespace fledge {

/// The parts that a model is without. None: GPT-2.
struct Without {
  bool mask = false;       // each position sees all positions of its window
  bool positions = false;  // the position vectors are 0
  bool scale = false;      // the scores are not divided by √D
  bool mlp = false;        // the output of each MLP is 0
  bool value = false;      // W_V is the identity matrix: the values are the normalised vectors
  bool attention = false;  // the output of each attention is 0
  bool residual = false;   // attention and MLP replace x: their outputs are not added to it
  bool norm = false;       // each layer norm returns x

  /// Whether GPT-2's formula cannot compute this model, with any weights.
  bool is_other_formula() const { return mask || residual || norm; }
  /// Whether a position sees later tokens, which it must predict. Only attention looks at others.
  bool sees_later_tokens() const { return mask && !attention; }
  void each(auto&& f) {
    f("mask", mask), f("positions", positions), f("scale", scale), f("mlp", mlp);
    f("value", value), f("attention", attention), f("residual", residual), f("norm", norm);
  }
};

/// The matrices of attention, and their biases, that keep their initial values.
struct Frozen {
  bool q = false, k = false, v = false;

  void each(auto&& f) { f("q", q), f("k", k), f("v", v); }
};

struct Variant {
  Without without = {};
  Frozen freeze = {};
  bool tie_qk = false;  // W_Q and W_K are one matrix, and their biases one vector
};

/// The words of what is true in a Without or a Frozen, in the order of each().
template <class List>
std::vector<std::string> words_of(List list) {
  std::vector<std::string> words;
  list.each([&](const char* word, bool is_listed) {
    if (is_listed) words.emplace_back(word);
  });
  return words;
}

}  // namespace fledge
