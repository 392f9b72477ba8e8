// One sentence as a model reads it, step by step, with the changes that a page makes to attention.
#pragma once

#include <vector>

#include "nn/gpt/language_model.h"
#include "nn/io/json.h"

namespace fledge {

struct HeadOfLayer {
  Dim layer, head;
};

/// What a page changes in the attention of a sentence of T tokens. All numbers exist.
struct Changes {
  struct Row {
    HeadOfLayer at;
    Dim query;
    std::vector<double> weights;  // T
  };
  struct Nudge {
    HeadOfLayer at;
    Dim query, key;
    double by;
  };
  std::vector<Dim> hidden;       // positions that only themselves see
  std::vector<Row> rows;         // attention weights in place of the computed ones
  std::vector<HeadOfLayer> off;  // heads whose output is 0
  std::vector<Nudge> nudges;     // added to scores

  bool empty() const { return hidden.empty() && rows.empty() && off.empty() && nudges.empty(); }
};

/// What the model computes of a sentence.        x (1, T, C)   of heads (1, H, T, D) or (1, H, T, T)
struct View {
  struct Layer {
    Tensor input, between, output;           // x before attention, behind it, behind the MLP
    Tensor q, k, v, scores, weights, mixed;  // of heads
  };
  std::vector<Layer> layers;
  Tensor output;  // x of the last layer
};

/// attention as attend() computes it, but for the changes.
View look(const LanguageModel& model, const std::vector<Dim>& sentence, const Changes& changes);

/// The mean loss over the positions that have a next token; `next` is that of the last, −1: none.
Tensor sentence_loss(const LanguageModel& model, const View& view, const std::vector<Dim>& sentence,
                     Dim next);

/// The numbers of a cell, as interface.h says (fledge_cell).
Json cell_json(const LanguageModel& model, const View& view, Dim layer, Dim head, Dim query,
               Dim key);

}  // namespace fledge
