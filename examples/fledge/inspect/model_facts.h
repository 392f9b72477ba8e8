// What a model is made of: its tensors with their sizes and norms, and its heads.
#pragma once

#include <string>
#include <vector>

#include "nn/gpt/language_model.h"

namespace fledge {

struct TensorFacts {
  std::string name;
  Shape shape;
  double norm = 0;     // √Σw²
  double largest = 0;  // largest |w|
};

/// The parts of a head's weights; norms are √Σw².
struct HeadFacts {
  Dim layer = 0, head = 0;
  double query = 0, key = 0, value = 0, output = 0;  // columns of c_attn; rows of c_proj
};

struct ModelFacts {
  LanguageModelSizes sizes;
  Dim parameters = 0;
  std::vector<TensorFacts> tensors;
  std::vector<HeadFacts> heads;
};

ModelFacts facts_of(const LanguageModel& model);

}  // namespace fledge
