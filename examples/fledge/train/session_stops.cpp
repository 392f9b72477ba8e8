// How a session ends before its last step: by a signal, or because its numbers do.
#include <algorithm>
#include <cstdio>

#include "examples/fledge/train/session.h"
#include "examples/support/text.h"

namespace fledge::train {

namespace {

bool all_finite(const std::vector<Array>& arrays) {
  return std::all_of(arrays.begin(), arrays.end(), [](const Array& array) {
    return std::all_of(array.data(), array.data() + array.size(),
                       [](Real x) { return isfinite(x); });
  });
}

}  // namespace

int Session::stop_early() {
  screen_.finish();
  const std::string step = std::to_string(trainer_->steps_done());
  if (folder_) {
    screen_.warn("stopping after step " + step + " (Ctrl-C again to quit at once)");
    save();
    screen_.warn("saved " + support::printable(plan_.folder) +
                 ". go on with: fledge train --resume " + support::printable(plan_.folder));
  } else {
    screen_.warn("stopping after step " + step + "; without -o DIR nothing is kept");
  }
  end("interrupted");
  folder_.reset();
  stop_->end_by_signal();
}

int Session::stop_diverged(const std::string& what) {
  screen_.finish();
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.2g", plan_.training.schedule.rate / 10);
  const std::string step = std::to_string(trainer_->steps_done());
  std::string kept;
  if (folder_) {
    const bool finite = all_finite(weights_of(*model_));
    if (finite) save();
    kept = finite ? "; the last good state, of step " + step + ", is in " +
                        support::printable(plan_.folder)
                  : "; " + support::printable(plan_.folder) + " keeps its last checkpoint";
  }
  screen_.warn("fledge train: " + what);
  screen_.warn(std::string("              the rate may be too large: try --lr ") + rate +
               (plan_.training.clip > 0 ? "" : ", or --clip 1") + kept);
  end("diverged");
  return static_cast<int>(support::Exit::diverged);
}

}  // namespace fledge::train
