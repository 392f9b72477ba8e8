// The data of a page: from the events of a run, as its log has them, and its model.
//
// Not here: the file around the data (page_file.h). Key idea: everything that a page shows is an
// event of the run, or is computed here from the model that the run keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "examples/page/plan.h"
#include "nn/gpt/language_model.h"

namespace fledge::page {

/// f(), which reads an event. Its FormatError names the event, such as "line 12", instead of the first
/// line of the event's own text.
template <class F>
auto naming_event(const std::string& event, F f) {
  constexpr std::string_view first = "line 1,";
  try {
    return f();
  } catch (const FormatError& error) {
    const std::string what = error.what();
    throw FormatError(event +
                      (what.starts_with(first) ? what.substr(first.size() - 1) : ": " + what));
  }
}

struct Run {
  std::string title, command;  // the name of the text; the command that made the page
  std::string sentence;        // what the run was, in words
  std::uint64_t seed = 0;
  std::int64_t steps = 0;
  std::int64_t kept_step = 0;       // the step of `model`
  std::optional<double> floor;      // the lowest loss that any model can have on the text
  std::vector<std::string> events;  // lines: "start", "step", "eval", "page", "snapshot"
  const LanguageModel* model = nullptr;
  const Tokenizer* tokenizer = nullptr;
  const TokenText* text = nullptr;   // of the watched pairs; none: the pairs are not measured
  Plan plan;                         // used where the events have none
  std::vector<std::string> notices;  // what the page says about itself
};

/// The most bytes of the data. Above it, parts are left out in this order, and the page says so:
/// vectors of all sentences but the first, evenly spaced snapshots, vectors except the last, the
/// weights, sentences except the first.
inline constexpr std::size_t soft_limit = 2'000'000;

/// "A model of 3,680 numbers took 500 small steps."
std::string run_in_words(const LanguageModel& model, std::int64_t steps);

struct Thinned {
  Json data;
  std::vector<std::string> notices;  // what was left out, in sentences
};
/// Tokens have 16 bits on a page. Throws InputError for a larger vocabulary.
void require_vocabulary(Dim size);

/// The object RUN of a page. Throws FormatError, which names the line, for events that fledge does not
/// write.
Thinned run_data(const Run& run, std::size_t most_bytes = soft_limit);

}  // namespace fledge::page
