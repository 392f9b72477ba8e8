// The recipe of a language model: what it is made of, as one value. The default is GPT-2; today() is
// what most models of 2026 have in common.
//
// Each part is an enumeration whose first value is none. Of the parts of GPT-2, the second value is
// GPT-2's, and an experiment with none shows what a part is for. Mask, scale, residual and norm
// change the formula. The other parts have weights, and none holds these at values that add nothing,
// mostly 0: set at the beginning, kept by each step of training (HeldParameters). So the formula and
// the files stay as they are. Parts and forms that GPT-2 does not have are listed in each_form().
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "nn/layers/block.h"

namespace fledge {

enum class Masking { none, causal };  // none: each position sees all positions of its window
// none: the position vectors are 0; rotary: there are none, queries and keys are rotated
enum class Position { none, learned, rotary };
enum class ValueMatrix { none, learned };  // none: W_V is the identity matrix, and its bias 0
enum class Heads { none, own_keys };       // none: the output of attention is 0
enum class Sink { none, learned };         // learned: one number a head, beside the scores
enum class OutputHead { tied, own };  // the output projection: the word table, or its own table
enum class Learning { none, full };   // none: a matrix and its bias keep their initial values

struct Recipe {
  Masking mask = Masking::causal;
  Position position = Position::learned;
  Scale scale = Scale::root;
  FeedForward mlp = FeedForward::gelu_tanh;
  ValueMatrix values = ValueMatrix::learned;
  Heads heads = Heads::own_keys;
  Residual residual = Residual::add;
  Norm norm = Norm::layer;
  /// Which of the matrices of attention learn.
  struct Learned {
    Learning q = Learning::full, k = Learning::full, v = Learning::full;

    void each(auto&& f) { f("q", q), f("k", k), f("v", v); }
    bool operator==(const Learned&) const = default;
  };
  Learned learned = {};
  bool tie_qk = false;  // W_Q and W_K are one matrix, and their biases one vector
  // Parts that GPT-2 does not have.
  QueryKeyNorm qk_norm = QueryKeyNorm::none;
  Sink sink = Sink::none;
  Exclusive exclusive = Exclusive::none;
  OutputHead head = OutputHead::tied;
  Dim key_heads = 0;  // heads of keys and values, which divide the heads; 0: as many
  // Each position sees those less than `window` away: with the mask this many, itself the last;
  // without it also those after it. 0: all.
  Dim window = 0;
  double rotary_base = 10000;  // of Position::rotary (ops.h, rotate)

  /// Whether GPT-2's formula computes this model, with some weights.
  bool is_gpt2() const {
    return mask != Masking::none && residual != Residual::none && norm != Norm::none &&
           forms_of(*this).empty();
  }
  /// Whether a position sees later tokens, which it must predict. Only attention looks at others.
  bool sees_later_tokens() const { return mask == Masking::none && heads != Heads::none; }
  /// Calls f(word, part) for each part of GPT-2 that may be none.
  void each(auto&& f) {
    f("mask", mask), f("positions", position), f("scale", scale), f("mlp", mlp);
    f("value", values), f("attention", heads), f("residual", residual), f("norm", norm);
  }
  /// Calls f(part, member, form, word) for each form that GPT-2 does not have.
  static void each_form(auto& recipe, auto&& f) {
    f("positions", recipe.position, Position::rotary, "rotary");
    f("norm", recipe.norm, Norm::rms, "rms");
    f("mlp", recipe.mlp, FeedForward::swiglu, "swiglu");
    f("mlp", recipe.mlp, FeedForward::relu_squared, "relu2");
    f("qk_norm", recipe.qk_norm, QueryKeyNorm::rms, "rms");
    f("sink", recipe.sink, Sink::learned, "learned");
    f("exclusive", recipe.exclusive, Exclusive::own_value, "own_value");
    f("head", recipe.head, OutputHead::own, "own");
  }
  /// What this recipe has and GPT-2 has not, in the order of each_form(): {"norm", "rms"}; at the end
  /// {"key_heads", "2"} and {"window", "16"}.
  friend std::vector<std::pair<std::string, std::string>> forms_of(const Recipe& recipe) {
    std::vector<std::pair<std::string, std::string>> found;
    each_form(recipe, [&](const char* part, auto member, auto form, const char* word) {
      if (member == form) found.emplace_back(part, word);
    });
    if (recipe.key_heads > 0) found.emplace_back("key_heads", std::to_string(recipe.key_heads));
    if (recipe.window > 0) found.emplace_back("window", std::to_string(recipe.window));
    return found;
  }
  bool operator==(const Recipe&) const = default;
};

/// The recipe of Llama (Touvron et al. 2023): rotary positions, RMS norms and SwiGLU. Such models
/// have no biases either (LanguageModelSizes::bias).
inline Recipe llama() {
  return {.position = Position::rotary, .mlp = FeedForward::swiglu, .norm = Norm::rms};
}

/// The recipe of 2026: Llama's, and the norm of queries and keys.
inline Recipe today() {
  Recipe recipe = llama();
  recipe.qk_norm = QueryKeyNorm::rms;
  return recipe;
}

/// The words of the parts of a recipe, or of its Learned, that are none, in the order of each().
template <class List>
std::vector<std::string> words_of_none(List list) {
  std::vector<std::string> words;
  list.each([&]<class Part>(const char* word, const Part& part) {
    if (part == Part::none) words.emplace_back(word);
  });
  return words;
}

struct LanguageModel;

/// Sets the weights of the parts that are none: to 0, or W_V to the identity matrix. If W_Q and W_K
/// are tied, sets W_K to W_Q. Matrices that do not learn stay as they are.
void set_held_values(const LanguageModel& model);

/// The weights of a model that training does not move, as its recipe says.
class HeldParameters {
 public:
  /// Shares the parameters of the model.
  explicit HeldParameters(const LanguageModel& model);

  /// Sets the gradients of held weights to 0. If W_Q and W_K are tied, sets the gradients of both to
  /// their sum: equal weights with equal moments then stay equal.
  void change_gradients() const;
  /// Calls step(). After it, the held weights are what they were before, as weight decay moves
  /// weights without a gradient.
  void keep_during(const std::function<void()>& step) const;

  /// Columns first … first + count − 1 of a parameter (…, n).
  struct Columns {
    Tensor parameter;
    Dim first = 0, count = 0;
  };

 private:
  std::vector<Columns> held_;
  std::vector<Columns> tied_;  // W_Q and its bias; the columns of W_K follow those of W_Q
};

}  // namespace fledge
