#include "examples/fledge/train/run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "engine/base/interrupt.h"
#include "examples/fledge/step_cost.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/peak_memory.h"
#include "examples/support/text.h"
#include "nn/io/checksum.h"

namespace fledge::train {

using support::counted, support::formatted, support::printable, support::thousands,
    support::shell_word, support::InputError, support::with_advice;

namespace {

// Tokens of a sample during training: a row of a terminal has room for some 60 characters of it.
constexpr Dim sample_tokens = 80;

// Ctrl-C: the first interrupts the running step, and the run saves; the second ends the program. A hangup
// counts as the first only: a terminal that closes may send it twice, from the kernel and from the
// shell.

std::atomic<int> received_signal{0};  // 0: none
static_assert(
    std::atomic<int>::is_always_lock_free);  // otherwise a signal handler could not use it

void request_stop(int signal) {
  int none = 0;
  if (!received_signal.compare_exchange_strong(none, signal) && signal != SIGHUP)
    _exit(128 + signal);
}

/// During its lifetime SIGINT, SIGTERM and SIGHUP request a stop; at other times they end the
/// program.
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
    set_handlers(SIG_DFL);
    std::fflush(nullptr);
    raise(number);
    _exit(128 + number);  // in case the signal is blocked
  }

 private:
  static void set_handlers(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;  // restart interrupted write() calls
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction before {};
      sigaction(signal, nullptr, &before);
      // Do not change an ignored signal (nohup).
      if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
  }
};

bool holds_out(const Run& run) { return run.corpus.valid.size() > 1; }

std::string token_of(const Run& run) { return token_word(run.corpus.tokenizer.kind()); }

bool sees_later_tokens(const Run& run) { return run.config.sizes.recipe.sees_later_tokens(); }

// Whether a sample is shown, printed or kept.
bool shows_samples(const Run& run) {
  return !run.config.quiet || run.config.json || run.store.has_folder();
}

// The mean loss of the training text. The losses of the steps are those of models on the way, with
// dropout: beside the held-out loss stands the loss of the same model.
double training_loss(const Run& run) {
  return run.trainer.loss_on(run.corpus.train, run.config.training.batch, training_windows);
}

// What is said before the first step.

// Checks only a new model: extreme trained weights could hide a causality error.
void check_causality_at_start(const Run& run) {
  const std::string token = token_of(run);
  if (sees_later_tokens(run)) return run.screen->say(cheating_report(token));
  if (run.store.step() > 0) return;
  const LanguageModelSizes& sizes = run.config.sizes;
  const std::vector<Dim>& text = run.corpus.train.tokens;
  const Dim length = std::min(sizes.context, run.corpus.train.size());
  if (length < 2 || sizes.vocabulary < 2) return;
  const CausalityReport report = check_causality(run.model, {text.begin(), text.begin() + length});
  if (report.looks_ahead) throw std::logic_error("the model is not causal: " + report.text);
  run.screen->say(report.is_causal ? "Causality check passed: changing later " + token +
                                         "s did not change any earlier prediction (" +
                                         thousands(report.compared) + " compared)."
                                   : "Causality " + report.text + ".");
}

// Measures the time of a dry run. It does not change the training: batches depend only on the seed
// and the step number. The first also makes threads and fills caches, which is small beside a second.
void forecast(Run& run) {
  const auto timed = [&] {
    const double begin = run.screen->elapsed();
    run.trainer.dry_run();
    return run.screen->elapsed() - begin;
  };
  double step = timed();
  if (step <= 1) step = timed();
  const std::int64_t left = run.config.training.schedule.steps - run.store.step();
  const double seconds = static_cast<double>(left) * step * 1.1;
  run.screen->say("Forecast: " + clock_text(seconds) + " for " + counted(left, "step") + ", " +
                  formatted("%.0f MB of memory.", support::peak_megabytes()));
}

void count_baselines(Run& run) {
  run.baselines = baselines_of(
      run.corpus, [&](double share) { run.screen->show_work("Counting tables", share); });
}

void report_start(Run& run) {
  const TrainConfig& config = run.config;
  Screen& screen = *run.screen;
  const auto say_if_any = [&](const std::string& text) {
    if (!text.empty()) screen.say(text);
  };
  const std::string token = token_of(run);
  std::string name = name_of_files(config.texts) + " has";
  if (config.texts.empty() || config.texts[0] == "-")  // "The built-in text has"
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  else if (config.texts.size() > 1)
    name = "The " + thousands(std::ssize(config.texts)) + " files have";
  screen.say(text_report(name, run.corpus));
  const std::string folder = config.folder().empty() ? "" : shell_word(config.folder());
  say_if_any(split_report(run.corpus.facts, token, folder));
  say_if_any(run.chosen);
  screen.say(model_report(run.model));
  if (!config.from.empty())
    screen.say("It began with the weights of " + printable(config.from) + ".");
  say_if_any(variant_report(config.sizes.recipe));
  if (config.training.schedule.rate == 0) screen.say("With --lr 0 no weight changes.");
  count_baselines(run);
  // A model that cheats has no rivals: it sees what they predict.
  if (!sees_later_tokens(run)) screen.say(baseline_report(run.baselines, token));
  check_causality_at_start(run);
  forecast(run);
}

