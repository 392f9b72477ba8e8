// The data of a page: a text, the settings of a run and, if the run was recorded, its losses and
// its weights at some steps. The engine in the page computes everything else in front of the
// reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nn/gpt/language_model.h"
#include "nn/io/json.h"

namespace fledge::page {

/// What the first screen asks, and the sentence that it shows. `pairs`: words that a button
/// exchanges. `told` is for readers without JavaScript. `goes_on`: its line is longer.
struct Story {
  std::string title, lede, sentence, told;
  std::vector<std::vector<std::string>> pairs;
  bool goes_on = false;
};

/// The trained model at the last word of a sentence: the attention weights of the first head of the
/// first layer, one for each word, and the likeliest next word. Readers without JavaScript see it.
struct Look {
  std::vector<std::string> words;
  std::vector<double> weights;
  std::string next;
  double probability = 0;
};

/// bf16 of all weights after a step, in the order of named_parameters(), as base64. The model that
/// is kept has none: its weights are in Page::run.
struct Kept {
  std::int64_t step = 0;
  std::string bf16;
};

using Curve = std::vector<std::vector<double>>;  // {step, loss}

struct Page {
  std::string title, text;  // what is not UTF-8 is {"base64": …} in page_json()
  Json settings;            // settings_json() of engine/settings.h
  Story story;
  Look look;
  std::vector<std::string> book;  // the lessons of the course in their order, each a JSON text
  // Of a recorded run. Without one the page trains from step 0.
  std::string run;  // the bytes of a run.safetensors with the kept weights
  Json baselines;
  Curve losses, held_out;
  std::vector<Kept> kept;  // by step
  std::vector<std::string> notices;
};

/// A page holds no larger model.
inline constexpr Dim most_parameters = 16'000'000;
/// What the script of page_file() reads.
Json page_json(const Page& page);

/// How many earlier steps of a model fit into a page beside the kept one: together they take at
/// most 8 MB of the file. At most 60.
std::size_t most_earlier(Dim parameters);
/// The steps whose weights a run records: most_earlier() of them, with step 0 and the last one.
/// More are at the beginning, where more happens.
std::vector<std::int64_t> recorded_steps(std::int64_t steps, Dim parameters);
/// An event of a run's log: {"type":"snapshot","step":…,"bf16":"…"}.
Json::Members snapshot_event(const LanguageModel& model, std::int64_t step);
/// Adds what these lines of a log record: losses, baselines and earlier weights. Throws FormatError,
/// which names the line, for an event that fledge does not write.
void read_events(const std::vector<std::string>& lines, Dim parameters, Page& page);
/// Puts the kept model among the earlier steps. Of a run that went on for longer, more steps are
/// recorded than fit: some of them go.
void add_kept(std::int64_t step, Dim parameters, Page& page);

}  // namespace fledge::page
