#include "examples/fledge/train/run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "engine/base/interrupt.h"
#include "examples/fledge/commands.h"
#include "examples/fledge/train/recorded_page.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/trained_model.h"
#include "examples/page/page_file.h"
#include "examples/support/text.h"
#include "nn/io/checksum.h"
#include "nn/train/step_cost.h"

namespace fledge::train {

using support::counted, support::formatted, support::printable, support::thousands,
    support::shell_word, support::InputError, support::refuse_usage;

// How a run begins.

namespace {

/// Throws CommandError if a step of this model needs more memory than the machine has.
void require_memory(const TrainConfig& config) {
  const double bytes =
      4 * numbers_of_step(config.sizes, static_cast<double>(config.training.batch));
  if (bytes <= machine_memory()) return;
  throw support::CommandError(
      support::Exit::failed,
      formatted("a step needs about %.0f MB of memory, this machine has %.0f MB", bytes / 1e6,
                machine_memory() / 1e6),
      "use smaller --width, --layers, --context or --batch");
}

// The tokens of a new run's text, made with the tokenizer of the model it begins with, if any. Sets
// what follows from them: the vocabulary, and the options that are not given, which `chosen` says.
Corpus new_corpus(TrainConfig& config, const std::string& text, const Tokenizer* tokenizer,
                  std::string& chosen) {
  Corpus corpus = usable_corpus(text, config, tokenizer);
  if (!tokenizer) config.sizes.vocabulary = corpus.tokenizer.size();
  if (!config.texts.empty()) chosen = choose_for_text(config, corpus);
  require_window(corpus, config);
  return corpus;
}

// The sizes of the model of --from. --context may shorten its context, --dropout may differ.
void take_sizes(TrainConfig& config, const LanguageModelSizes& from) {
  LanguageModelSizes sizes = from;
  if (config.given.contains("--context")) sizes.context = config.sizes.context;
  if (sizes.context > from.context)
    refuse_usage("--context " + std::to_string(sizes.context) +
                     " is longer than that of the model of --from, " + std::to_string(from.context),
                 "use --context " + std::to_string(from.context) + " or less");
  sizes.dropout = config.sizes.dropout;
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

// Makes the folder. One that is named after the text has another number if a run that begins at the
// same time has taken its name.
void begin_folder(Run& run, const std::string& own_name) {
  while (!run.store.begin(!own_name.empty() && !run.config.force)) {
    run.screen->say("Another run has begun in " + printable(run.config.out) + ".");
    run.config.out = free_name(own_name);
    require_page_place(run.config);
  }
}

// The first changes of files. begin_folder() may refuse, before it changes anything: a folder that is
// taken or not empty, or one that is in the way of the page.
void open_folder(Run& run, const std::string& own_name) {
  const TrainConfig& config = run.config;
  if (run.store.has_folder()) {
    if (run.store.go_on())
      run.screen->problem(support::quoted(config.folder() + "/" + log_file) +
                          " lacks events of the run, and goes on without them");
    run.screen->resume(run.store.kept_events());
  } else if (!config.folder().empty()) {
    begin_folder(run, own_name);
  }
  const std::string where = printable(config.folder());
  if (!config.save || run.store.is_over()) return;
  run.screen->say(config.resumes() ? "The run in " + where + " is continued."
                  : !where.empty() ? "This run is saved in " + where + "."
                                   : "Nothing is saved: add -o DIR.");
}

// The page of a run with --page.
page::Page page_of(const Run& run, std::int64_t kept_step, const std::string& events) {
  const RunConfig settings{run.config, run.corpus.tokenizer, run.page_text.size(),
                           hash_of(run.page_text)};
  return recorded_page(settings, run.model, run.page_text, "", kept_step, events);
}

// Snapshots are events of the run, so a resumed run has those from before, and goes on with them.
void begin_page(Run& run, const std::string& text) {
  const std::string& events = run.store.kept_events();
  const bool has_snapshots = events.find("{\"type\":\"snapshot\",") != std::string::npos;
  if (run.config.page.empty() && !has_snapshots) return;
  run.snapshots =
      page::recorded_steps(run.config.training.schedule.steps, count_parameters(run.model));
  if (run.config.page.empty()) return;
  run.page_text = text;
  require_page_place(run.config);
  if (run.snapshots.empty())
    run.screen->say(
        "The page has the last weights alone: smaller ones (--width, --layers) fit more.");
  // The page of the run until here, so that a damaged event is found before the training.
  support::with_advice(
      "restore the file, or begin a new run in another folder with -o",
      [&] { page_of(run, run.store.kept_step(), events); },
      support::quoted(run.config.folder() + "/" + log_file));
}

bool has_snapshot(const Run& run, std::int64_t step) {
  return std::binary_search(run.snapshots.begin(), run.snapshots.end(), step);
}

// Ctrl-C: the first interrupts the running step, and the run saves; the second ends the program. A hangup
// counts as the first only: a terminal that closes may send it twice, from the kernel and from the
// shell. So does SIGPIPE: the program that reads the output has ended.

std::atomic<int> received_signal{0};  // 0: none
static_assert(
    std::atomic<int>::is_always_lock_free);  // otherwise a signal handler could not use it

void request_stop(int signal) {
  int none = 0;
  if (!received_signal.compare_exchange_strong(none, signal) && signal != SIGHUP &&
      signal != SIGPIPE)
    _exit(128 + signal);
}

// Whether an event of --json could not be written, and no signal had come before: then the run stops as
// after SIGPIPE, and run_main() says why and ends the program with status 1.
bool has_lost_output = false;

// The line of an event, for the log and --json. A run that is resumed has its "start" already.
void write_line(Run& run, const Event& event) {
  const auto& [logged, printed] = line_of(event);
  if (logged.empty()) return;
  if (!std::holds_alternative<Started>(event) || run.store.kept_events().empty())
    run.store.append_event(logged);
  if (!run.config.json) return;
  std::printf("%s\n", printed.c_str());
  if (std::fflush(stdout) == 0 || received_signal != 0) return;
  has_lost_output = true;
  request_stop(SIGPIPE);
}

void write_page_at_end(Run& run, const Event& event) {
  const auto* end = std::get_if<Ended>(&event);
  if (!end) return;
  if (end->status == "diverged") return run.screen->say("No page was written: the run diverged.");
  run.store.sync_events();
  const std::int64_t kept = end->status == "ok" ? run.store.kept_step() : run.store.step();
  const std::string& path = run.config.page;
  const std::vector<std::string> notices =
      page::write_page(path, page_of(run, kept, run.store.events()));
  std::string text =
      "The page is in " + printable(path) + " (" +
      formatted("%.0f kB", static_cast<double>(std::filesystem::file_size(path)) / 1000) +
      "): open it in a browser.";
  for (const std::string& sentence : notices) text += " " + sentence;
  run.screen->say(text);
}

}  // namespace

Run::Run(TrainConfig of_call, const RunConfig& settings, Corpus text, LanguageModel made,
         std::optional<ResumedRun> resumed, std::unique_ptr<Screen> shown)
    : config(std::move(of_call)),
      screen(std::move(shown)),
      corpus(std::move(text)),
      model(std::move(made)),
      trainer(model, corpus.train, config.training),
      store(config, settings, corpus, trainer, std::move(resumed)) {}

namespace {

// Reads the text, makes or loads the model, and locks the folder. Throws InputError, FileError or
// CommandError.
std::unique_ptr<Run> set_up(TrainConfig config) {
  auto screen = std::make_unique<Screen>(config.quiet);
  const std::string own_name = config.names_folder() ? run_name(config.texts[0]) : "";
  std::vector<std::string> named = config.texts;
  config.texts = text_files(named);
  std::optional<ResumedRun> resumed;
  std::optional<RunConfig> settings;
  if (config.resumes()) {
    resumed = resume_run(config.folder());
    settings = resumed->saved.config;
    config = resumed_config(settings->settings, config);
    if (named.empty())
      config.texts = found_texts(
          *settings, config.folder(),
          ", or say where it is: fledge train --resume " + shell_word(config.folder()) + " FILE");
  }
  config.named = std::move(named);
  if (!own_name.empty()) config.out = config.force ? own_name : free_name(own_name);
  std::optional<TrainedModel> base;
  if (!settings && !config.from.empty()) {
    base = load_trained(
        config.from, TextForm::text,
        "--from names the folder of a model: of fledge train, or of Hugging Face's libraries");
    take_sizes(config, base->model.sizes);
    config.corpus.tokens = base->tokenizer().kind();
  }
  if (!config.texts.empty() && config.texts[0] == "-") screen->say("Reading standard input.");
  if (!settings) config.choose("--read", config.read_bytes, bytes_to_read(config));
  const FileText read = read_text(config);
  if (!settings) config.file_bytes = read.sizes;
  const std::string& text = read.text;
  screen->say(read.report(settings ? ", as before" : " (--tokens byte keeps them)"));
  std::string chosen;
  if (settings) require_same_text(*settings, text, name_of_files(config.texts));
  Corpus corpus = settings ? usable_corpus(text, config, &settings->tokenizer)
                           : new_corpus(config, text, base ? &base->tokenizer() : nullptr, chosen);
  if (!settings) settings = RunConfig{config, corpus.tokenizer, text.size(), hash_of(text)};
  std::vector<WordPair> pairs = pairs_to_watch(config, corpus.tokenizer);
  require_memory(config);
  Rng weights(config.training.seed);
  LanguageModel model(config.sizes, weights);
  if (base) take_weights(model, base->model);
  base.reset();
  auto run = std::make_unique<Run>(std::move(config), *settings, std::move(corpus),
                                   std::move(model), std::move(resumed), std::move(screen));
  run->chosen = std::move(chosen);
  run->pairs = std::move(pairs);
  begin_page(*run, text);
  open_folder(*run, own_name);
  run->observers = {[&run = *run](const Event& event) { run.screen->on_event(event); },
                    [&run = *run](const Event& event) { write_line(run, event); }};
  if (!run->config.page.empty())
    run->observers.emplace_back(
        [&run = *run](const Event& event) { write_page_at_end(run, event); });
  return run;
}

// How it goes on and ends.

// Tokens of a sample during training: a row of a terminal has room for some 60 characters of it.
constexpr Dim sample_tokens = 80;

/// During its lifetime SIGINT, SIGTERM, SIGHUP and SIGPIPE request a stop; at other times they end
/// the program.
class StopSignals {
 public:
  StopSignals() {
    received_signal = 0;
    set_handlers(request_stop);
  }
  ~StopSignals() { set_handlers(SIG_DFL); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool stop_requested() { return received_signal != 0; }
  /// Ends the program with the signal it received, so that a calling shell script stops too.
  [[noreturn]] static void end_by_signal() {
    const int number = received_signal;
    std::fflush(nullptr);
    set_handlers(SIG_DFL);
    raise(number);
    _exit(128 + number);  // in case the signal is blocked
  }

 private:
  static void set_handlers(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;  // restart interrupted write() calls
    sigfillset(&action.sa_mask);   // one after the other
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
      struct sigaction before {};
      sigaction(signal, nullptr, &before);
      // Do not change an ignored signal (nohup).
      if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
  }
};

// The loop.

// What is seen of the model after a step: of the average of its weights, if there is one.
struct Seen {
  std::optional<double> held_out{};
  double training = 0;
  std::vector<Event> events{};
};

Seen look(Run& run, std::int64_t n) {
  const TrainConfig& config = run.config;
  const std::int64_t steps = config.training.schedule.steps;
  const bool is_due = n == steps || n % config.evaluate_every == 0, is_watched = is_due || n == 1;
  // After the last step, the final report draws samples.
  const bool is_drawn = run.shows_samples() && (n == steps / 10 || (n == steps / 2 && n < steps));
  Seen seen;
  if (!is_watched && !is_drawn && !has_snapshot(run, n)) return seen;
  const WeightAverage::InPlace average(run.trainer.average());
  if (is_due && run.holds_out()) {
    seen.held_out = run.trainer.loss_on(run.corpus.valid, config.training.batch, evaluated_windows);
    seen.training = run.training_loss();
  }
  if (is_watched)
    for (PairMeasurement& pair : watch(run.pairs, run.model, run.corpus, n))
      seen.events.emplace_back(std::move(pair));
  if (is_drawn)
    seen.events.emplace_back(
        Sampled{n, draw_sample(run.trainer, config, run.corpus, sample_tokens, n)});
  if (has_snapshot(run, n)) seen.events.emplace_back(Snapshot{page::snapshot_event(run.model, n)});
  return seen;
}

// What follows a step. All of it is computed first. Ctrl-C, or a number that is not finite, may end
// this: then nothing has been recorded. Afterwards the step is recorded whole.
void follow(Run& run, const Trainer::Step step) {
  const std::int64_t n = step.number;
  const auto [held_out, training, events] = look(run, n);
  const InterruptScope not_interrupted(nullptr);
  run.store.record(held_out);
  const RunNotes& notes = run.store.notes();
  run.emit(Stepped{step, held_out});
  if (held_out) run.emit(Evaluated{n, *held_out, training});
  if (held_out && notes.best_step == n) run.emit(Best{n, *held_out});
  if (notes.overfitting_step == n) run.emit(Overfitting{n, notes.best_step});
  for (const Event& event : events) run.emit(event);
  if (held_out) run.store.save_if_best();
  run.screen->show_progress();
}

// An interrupt during Trainer::step() leaves the model as it was; one after it leaves a step that is
// noted as unrecorded. So each save is of a whole step, and no weights are copied for it.
void take_steps(Run& run) {
  if (run.store.step() == 0 && has_snapshot(run, 0))
    run.emit(Snapshot{page::snapshot_event(run.model, 0)});
  while (!run.store.is_over()) {
    check_interrupt();
    if (!run.store.notes().unrecorded) run.store.take(run.trainer.step());
    follow(run, *run.store.notes().unrecorded);
    if (run.store.is_save_due()) run.store.save();
  }
}

// All is saved before the last report, which may take long.
void finish(Run& run) {
  if (run.store.is_out_of_patience())
    run.screen->say("The held-out loss was not lower in the last " +
                    counted(run.config.patience, "evaluation") + ": the run ends at step " +
                    thousands(run.store.step()) + " (--patience).");
  run.screen->finish();
  run.store.save();
  run.is_saved = true;
  report_result(run);
}

// The interrupted work has ended already.
void stop_early(Run& run) {
  Screen& screen = *run.screen;
  screen.finish();
  const std::string folder = printable(run.config.folder());
  const bool is_unread = received_signal == SIGPIPE;
  const std::string when =
      (is_unread ? "Standard output can no longer be written. Stopping after "
                 : "Stopping after ") +
      (run.is_saved ? std::string("the last step") : "step " + std::to_string(run.store.step()));
  if (!run.store.has_folder()) {
    screen.warn(when + ". Nothing was saved" + (run.config.texts.empty() ? ": add -o DIR." : "."));
  } else if (run.is_saved) {
    screen.warn(when + ". All is saved in " + folder + ".");
  } else {
    screen.warn_wrapped(when + (is_unread ? "." : " (Ctrl-C again to quit at once)."));
    run.store.save(true);
    screen.warn_wrapped("Saved in " + folder + ". Continue with:");
    screen.warn("  " + resume_command(run.config));
  }
  report_stop(run, "interrupted");
}

int stop_diverged(Run& run, const std::string& what) {
  run.screen->finish();
  run.screen->problem(what);  // before rolling back, which may fail
  const bool clips = run.config.training.clip > 0;
  const std::string rate = formatted("--lr %.2g", rate_after_divergence(run.config, run.corpus));
  std::string advice = "the rate may be too large: try " + rate + (clips ? "" : ", or --clip 1");
  if (run.store.has_folder()) {
    run.store.roll_back();
    const std::int64_t saved = run.store.saved_step();
    advice = std::string("the rate may be too large") + (clips ? "" : ", or --clip 1 missing") +
             (saved > 0 ? "; to go on from step " + std::to_string(saved) : "; to begin again") +
             " with a smaller one: " + resume_command(run.config) + " " + rate;
  }
  run.screen->advice(advice);
  report_stop(run, "diverged");
  return static_cast<int>(support::Exit::diverged);
}

// Trains, and returns the exit status. Ctrl-C ends the program, with all steps saved.
int train(Run& run) {
  if (run.store.is_over()) {
    report_again(run);
    return 0;
  }
  std::optional<StopSignals> signals;
  try {
    report_start(run);
    signals.emplace();  // earlier a signal ends the program at once: nothing is lost
    if (run.config.resumes())
      run.screen->say(
          "Continuing after step " + thousands(run.store.step()) +
          (run.config.given.contains("--lr")
               ? formatted(", from here on with --lr %g.", run.config.training.schedule.rate)
               : "."));
    run.emit(Started{run.config, run.corpus, run.model, run.baselines, run.store.step()});
    try {
      const InterruptScope can_be_interrupted(&StopSignals::stop_requested);
      take_steps(run);
      finish(run);
    } catch (const Interrupted&) {
      stop_early(run);
    }
  } catch (
      const NumericError& error) {  // a step, or work after it, found numbers that are not finite
    return stop_diverged(run, error.what());
  }
  if (!StopSignals::stop_requested() || has_lost_output) return 0;
  // Everything is saved; end by the signal, so that a calling shell script stops too.
  run.store.close();
  StopSignals::end_by_signal();
}

}  // namespace

}  // namespace fledge::train

namespace fledge {

int train_command(int argc, char** argv) {
  const train::TrainConfig config = train::train_config(argc, argv);
  const std::string advice = config.resumes() ? "make the file readable, or move it away"
                                              : "all options: fledge train --help-all";
  const std::unique_ptr<train::Run> run =
      support::with_advice(advice, [&] { return train::set_up(config); });
  try {
    return train::train(*run);
  } catch (const FileError& error) {  // a problem with writing to the run's folder
    throw support::CommandError(support::Exit::failed, error.what(),
                                support::remedy(error.error_number) +
                                    "; then go on with: fledge train --resume " +
                                    support::shell_word(run->config.folder()));
  }
}

}  // namespace fledge
