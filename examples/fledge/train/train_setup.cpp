// How a run begins: its text, model and folder, and what is reported before the first step.
#include <algorithm>
#include <cctype>

#include "examples/fledge/step_cost.h"
#include "examples/fledge/train/defaults.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/train/text_files.h"
#include "examples/fledge/train/train_run.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/peak_memory.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/io/checksum.h"

namespace fledge::train {

using support::thousands;

namespace {

void require_memory(const TrainConfig& config) {
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const LanguageModelSizes& s = config.sizes;
  const double bytes = 4 * numbers_of_step(number(s.layers), number(s.width), number(s.context),
                                           number(config.training.batch), number(s.vocabulary));
  if (bytes <= machine_memory()) return;
  throw support::CommandError(
      support::Exit::failed,
      support::formatted("a step needs about %.0f MB of memory, this machine has %.0f MB",
                         bytes / 1e6, machine_memory() / 1e6),
      "use smaller --width, --layers, --context or --batch");
}

// The sizes of the model of --from. --context may shorten its context, --dropout may differ.
void take_sizes(TrainConfig& config, const LanguageModelSizes& from) {
  LanguageModelSizes sizes = from;
  if (config.given.contains("--context")) sizes.context = config.sizes.context;
  if (sizes.context > from.context)
    throw support::InputError("--context " + std::to_string(sizes.context) +
                                  " is longer than that of the model of --from, " +
                                  std::to_string(from.context),
                              "use --context " + std::to_string(from.context) + " or less");
  sizes.dropout = config.sizes.dropout;
  sizes.recipe.tie_qk = config.sizes.recipe.tie_qk;
  sizes.recipe.learned = config.sizes.recipe.learned;
  config.sizes = sizes;
  for (const char* known : {"--layers", "--heads", "--width", "--context"})
    config.given.insert(known);
}

// Copies the weights; of the position table the first `context` rows.
void take_weights(const LanguageModel& model, const LanguageModel& from) {
  const auto to = parameters(model), all = parameters(from);
  for (std::size_t p = 0; p < to.size(); ++p)
    std::copy_n(all[p].value().data(), to[p].size(), to[p].write());
  set_held_values(model);
}

}  // namespace

TrainRun::TrainRun(TrainConfig config) : config_(std::move(config)), report_(config_) {
  std::optional<RunFolder> folder;
  std::optional<RunConfig> run;
  if (config_.names_folder()) folder_name_ = run_name(config_.texts[0]);
  const std::vector<std::string> named = config_.texts;
  config_.texts = text_files(config_.texts);
  const bool names_text = !config_.texts.empty();
  if (config_.resumes()) {
    folder = RunFolder::resume(config_.folder());
    run = folder->saved().config;
    config_ = resumed_config(run->settings, config_);
    if (!names_text)
      config_.texts = found_texts(*run, config_.folder(),
                                  ", or say where it is: fledge train --resume " +
                                      support::shell_word(config_.folder()) + " FILE");
  }
  config_.named = named;
  const std::string name = name_of(config_);
  if (!folder_name_.empty()) config_.out = config_.force ? folder_name_ : free_name(folder_name_);
  std::optional<TrainedModel> base;
  if (!run && !config_.from.empty()) {
    base = support::with_advice(
        "--from names the folder of a model: of fledge train, or of Hugging Face's libraries",
        [&] { return load_trained(config_.from); });
    take_sizes(config_, base->model.sizes);
    config_.corpus.tokens = base->tokenizer().kind();
  }
  report_.reading(names_of_files(config_.texts));
  const FileText read = read_text(config_);
  const std::string& text = read.text;
  if (const std::string left_out = read.report(run ? ", as before" : " (--keep-cr keeps them)");
      !left_out.empty())
    report_.say(left_out);
  if (run) {
    require_same_text(*run, text, name);
    corpus_.emplace(usable_corpus(text, config_, &run->tokenizer));
  } else {
    corpus_.emplace(usable_corpus(text, config_, base ? &base->tokenizer() : nullptr));
    if (!base) config_.sizes.vocabulary = corpus_->tokenizer.size();
    if (!config_.texts.empty()) chosen_ = choose_for_text(config_, *corpus_);
    require_window(*corpus_, config_);
    run = RunConfig{config_, corpus_->tokenizer, text.size(), hash_of(text)};
  }
  pairs_ = pairs_to_watch(config_, corpus_->tokenizer);
  sentences_ = sentences_to_probe(config_, corpus_->tokenizer);
  require_memory(config_);
  Rng weights(config_.training.seed);
  model_.emplace(config_.sizes, weights);
  if (base) take_weights(*model_, base->model);
  base.reset();
  trainer_ = std::make_unique<Trainer>(*model_, corpus_->train, config_.training);
  state_.emplace(config_, *run, *corpus_, *trainer_, report_);
  if (folder) state_->load(std::move(*folder));
  begin_page();
  // Until here no file has changed. Now begin_folder() alone may refuse, before it changes anything: a
  // folder that is taken or not empty, or one that is in the way of the page.
  if (state_->has_folder()) {
    state_->go_on();
    report_.resume_curves(state_->kept_events());
  } else if (!config_.folder().empty()) {
    begin_folder();
  }
  report_.saved_in_folder();
  report_.keep_events([this](const std::string& line) {
    state_->append_event(line);
    if (page_ && !state_->has_folder()) page_->keep(line);
  });
}

void TrainRun::begin_page() {
  const std::string& events = state_->kept_events();
  if (config_.page.empty() && !PageRecorder::is_recorded(events)) return;
  support::with_advice(
      "restore the file, or begin a new run in another folder with -o",
      [&] {
        page_.emplace(config_, *corpus_, pairs_, sentences_, events);
        // The page of the run until here, so that a damaged event is found before the training.
        if (!config_.page.empty() && !events.empty())
          page_->data(*model_, state_->step(), state_->kept_step(), events);
      },
      support::quoted(config_.folder() + "/" + log_file));
}

void TrainRun::write_page(std::int64_t kept_step) {
  if (config_.page.empty()) return;
  state_->sync_events();
  report_.say(page_->write(*model_, state_->step(), kept_step, state_->events()));
}

void TrainRun::begin_folder() {
  if (config_.force) return state_->begin(Place::replaceable);
  if (folder_name_.empty()) return state_->begin(Place::empty);
  for (;;) {
    try {
      return state_->begin(Place::unused);
    } catch (const FolderExists& taken) {
      config_.out = free_name(folder_name_);
      report_.say("Another run has begun in " + support::printable(taken.what()) + ".");
      require_page_place(config_);
    }
  }
}

void TrainRun::report_start() {
  const std::string token = token_word(corpus_->tokenizer.kind());
  std::string name = name_of(config_) + " has";
  if (config_.texts.empty() || config_.texts[0] == "-")  // "The built-in text has"
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  else if (config_.texts.size() > 1)
    name = "The " + thousands(std::ssize(config_.texts)) + " files have";
  report_.say(text_report(name, *corpus_));
  const std::string split = split_report(corpus_->facts, token, shell_folder());
  if (!split.empty()) report_.say(split);
  if (!chosen_.empty()) report_.say(chosen_);
  report_.say(model_report(*model_));
  if (!config_.from.empty())
    report_.say("It began with the weights of " + support::printable(config_.from) + ".");
  const std::string variant = variant_report(config_.sizes.recipe);
  if (!variant.empty()) report_.say(variant);
  if (config_.training.schedule.rate == 0) report_.say("With --lr 0 no weight changes.");
  baselines_ =
      baselines_of(*corpus_, [this](double share) { report_.show_work("Counting tables", share); });
  // A model that cheats has no rivals: it sees what they predict.
  if (!config_.sizes.recipe.sees_later_tokens()) report_.say(baseline_report(baselines_, token));
  check_causality_at_start();
  forecast();
  stop_.emplace();  // earlier a signal ends the program at once: nothing is lost
  report_.start(*corpus_, *model_, baselines_, state_->step(), state_->has_no_event());
}

// Checks only a new model: extreme trained weights could hide a causality error.
void TrainRun::check_causality_at_start() {
  const std::string token = token_word(corpus_->tokenizer.kind());
  if (config_.sizes.recipe.sees_later_tokens()) return report_.say(cheating_report(token));
  if (state_->step() > 0) return;
  const std::vector<Dim>& text = corpus_->train.tokens;
  const Dim length = std::min(config_.sizes.context, corpus_->train.size());
  const std::vector<Dim> ids(text.begin(), text.begin() + length);
  if (ids.size() < 2 || config_.sizes.vocabulary < 2) return;
  const CausalityReport report = check_causality(*model_, ids);
  if (report.looks_ahead) throw std::logic_error("the model is not causal: " + report.text);
  report_.say(report.is_causal ? "Causality check passed: changing later " + token +
                                     "s did not change any earlier prediction (" +
                                     thousands(report.compared) + " compared)."
                               : "Causality " + report.text + ".");
}

// Measures the time of a dry run. It does not change the training: batches depend only on the seed
// and the step number.
void TrainRun::forecast() {
  const double step = seconds_when_warm<Clock>([&] { trainer_->dry_run(); });
  const std::int64_t left = config_.training.schedule.steps - state_->step();
  const double seconds = static_cast<double>(left) * step * 1.1;
  report_.say("Forecast: " + clock_text(seconds) + " for " + support::counted(left, "step") + ", " +
              support::formatted("%.0f MB of memory.", support::peak_megabytes()));
}

}  // namespace fledge::train
