#include "examples/fledge/train/reporter.h"

#include "examples/support/formatted.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"

namespace fledge::train {

using support::formatted;
using support::printable;

void ScreenReporter::report(const RunStarted& event) {
  const TrainConfig& config = event.config;
  if (config.pace > 0 && config.text_path.empty())
    display_.say("at most " + std::to_string(config.pace) +
                 " steps a second, to be watched; --pace 0: as fast as it goes");
  if (config.resumes())
    display_.say("going on after step " + thousands(event.step) +
                 (config.given.contains("--lr")
                      ? formatted(", from here on with --lr %g", config.training.schedule.rate)
                      : ""));
  else if (config.folder().empty())
    display_.say("nothing is kept: -o DIR keeps the model");
}

void ScreenReporter::report(const PairWatched& event) {
  const WatchedPair& seen = event.seen;
  const std::string name = printable(event.words.word) + "->" + printable(event.words.looks_at);
  if (event.is_first) pair_ = name + formatted(" %.2f", seen.attention);
  display_.say("  step " + std::to_string(event.step) + ": " + name +
               formatted(" attention %.3f (chance %.3f), association %.3f, cosine %.3f; control ",
                         seen.attention, seen.chance, seen.association, seen.similarity) +
               support::quoted(event.control) +
               formatted(" attention %.3f", event.beside.attention));
}

void ScreenReporter::report(const SampleDrawn& event) {
  display_.say("  step " + std::to_string(event.step) + ": " +
               support::cut(printable(event.text), 68));
}

void ScreenReporter::report(const Progress& event) {
  Progress progress = event;
  progress.pair = pair_;
  display_.show(progress);
}

void ScreenReporter::report(const SentenceProbed& event) {
  support::MapStyle style;
  style.columns = support::terminal_width(stderr);
  style.paint = {support::colour_wanted(stderr)};
  std::string map = attention_report(event.looked, event.tokenizer, style);
  map.pop_back();  // its line end: the display adds one
  display_.say("attention in " + support::quoted(event.sentence) + "\n" + map);
}

void ScreenReporter::report(const RunEnded& event) {
  const TrainConfig& config = event.config;
  if (event.status != RunEnded::Status::done) return;
  if (!config.folder().empty()) {
    const std::string folder = support::shell_word(config.folder());
    display_.say("kept in " + printable(config.folder()) +
                 ": model.safetensors, config.json, state.safetensors, metrics.csv");
    display_.say("next: fledge generate " + folder + "   fledge eval " + folder +
                 "   fledge train --resume " + folder + " --steps " +
                 std::to_string(2 * config.training.schedule.steps));
  } else if (config.text_path.empty()) {
    display_.say("next: fledge train poems.txt -o run   fledge generate run   fledge gradcheck");
  }
}

}  // namespace fledge::train
