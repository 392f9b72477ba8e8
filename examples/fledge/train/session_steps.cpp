// The steps of a session, what is measured after a step, and what a diverged run goes back to.
//
// Key idea: a step is whole when its evaluation is done and noted. What is computed after a step
// may be broken off (Ctrl-C) or find numbers that are not finite; nothing has been noted then.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "engine/base/interrupt.h"
#include "examples/fledge/train/session.h"
#include "examples/support/text.h"

namespace fledge::train {

namespace {

constexpr double forget = 0.02;  // of the smoothed loss, a step

}  // namespace

int Session::run() {
  if (plan_.resumes() && is_over()) {
    screen_.warn("the run in " + support::quoted(plan_.folder()) + " is over after " +
                 thousands(trainer_->steps_done()) + " steps" +
                 (is_out_of_patience() ? ": it got no better" : "; for more: --steps N"));
    return 0;
  }
  try {
    try {
      train();
    } catch (const Interrupted&) {
      stop_early();
    }
  } catch (const NumericError& error) {  // Diverged, by a step or by what is computed after it
    return stop_diverged(error.what());
  }
  if (stop_->asked() != 0) {  // at the very end: all is kept, but what follows should not begin
    folder_.reset();
    stop_->end_by_signal();
  }
  return 0;
}

void Session::train() {
  report_start();
  const InterruptScope breaks_off(&StopSignals::is_asked);
  keep_if_resumed_good();
  saved_ = screen_.elapsed();
  while (!is_over()) {
    check_interrupt();
    if (folder_ && (is_evaluated(trainer_->steps_done() + 1) || trainer_->steps_done() == 0))
      before_ = {weights_of(*model_), trainer_->state()};
    after_step(trainer_->step());
    if (!is_over()) keep_pace();
  }
  if (is_out_of_patience())
    screen_.say("no better on the held-out text in " + std::to_string(plan_.patience) +
                " evaluations: stopping at step " + std::to_string(trainer_->steps_done()));
  finish();
}

bool Session::is_evaluated(std::int64_t step) const {
  return step == plan_.training.schedule.steps || step % plan_.evaluate_every == 0;
}

void Session::after_step(const Trainer::Step& step) {
  const bool evaluates = is_evaluated(step.number);
  Metrics row{step.number, step.loss, step.rate, step.gradient_norm, {}};
  if (evaluates && holds_out())
    row.validation = trainer_->loss_on(corpus_->valid, plan_.training.batch, evaluated_windows);
  std::vector<Watched> watched;
  if (evaluates || step.number == 1) watched = watch();
  note(row, watched);

  const std::int64_t samples_every =
      plan_.sample_every > 0 ? plan_.sample_every
                             : std::max<std::int64_t>(plan_.training.schedule.steps / 10, 1);
  if (step.number < plan_.training.schedule.steps && step.number % samples_every == 0)
    print_sample();
  Standing standing{step.number,
                    plan_.training.schedule.steps,
                    notes_.train_loss,
                    {},
                    step.rate,
                    step.gradient_norm,
                    pair_};
  if (std::isfinite(notes_.last_loss)) standing.validation = notes_.last_loss;
  screen_.show(standing);
  if (folder_ && screen_.elapsed() - saved_ >= static_cast<double>(plan_.save_seconds)) save();
}

// All that a step leaves behind, whole or not at all.
void Session::note(const Metrics& row, const std::vector<Watched>& watched) {
  const InterruptScope whole(nullptr);
  before_.reset();
  notes_.train_loss = std::isfinite(notes_.train_loss)
                          ? notes_.train_loss + forget * (row.loss - notes_.train_loss)
                          : row.loss;
  if (row.validation) note_evaluation(*row.validation);
  if (is_evaluated(row.step) || row.step % plan_.log_every == 0) {
    if (folder_) folder_->append(row);
    if (plan_.json) say_json(as_json(row));
  }
  say_watched(watched);
  if (row.validation && notes_.best_step == row.step) save_best();
}

void Session::note_evaluation(double loss) {
  notes_.last_loss = loss;
  ++notes_.since_best;
  if (loss >= notes_.best_loss) return;
  notes_.best_loss = loss;
  notes_.best_step = trainer_->steps_done();
  notes_.since_best = 0;
  best_ = weights_of(*model_);
  if (folder_) kept_ = model_file(*model_, notes_.run_id, notes_.best_step, loss);
}

// Throws Diverged if the loss of the model is not finite: such a model must not be saved. After
// Ctrl-C it computes the loss of one window instead of a batch, to be quick.
double Session::finite_loss() const {
  if (!stop_ || stop_->asked() == 0) return trainer_->next_loss();
  const double loss = mean_loss(*model_, corpus_->train, 1, 1);
  if (!std::isfinite(loss))
    throw Diverged("the loss is not finite after step " + std::to_string(trainer_->steps_done()));
  return loss;
}

// A state that a run was resumed from is good, if its next batch or an evaluation beat guessing.
void Session::keep_if_resumed_good() {
  if (!folder_ || trainer_->steps_done() == 0) return;
  if (trainer_->next_loss() < guessing_loss() || notes_.best_loss < guessing_loss())
    good_ = checkpoint();
}

void Session::keep_pace() const {
  if (plan_.pace == 0) return;
  using Clock = std::chrono::steady_clock;
  const auto next =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(1 / static_cast<double>(plan_.pace)));
  while (Clock::now() < next) {
    check_interrupt();
    std::this_thread::sleep_until(std::min(next, Clock::now() + std::chrono::milliseconds(200)));
  }
}

}  // namespace fledge::train
