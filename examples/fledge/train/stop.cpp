#include "examples/fledge/train/stop.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

namespace fledge::train {

namespace {

std::atomic<int> signal_that_asked{0};
static_assert(
    std::atomic<int>::is_always_lock_free);  // otherwise a signal handler could not use it

constexpr int stopping[] = {SIGINT, SIGTERM, SIGHUP};

void ask(int signal) {
  int none = 0;
  if (!signal_that_asked.compare_exchange_strong(none, signal) && signal != SIGHUP)
    _exit(128 + signal);
}

void set_handlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // the write of a checkpoint continues
  for (const int signal : stopping) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);  // keeps what nohup has set
  }
}

}  // namespace

StopSignals::StopSignals() {
  signal_that_asked = 0;
  set_handlers(ask);
}

StopSignals::~StopSignals() { set_handlers(SIG_DFL); }

int StopSignals::asked() const { return signal_that_asked; }

bool StopSignals::is_asked() { return signal_that_asked != 0; }

void StopSignals::outlive_readers() const { std::signal(SIGPIPE, SIG_IGN); }

void StopSignals::end_by_signal() const {
  const int number = signal_that_asked;
  set_handlers(SIG_DFL);
  std::fflush(nullptr);
  raise(number);
  _exit(128 + number);  // in case the signal is blocked
}

}  // namespace fledge::train