// The loop.

bool is_evaluated(const TrainConfig& config, std::int64_t step) {
  return step == config.training.schedule.steps || step % config.evaluate_every == 0;
}

// After the last step, the final report draws samples.
bool is_sampled(const TrainConfig& config, std::int64_t step) {
  const std::int64_t steps = config.training.schedule.steps;
  const std::int64_t every =
      config.sample_every > 0 ? config.sample_every : std::max<std::int64_t>(steps / 10, 1);
  return step < steps && step % every == 0;
}

// What follows a step. All of it is computed first. Ctrl-C, or a number that is not finite, may end
// this: then nothing has been recorded. Afterwards the step is recorded whole.
void follow(Run& run, const Trainer::Step step) {
  const std::int64_t n = step.number;
  const TrainConfig& config = run.config;
  const bool is_due = is_evaluated(config, n);
  std::optional<double> held_out;
  double training = 0;
  if (is_due && holds_out(run)) {
    held_out = run.trainer.loss_on(run.corpus.valid, config.training.batch, evaluated_windows);
    training = training_loss(run);
  }
  std::vector<Event> seen;
  if (is_due || n == 1)
    for (PairMeasurement& pair : watch(run.pairs, run.model, run.corpus, n))
      seen.emplace_back(std::move(pair));
  if (is_sampled(config, n) && shows_samples(run))
    seen.emplace_back(Sampled{n, draw_sample(run.trainer, config, run.corpus, sample_tokens, n)});
  if (run.page)
    for (Event& event : run.page->look(n)) seen.push_back(std::move(event));

  const InterruptScope not_interrupted(nullptr);
  run.store.record(held_out);
  const RunNotes& notes = run.store.notes();
  run.emit(Stepped{step, held_out, is_due || n % config.log_every == 0});
  if (held_out) run.emit(Evaluated{n, *held_out, training});
  if (held_out && notes.best_step == n) run.emit(Best{n, *held_out});
  if (notes.overfitting_step == n) run.emit(Overfitting{n, notes.best_step});
  for (const Event& event : seen) run.emit(event);
  if (held_out) run.store.save_if_best();
  run.screen->show_progress();
}

// An interrupt during Trainer::step() leaves the model as it was; one after it leaves a step that is
// noted as unrecorded. So each save is of a whole step, and no weights are copied for it.
void take_steps(Run& run) {
  if (run.page && run.store.step() == 0)
    for (const Event& event : run.page->look(0)) run.emit(event);
  while (!run.store.is_over()) {
    check_interrupt();
    if (!run.store.notes().unrecorded) run.store.take(run.trainer.step());
    follow(run, *run.store.notes().unrecorded);
    if (run.store.is_save_due()) run.store.save();
  }
}

// What is said after the last step.

void report_kept(const Run& run, double best_loss, double last_loss) {
  const std::int64_t kept = run.store.kept_step();
  std::string text;
  if (holds_out(run))
    text = formatted("Best held-out loss %.4f at step ", best_loss) + thousands(kept) + ". ";
  text += !run.store.has_folder() ? "Nothing was saved: add -o run."
          : holds_out(run)        ? "These weights are saved in "
                                  : "The weights of step " + thousands(kept) + " are saved in ";
  if (run.store.has_folder()) text += printable(run.config.folder()) + ".";
  if (kept != run.store.step())
    text += formatted(" The weights of the last step score %.4f.", last_loss);
  run.screen->say(text);
}

void report_final_samples(const Run& run, std::int64_t step) {
  if (!shows_samples(run)) return;
  const std::vector<std::string> samples = final_samples(run.trainer, run.config, run.corpus);
  const bool are_lines = run.config.corpus.reading == Reading::lines;
  run.screen->say_lines("Samples:\n" + final_samples_text(samples, are_lines));
  for (const std::string& text : samples) run.emit(Sampled{step, text, true});
  if (!run.config.quiet) run.screen->say(copied_report(samples, run.corpus));
}

void report_sentences(const Run& run, std::int64_t step) {
  if (!shows_samples(run)) return;
  for (const Probe& probe : run.sentences) {
    Decoder decoder(run.model);
    decoder.read(probe.ids);
    run.emit(Probed{step, probe.sentence, attention_weights(decoder, run.corpus.tokenizer)});
  }
}

