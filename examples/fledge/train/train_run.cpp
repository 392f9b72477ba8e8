// The training loop. A step is recorded when its evaluation is done. Ctrl-C, or a number that is
// not finite, may end the work before that: then nothing of the step has been recorded.
#include "examples/fledge/train/train_run.h"

#include <algorithm>
#include <cmath>

#include "engine/base/interrupt.h"
#include "examples/fledge/train/defaults.h"
#include "examples/fledge/train/source.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"

namespace fledge::train {

using support::formatted;
using support::thousands;

namespace {

// Tokens of a sample during training: a row of a terminal has room for some 60 characters of it.
constexpr Dim sample_tokens = 80;

}  // namespace

int TrainRun::run() {
  if (config_.resumes() && state_->is_over()) {
    report_.problem("the run in " + support::quoted(config_.folder()) + " is over after " +
                    support::counted(state_->step(), "step") +
                    (state_->is_out_of_patience() ? ": its held-out loss did not become lower"
                                                  : "; for more: --steps N"));
    baselines_ = baselines_of(
        *corpus_, [this](double share) { report_.show_work("Counting tables", share); });
    if (state_->has_end()) {
      const std::int64_t kept = state_->kept_step();
      const double training = state_->evaluate_training();
      if (kept != state_->step()) state_->use_kept_model();
      report_sentences(kept);
      report_end("ok", state_->notes().last_loss, state_->notes().best_loss, training);
      write_page(kept);
    } else {  // the run was killed during its final report
      report_result();
    }
    return 0;
  }
  try {
    try {
      train();
    } catch (const Interrupted&) {
      stop_early();
    }
  } catch (
      const NumericError& error) {  // a step, or work after it, found numbers that are not finite
    return stop_diverged(error.what());
  }
  if (stop_->stop_signal() != 0) {
    // Everything is saved; end by the signal, so that a calling shell script stops too.
    state_->close();
    stop_->end_by_signal();
  }
  return 0;
}

void TrainRun::train() {
  report_start();
  const InterruptScope can_be_interrupted(&StopSignals::stop_requested);
  const std::int64_t steps = config_.training.schedule.steps;
  const double tokens = tokens_of_step();
  if (page_ && state_->step() == 0)
    for (const Json::Members& event : page_->events(*model_, 0)) report_.event(event);
  while (!state_->is_over()) {
    check_interrupt();
    state_->remember_step();
    const Trainer::Step step = trainer_->step();
    Metrics row{step.number, step.loss, step.rate, step.gradient_norm, {}};
    const bool is_evaluated = state_->is_evaluated(row.step);
    if (is_evaluated && state_->holds_out()) {
      row.validation = state_->evaluate();
      training_loss_ = row.training = state_->evaluate_training();
    }
    std::vector<PairMeasurement> watched;
    if (is_evaluated || row.step == 1) watched = watch(pairs_, *model_, *corpus_, row.step);
    std::optional<std::string> sample;
    if (state_->is_sampled(row.step) && shows_samples())
      sample = draw_sample(*trainer_, config_, *corpus_, sample_tokens, row.step);
    std::vector<Json::Members> snapshot;
    if (page_ && page_->has_snapshot(row.step)) {
      const InterruptScope not_interrupted(nullptr);  // the step has moved the weights
      snapshot = page_->events(*model_, row.step);
    }
    keep(row, watched, sample, snapshot);
    const RunNotes& notes = state_->notes();
    report_.progress(
        {row.step, steps, row.loss, notes.last_loss, row.rate, row.gradient_norm, tokens});
    if (state_->is_save_due()) state_->save();
  }
  if (state_->is_out_of_patience())
    report_.say("The held-out loss was not lower in the last " +
                support::counted(config_.patience, "evaluation") + ": the run ends at step " +
                thousands(state_->step()) + " (--patience).");
  finish();
}

// Of lines, on average.
double TrainRun::tokens_of_step() const {
  const auto passes = static_cast<double>(config_.training.batch * config_.training.accumulate);
  const TokenText& text = corpus_->train;
  if (text.documents() == 0) return passes * static_cast<double>(config_.sizes.context);
  return passes * static_cast<double>(text.size()) / static_cast<double>(text.documents());
}

// Records a step. It is not interrupted: a step is recorded whole or not at all.
void TrainRun::keep(const Metrics& row, const std::vector<PairMeasurement>& watched,
                    const std::optional<std::string>& sample,
                    const std::vector<Json::Members>& snapshot) {
  const InterruptScope not_interrupted(nullptr);
  const bool is_logged = state_->is_evaluated(row.step) || row.step % config_.log_every == 0;
  state_->record_step(row);
  report_.recorded(row, is_logged);
  if (row.validation)
    report_.evaluated(row.step, *row.validation, row.training,
                      state_->notes().best_step == row.step);
  if (state_->notes().overfitting_step == row.step)
    report_.overfitting(row.step, state_->notes().best_step);
  for (const PairMeasurement& pair : watched) report_.watched(pair);
  if (sample) report_.sample(row.step, *sample);
  for (const Json::Members& event : snapshot) report_.event(event);
  if (row.validation) state_->save_if_best(row.step);
}

// Whether a sample is shown, printed or kept.
bool TrainRun::shows_samples() const {
  return !config_.quiet || config_.json || state_->has_folder();
}

std::string TrainRun::shell_folder() const {
  return folder().empty() ? "" : support::shell_word(folder());
}

// All is saved before the last report, which may take long.
void TrainRun::finish() {
  report_.finish();
  state_->save();
  all_saved_ = true;
  report_result();
}

// The report is about the model that is kept, which may be of an earlier step than the last.
void TrainRun::report_result() {
  const std::int64_t steps = state_->step(), kept = state_->kept_step();
  const bool holds_out = state_->holds_out();
  const auto loss = [&] { return trainer_->loss_on(corpus_->valid, config_.training.batch); };
  double last = state_->finite_loss();
  // The last step was evaluated.
  const double training = training_loss_ ? *training_loss_ : state_->evaluate_training();
  if (holds_out) last = loss();
  double best = last;
  if (kept != steps) {
    state_->use_kept_model();
    best = loss();
  }
  report_.plot();
  report_.say("Done: " + support::counted(steps, "step") + " in " + clock_text(report_.elapsed()) +
              ".");
  const TokenText& text = holds_out ? corpus_->valid : corpus_->train;
  const double shown = holds_out ? best : training;
  bits_per_byte_ = bits_per_byte(shown, text, corpus_->tokenizer);
  const std::string token = token_word(corpus_->tokenizer.kind());
  const std::string of_loss = holds_out ? "Held-out loss" : "Training loss";
  if (config_.sizes.recipe.sees_later_tokens())
    report_.say(loss_sentence(of_loss, shown, *bits_per_byte_, baselines_.uniform, token) + " " +
                cheating_report(token));
  else
    report_.say_lines(loss_report(of_loss, shown, *bits_per_byte_, baselines_, token,
                                  {support::colour_wanted(stderr)}));
  report_kept(best, last);
  report_final_samples(kept);
  report_sentences(kept);
  report_end("ok", last, best, training);
  write_page(kept);
}

void TrainRun::report_kept(double best_loss, double last_loss) {
  const std::int64_t kept = state_->kept_step();
  std::string text;
  if (state_->holds_out())
    text = formatted("Best held-out loss %.4f at step ", best_loss) + thousands(kept) + ". ";
  text += !state_->has_folder() ? "Nothing was saved: add -o run."
          : state_->holds_out() ? "These weights are saved in "
                                : "The weights of step " + thousands(kept) + " are saved in ";
  if (state_->has_folder()) text += support::printable(folder()) + ".";
  if (kept != state_->step())
    text += formatted(" The weights of the last step score %.4f.", last_loss);
  report_.say(text);
}

void TrainRun::report_final_samples(std::int64_t step) {
  if (!shows_samples()) return;
  const auto [count, tokens] = final_sample_sizes(*corpus_);
  std::vector<std::string> samples;
  for (std::int64_t i = 1; i <= count; ++i)
    samples.push_back(draw_sample(*trainer_, config_, *corpus_, tokens, -i));
  report_.final_samples(step, samples);
  if (!config_.quiet) report_.say(copied_report(samples, *corpus_));
}

void TrainRun::report_sentences(std::int64_t step) {
  if (!shows_samples()) return;
  for (const auto& [sentence, at, ids, begin] : sentences_) {
    Decoder decoder(*model_);
    decoder.read(ids);
    report_.sentence(step, sentence, attention_weights(decoder, corpus_->tokenizer));
  }
}

// The interrupted work has ended already. If a step moved the weights but its evaluation did not
// finish, the run goes back to the step before it.
void TrainRun::stop_early() {
  stop_->ignore_broken_pipe();
  report_.finish();
  state_->undo_step();
  const std::string folder = support::printable(config_.folder());
  const std::string step = std::to_string(state_->step());
  const std::string when = all_saved_ ? "the last step" : "step " + step;
  if (!state_->has_folder()) {
    report_.warn("Stopping after " + when + ". Nothing was saved: add -o DIR.");
  } else if (all_saved_) {
    report_.warn("Stopping after " + when + ". All is saved in " + folder + ".");
  } else {
    report_.warn("Stopping after " + when + " (Ctrl-C again to quit at once).");
    state_->save();
    report_.warn("Saved in " + folder + ". Continue with: " + resume_command(config_));
  }
  report_end("interrupted", state_->notes().last_loss, state_->notes().best_loss);
  write_page(state_->step());
  state_->close();
  stop_->end_by_signal();
}

int TrainRun::stop_diverged(const std::string& what) {
  report_.finish();
  report_.problem(what);  // before rolling back, which may fail
  const bool clips = config_.training.clip > 0;
  const std::string rate = formatted("--lr %.2g", rate_after_divergence(config_, *corpus_));
  std::string advice = "the rate may be too large: try " + rate + (clips ? "" : ", or --clip 1");
  if (state_->has_folder()) {
    state_->roll_back();
    const std::int64_t saved = state_->saved_step();
    advice = std::string("the rate may be too large") + (clips ? "" : ", or --clip 1 missing") +
             (saved > 0 ? "; to go on from step " + std::to_string(saved) : "; to begin again") +
             " with a smaller one: " + resume_command(config_) + " " + rate;
  }
  report_.advice(advice);
  report_end("diverged", state_->notes().last_loss, state_->notes().best_loss);
  if (!config_.page.empty()) report_.say("No page was written: the run diverged.");
  return static_cast<int>(support::Exit::diverged);
}

void TrainRun::report_end(const std::string& status, double last_loss, double best_loss,
                          double train_loss) {
  const bool holds_out = state_->holds_out();
  std::optional<std::int64_t> model_step;
  if (status == "ok" || state_->has_best()) model_step = state_->kept_step();
  report_.end(status, state_->step(), train_loss, holds_out ? last_loss : infinity,
              holds_out ? best_loss : infinity, bits_per_byte_, model_step, baselines_);
  state_->sync_events();
}

}  // namespace fledge::train
