#include "examples/fledge/train/reporter.h"

#include <cstdio>

#include "examples/fledge/attention/attention_report.h"
#include "examples/fledge/train/samples.h"
#include "examples/fledge/train/source.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge::train {

using support::formatted;
using support::printable;
using support::thousands;

namespace {

constexpr int plot_rows = 12;

Json as_json(const Baselines& baselines) {
  static constexpr const char* names[] = {"unigram", "bigram", "trigram", "fourgram"};
  Json::Members members{{"uniform", baselines.uniform}};
  for (std::size_t n = 0; n < baselines.counting.size(); ++n)
    members.emplace_back(names[n], baselines.counting[n]);
  return Json::object(members);
}

}  // namespace

std::string as_json(const Metrics& row) {
  Json::Members members{
      {"type", "step"}, {"step", row.step}, {"loss", static_cast<float>(row.loss)}};
  if (row.validation) members.emplace_back("held_out_loss", static_cast<float>(*row.validation));
  members.emplace_back("lr", static_cast<float>(row.rate));
  members.emplace_back("grad_norm", static_cast<float>(row.gradient_norm));
  return Json::object(members).text();
}

std::string as_json(const PairMeasurement& measured) {
  const auto& [step, words, is_first, control, pair, control_pair] = measured;
  return Json::object({{"type", "watch"},
                       {"step", step},
                       {"word", words.word},
                       {"looks_at", words.looks_at},
                       {"places", pair.pairs},
                       {"attention", pair.attention},
                       {"chance", pair.chance},
                       {"association", pair.association},
                       {"cosine", pair.similarity},
                       {"control", control},
                       {"control_attention", control_pair.attention}})
      .text();
}

Reporter::Reporter(const TrainConfig& config)
    : ProgressDisplay(config.quiet, config.no_progress), config_(&config) {
  set_picture(
      [this](int columns) { return support::plot_text(plot_of(curves_), columns, plot_rows); }, 36);
}