// The losses of the end; infinite: not known.
struct LastLosses {
  double training = infinity, held_out = infinity, best = infinity;
};

void report_end(Run& run, const std::string& status, LastLosses losses,
                std::optional<double> bits = {}) {
  const TrainConfig& config = run.config;
  const std::int64_t step = run.store.step(), kept = run.store.kept_step();
  const bool is_done = status == "ok";
  const std::string folder = shell_word(config.folder());
  if (is_done && !config.folder().empty())
    run.screen->say_lines("Next: fledge generate " + folder + "\n      fledge eval " + folder +
                          " FILE" +
                          (kept == step ? "\n      " + resume_command(config) + " --steps " +
                                              std::to_string(2 * config.training.schedule.steps)
                                        : ""));
  else if (is_done && config.texts.empty())
    run.screen->say("Next: fledge train YOUR_TEXT.txt");
  if (!holds_out(run)) losses.held_out = losses.best = infinity;
  std::optional<std::int64_t> model_step;
  if (is_done || run.store.has_best()) model_step = kept;
  run.emit(Ended{status, step, losses.training, losses.held_out, losses.best, bits, model_step,
                 run.baselines, run.screen->elapsed()});
  run.store.sync_events();
}

LastLosses noted_losses(const Run& run, double training = infinity) {
  return {training, run.store.notes().last_loss, run.store.notes().best_loss};
}

// The report is about the model that is kept, which may be of an earlier step than the last.
void report_result(Run& run) {
  Screen& screen = *run.screen;
  const std::int64_t steps = run.store.step(), kept = run.store.kept_step();
  const bool of_held_out = holds_out(run);
  const auto loss = [&] {
    return run.trainer.loss_on(run.corpus.valid, run.config.training.batch);
  };
  double last = run.store.finite_loss();
  const double training = training_loss(run);
  if (of_held_out) last = loss();
  double best = last;
  if (kept != steps) {
    run.store.use_kept_model();
    best = loss();
  }
  screen.plot();
  screen.say("Done: " + counted(steps, "step") + " in " + clock_text(screen.elapsed()) + ".");
  const TokenText& text = of_held_out ? run.corpus.valid : run.corpus.train;
  const double shown = of_held_out ? best : training;
  const double bits = bits_per_byte(shown, text, run.corpus.tokenizer);
  const std::string of_loss = of_held_out ? "Held-out loss" : "Training loss";
  const std::string token = token_of(run);
  if (sees_later_tokens(run))
    screen.say(loss_sentence(of_loss, shown, bits, run.baselines.uniform, token) + " " +
               cheating_report(token));
  else
    screen.say_lines(loss_report(of_loss, shown, bits, run.baselines, token));
  report_kept(run, best, last);
  report_final_samples(run, kept);
  report_sentences(run, kept);
  report_end(run, "ok", {training, last, best}, bits);
}

// For --resume of a run that has no step left.
void report_again(Run& run) {
  Store& store = run.store;
  run.screen->problem("the run in " + support::quoted(run.config.folder()) + " is over after " +
                      counted(store.step(), "step") +
                      (store.is_out_of_patience()
                           ? ": its held-out loss did not become lower; to train these "
                             "weights further: --from " +
                                 support::shell_word(run.config.folder())
                           : "; for more: --steps N"));
  count_baselines(run);
  if (!store.has_end()) return report_result(run);  // it was killed during its final report
  const double training = training_loss(run);
  if (store.kept_step() != store.step()) store.use_kept_model();
  report_sentences(run, store.kept_step());
  report_end(run, "ok", noted_losses(run, training));
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
[[noreturn]] void stop_early(Run& run) {
  std::signal(SIGPIPE, SIG_IGN);  // the run must be saved even if the output pipe is closed
  Screen& screen = *run.screen;
  screen.finish();
  const std::string folder = printable(run.config.folder());
  const std::string when =
      "Stopping after " +
      (run.is_saved ? std::string("the last step") : "step " + std::to_string(run.store.step()));
  if (!run.store.has_folder()) {
    screen.warn(when + ". Nothing was saved: add -o DIR.");
  } else if (run.is_saved) {
    screen.warn(when + ". All is saved in " + folder + ".");
  } else {
    screen.warn(when + " (Ctrl-C again to quit at once).");
    run.store.save(true);
    screen.warn("Saved in " + folder + ". Continue with: " + resume_command(run.config));
  }
  report_end(run, "interrupted", noted_losses(run));
  run.store.close();
  StopSignals::end_by_signal();
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
  report_end(run, "diverged", noted_losses(run));
  return static_cast<int>(support::Exit::diverged);
}

}  // namespace

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
  if (!StopSignals::stop_requested()) return 0;
  // Everything is saved; end by the signal, so that a calling shell script stops too.
  run.store.close();
  StopSignals::end_by_signal();
}

}  // namespace fledge::train
