#include "examples/fledge/train/stop.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

namespace fledge::train {

namespace {

std::atomic<int> received_signal{0};
static_assert(
    std::atomic<int>::is_always_lock_free);  // otherwise a signal handler could not use it

constexpr int stopping[] = {SIGINT, SIGTERM, SIGHUP};

void request_stop(int signal) {
  int none = 0;
  if (!received_signal.compare_exchange_strong(none, signal) && signal != SIGHUP)
    _exit(128 + signal);
}

void set_handlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // restart interrupted write() calls
  for (const int signal : stopping) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    // Do not change an ignored signal (nohup).
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

}  // namespace

StopSignals::StopSignals() {
  received_signal = 0;
  set_handlers(request_stop);
}

StopSignals::~StopSignals() { set_handlers(SIG_DFL); }

int StopSignals::stop_signal() const { return received_signal; }

bool StopSignals::stop_requested() { return received_signal != 0; }

void StopSignals::ignore_broken_pipe() const { std::signal(SIGPIPE, SIG_IGN); }

void StopSignals::end_by_signal() const {
  const int number = received_signal;
  set_handlers(SIG_DFL);
  std::fflush(nullptr);
  raise(number);
  _exit(128 + number);  // in case the signal is blocked
}

}  // namespace fledge::train