void Reporter::print(const std::string& line) const {
  if (!config_->json) return;
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void Reporter::warn_wrapped(const std::string& line) {
  constexpr int indent = 14;  // "fledge train: "
  warn(support::is_terminal(stderr)
           ? support::wrapped(line, support::terminal_width(stderr), indent)
           : line);
}

void Reporter::event(const std::string& line) const {
  print(line);
  if (keep_) keep_(line);
}

void Reporter::event(Json::Members members, const Json::Members& printed, bool is_kept) const {
  if (keep_ && is_kept) keep_(Json::object(members).text());
  members.insert(members.end(), printed.begin(), printed.end());
  print(Json::object(members).text());
}

void Reporter::reading(const std::string& name) { say("Reading " + name + "."); }

void Reporter::saved_in_folder() {
  const std::string folder = printable(config_->folder());
  say(config_->resumes() ? "The run in " + folder + " is continued."
      : !folder.empty()  ? "This run is saved in " + folder + "."
      : config_->save    ? "Nothing is saved: add -o DIR."
                         : "Nothing is saved (--no-save).");
}

void Reporter::start(const Corpus& corpus, const LanguageModel& model, const Baselines& baselines,
                     std::int64_t step, bool is_first) {
  const TrainConfig& config = *config_;
  if (config.resumes())
    say("Continuing after step " + thousands(step) +
        (config.given.contains("--lr")
             ? formatted(", from here on with --lr %g.", config.training.schedule.rate)
             : "."));
  curves_.guessing = baselines.uniform;
  if (!config.sizes.recipe.sees_later_tokens()) curves_.counting = baselines.counting;
  const LanguageModelSizes& sizes = config.sizes;
  const Json::Members members{{"type", "start"},
                              {"version", 2},
                              {"bytes", corpus.facts.bytes},
                              {"token", to_string(corpus.tokenizer.kind())},
                              {"lines", config.corpus.reading == Reading::lines},
                              {"tokens", corpus.train.size()},
                              {"held_out", corpus.valid.size()},
                              {"vocabulary", sizes.vocabulary},
                              {"layers", sizes.layers},
                              {"heads", sizes.heads},
                              {"width", sizes.width},
                              {"context", sizes.context},
                              {"parameters", count_parameters(model)},
                              {"steps", config.training.schedule.steps},
                              {"batch", config.training.batch},
                              {"lr", config.training.schedule.rate},
                              {"seed", config.training.seed},
                              {"step", step},
                              {"baselines", as_json(baselines)}};
  event(members, {{"texts", names_without_folders(config.texts)}, {"folder", config.folder()}},
        is_first);
}

void Reporter::evaluated(std::int64_t step, double loss, double training, bool is_best) {
  const auto held_out = static_cast<float>(loss);
  curves_.held_out.emplace_back(static_cast<double>(step), loss);
  event({{"type", "eval"},
         {"step", step},
         {"held_out_loss", held_out},
         {"train_loss", static_cast<float>(training)}});
  if (is_best) event({{"type", "best"}, {"step", step}, {"held_out_loss", held_out}});
}

void Reporter::overfitting(std::int64_t step, std::int64_t since) {
  const std::string best = thousands(since);
  say("Overfitting since step " + best +
      ": the training loss falls, the held-out loss rises. The weights of step " + best +
      " are kept.");
  curves_.overfits_since = static_cast<double>(since);
  event({{"type", "overfitting"}, {"step", step}, {"since", since}});
}

void Reporter::watched(const PairMeasurement& measured) {
  const auto& [step, words, is_first, control, pair, control_pair] = measured;
  const std::string name = printable(words.word) + " -> " + printable(words.looks_at);
  const auto percent = [](double share) { return formatted("%.0f %%", 100 * share); };
  if (is_first) pair_ = name + " " + percent(pair.attention);
  const bool has_control = control_pair.pairs > 0;
  const std::string place = "  step " + thousands(step) + ": ";
  const std::string even = percent(pair.chance), second = support::quoted(control);
  const std::string beside = percent(control_pair.attention);
  if (known_.insert(name).second)
    say(place + printable(words.word) + " gives " + printable(words.looks_at) + " " +
            percent(pair.attention) + " of its attention. An even split would give " + even +
            (has_control ? "; the control word " + second + " gets " + beside : "") +
            ". Mean over " + support::counted(pair.pairs, "place") + ".",
        4);
  else
    say(place + name + " " + percent(pair.attention) + " (even split " + even +
            (has_control ? "; " + second + " " + beside : "") + ")",
        4);
  event(as_json(measured));
}

void Reporter::sample(std::int64_t step, const std::string& text) {
  const std::string before = "  step " + thousands(step) + ": ";
  say_lines(before + sample_rows(text, support::text_width(stderr) - support::display_width(before),
                                 0, 1, support::unicode_wanted()));
  event({{"type", "sample"}, {"step", step}, {"text", text}});
}

void Reporter::final_samples(std::int64_t step, const std::vector<std::string>& samples) {
  const bool are_lines = config_->corpus.reading == Reading::lines;
  say_lines("Samples:\n" + final_samples_text(samples, are_lines, support::unicode_wanted()));
  for (const std::string& text : samples)
    event({{"type", "sample"}, {"step", step}, {"is_final", true}, {"text", text}});
}

void Reporter::recorded(const Metrics& row, bool is_logged) {
  curves_.training.emplace_back(static_cast<double>(row.step), row.loss);
  if (is_logged) event(as_json(row));
}

void Reporter::plot() {
  if (curves_.training.size() < 2) return;
  std::string text =
      support::plot_text(plot_of(curves_), support::terminal_width(stderr), plot_rows,
                         support::unicode_wanted(), {support::colour_wanted(stderr)});
  if (!text.empty()) text.pop_back();  // its line end: say_lines() adds one
  say_lines(text);
}

void Reporter::progress(Progress progress) {
  progress.pair = pair_;
  show(progress);
}

void Reporter::sentence(std::int64_t step, const std::string& sentence,
                        const AttentionWeights& attention) {
  support::MapStyle style;
  style.columns = support::terminal_width(stderr);
  style.paint = {support::colour_wanted(stderr)};
  const std::vector<HeadNumber> heads = chosen_heads(attention, {});
  std::string map = attention_report(attention, heads, style);
  map.pop_back();  // its line end: say_lines() adds one
  say("Attention in " + support::quoted(sentence));
  say_lines(map);
  event({{"type", "probe"},
         {"step", step},
         {"sentence", sentence},
         {"attention", as_json(attention, heads)}});
}

void Reporter::end(const std::string& status, std::int64_t step, double train_loss,
                   double last_loss, double best_loss, std::optional<double> bits_per_byte,
                   std::optional<std::int64_t> model_step, const Baselines& baselines) {
  const std::string folder = support::shell_word(config_->folder());
  if (status == "ok" && !config_->folder().empty())
    say_lines("Next: fledge generate " + folder + "\n      fledge eval " + folder + " FILE" +
              (model_step == step ? "\n      " + resume_command(*config_) + " --steps " +
                                        std::to_string(2 * config_->training.schedule.steps)
                                  : ""));
  else if (status == "ok" && config_->texts.empty())
    say("Next: fledge train YOUR_TEXT.txt");
  event({{"type", "end"},
         {"status", status},
         {"step", step},
         {"train_loss", train_loss},
         {"held_out_loss", last_loss},
         {"best_held_out_loss", best_loss},
         {"bits_per_byte", bits_per_byte},
         {"model_step", model_step},
         {"baselines", as_json(baselines)}},
        {{"seconds", elapsed()}});
}

}  // namespace fledge::train
