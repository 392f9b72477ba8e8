// How a session ends early: by a signal, or because its numbers are not finite any more.
#include "examples/fledge/train/session.h"
#include "examples/support/formatted.h"
#include "examples/support/text.h"

namespace fledge::train {

// The interrupted work has ended already. If a step moved the weights but its evaluation did not
// finish, the run goes back to the step before it.
void Session::stop_early() {
  stop_->outlive_readers();
  screen_.finish();
  const std::string folder = support::printable(plan_.folder());
  if (before_) trainer_->restore(before_->state, before_->weights);
  const std::string step = std::to_string(trainer_->steps_done());
  if (all_saved_) {
    screen_.warn("stopping after the last step" +
                 (folder_ ? "; all is saved in " + folder : "; without -o DIR nothing is kept"));
  } else if (folder_) {
    screen_.warn("stopping after step " + step + " (Ctrl-C again to quit at once)");
    save();
    screen_.warn("saved " + folder + ". go on with: fledge train --resume " +
                 support::shell_word(plan_.folder()));
  } else {
    screen_.warn("stopping after step " + step + "; without -o DIR nothing is kept");
  }
  end("interrupted");
  folder_.reset();
  stop_->end_by_signal();
}

// The folder goes back to the best state that beat guessing, else to the beginning: whatever was
// saved in between may lead to the same end at any rate.
void Session::go_back() {
  if (good_.state.empty()) {
    good_ = beginning();
    best_.clear();
    notes_.best_step = 0;
  }
  write(good_);
}

int Session::stop_diverged(const std::string& what) {
  screen_.finish();
  screen_.warn("fledge train: " + what);  // first: going back may fail
  const bool clips = plan_.training.clip > 0;
  const std::string rate = support::formatted("--lr %.2g", plan_.training.schedule.rate / 10);
  std::string advice = "the rate may be too large: try " + rate + (clips ? "" : ", or --clip 1");
  if (folder_) {
    go_back();
    advice = std::string("the rate may be too large") + (clips ? "" : ", or --clip 1 missing") +
             (saved_step_ > 0 ? "; to go on from step " + std::to_string(saved_step_)
                              : "; to begin again") +
             " with a smaller one: fledge train --resume " + support::shell_word(plan_.folder()) +
             " " + rate;
  }
  screen_.warn("              " + advice);
  end("diverged");
  return static_cast<int>(support::Exit::diverged);
}

}  // namespace fledge::train
