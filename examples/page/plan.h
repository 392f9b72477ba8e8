// What the snapshots of a run follow: sentences, prompts, watched pairs and words; and at which steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nn/io/json.h"
#include "nn/text/corpus.h"

namespace fledge::page {

/// What the snapshots of a run follow.
struct Plan {
  struct Sentence {
    std::vector<Dim> ids;     // 1 … context tokens, as the model reads them
    std::optional<Dim> next;  // the token that follows in the text
  };
  struct Pair {
    std::string word, looks_at, control;
    Dim word_token = 0, looks_at_token = 0, control_token = 0;
  };
  static constexpr Dim most_tokens = 64;  // of a sentence
  std::vector<Sentence> sentences;
  std::vector<std::vector<Dim>> prompts;  // each is continued greedily
  Dim continued = 12;                     // by so many tokens
  std::optional<Dim> end;                 // a continuation ends with this token: the line end
  std::vector<Pair> watch;
  std::vector<Dim> map;  // tokens whose vectors are on the map, at most 40
};

/// What follows each token of the sentence; no_target (nn/text/batches.h) where nothing is known.
std::vector<Dim> targets_of(const Plan::Sentence& sentence);

/// Sentences and prompts from the beginning, the middle and the end of the text: of lines whole
/// documents, of a stream windows of at most 24 tokens, which begin after a line end if one is near.
/// The prompts are the first halves of the sentences. The map has the most frequent tokens.
Plan default_plan(const Corpus& corpus, Dim context);

/// {"type":"page",…}: the plan, an event before the first snapshot.
Json::Members plan_event(const Plan& plan);
/// Throws FormatError for an event that plan_event() does not write.
Plan read_plan(const JsonValue& event, Dim vocabulary, Dim context);

/// Which steps have a snapshot: 0, 1, 2, 5, 10, 20, 50, … and the last step are full; 24 more are
/// evenly spaced.
struct SnapshotSteps {
  std::int64_t steps = 0;
  bool is_full(std::int64_t step) const;
  bool has(std::int64_t step) const;
};

}  // namespace fledge::page
