// --what-if: the prediction after a text, as it is and with one row of attention set by hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examples/fledge/trained_model.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/ablation.h"
#include "nn/io/json.h"

namespace fledge {

/// A row as the user gives it: "walk=birds:0.8,sometimes:0.2".
struct RowRequest {
  struct Key {
    std::string word;
    double weight;
  };
  std::string query;
  std::vector<Key> keys;
};
/// Throws UsageError for another form, and for weights that are negative or sum to more than 1.
RowRequest parse_row(const std::string& text);

struct WhatIf {
  std::vector<Dim> ids;             // the text
  std::vector<std::string> tokens;  // the texts of the ids
  ForcedRow row;
  std::vector<double> own;            // the row as it is; the mean of the heads, if it is of all
  std::vector<Choice> before, after;  // probabilities of every token after the text
};

/// A word is a token's text, or the label that shows its blanks ("⏎", "␣"; in ASCII "\\n", "_").
/// Words stand for their last place in the text: the query for its last, a key for its last up to
/// the query. The weight that the request leaves is given to the other keys, in proportion to the
/// model's own weights. Throws InputError for a text that is too long or a word that is not in it.
WhatIf what_if(const TrainedModel& trained, const std::string& text, const RowRequest& request,
               Dim layer, std::optional<Dim> head);

/// The row, and the tokens that are most likely before or after the change. Lines of at most 80
/// columns.
std::string what_if_text(const WhatIf& result, const TrainedModel& trained);
Json as_json(const WhatIf& result, const TrainedModel& trained);

}  // namespace fledge
