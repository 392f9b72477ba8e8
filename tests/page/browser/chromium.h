// A real Chromium without a window, driven over its debugging pipe.
//
// The protocol is the Chrome DevTools Protocol: JSON messages, each followed by a NUL. The browser
// reads commands from its file descriptor 3 and writes answers and events to 4. Its profile is a
// temporary folder. The destructor ends the browser, also when a test throws.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/io/json.h"
#include "tests/support/folder.h"
#include "tests/support/json_reader.h"

namespace testing {

/// The value of an environment variable, or the first of these programs along PATH; "" if none is.
std::string program_along_path(const char* variable, const std::string& names);

/// A program in a group of processes of its own, which ends with this object. It reads what is
/// written to `commands`, and `answers` has what it writes, as its file descriptors 3 and 4.
struct BrowserProcess {
  BrowserProcess(std::vector<std::string> argv, const std::string& log);
  ~BrowserProcess();
  BrowserProcess(const BrowserProcess&) = delete;
  BrowserProcess& operator=(const BrowserProcess&) = delete;

  int commands, answers;
  pid_t process;
};

class Chromium {
 public:
  using Params = fledge::Json::Members;

  /// Starts the browser with one empty page. Throws std::runtime_error when it does not start.
  Chromium();

  /// Sends a command and waits for its result; to a worker of the page if its session is given.
  /// Throws std::runtime_error when the browser answers with an error, ends, or needs more than
  /// `seconds`.
  StrictJson call(std::string_view method, const Params& params = {}, double seconds = 60,
                  const std::string& session = "");

  /// Loads a file and waits until its load event. `fragment`: the part of the address from "#" on.
  /// Forgets earlier messages and requests.
  void open(const std::string& path, const std::string& fragment = "");

  /// The value of an expression. A promise is awaited. Throws when the expression throws.
  StrictJson evaluate(const std::string& script);
  bool is_true(const std::string& script) { return evaluate("Boolean(" + script + ")").boolean(); }
  std::string text(const std::string& script) { return evaluate(script).string(); }
  double number(const std::string& script) { return evaluate(script).number(); }
  void wait(int milliseconds) {
    evaluate("new Promise((done) => setTimeout(done, " + std::to_string(milliseconds) + "))");
  }
  /// Waits until an expression is true. Throws std::runtime_error after `seconds`.
  void until(const std::string& script, double seconds = 120);

  /// Presses and releases a key by its DOM name: "Tab", "Enter", "ArrowLeft", "Escape", "a".
  void press(const std::string& key);
  /// Presses the button of the mouse in the middle of the first element of a CSS selector, which is
  /// scrolled into view, and releases it so many pixels to the right and below.
  void drag(const std::string& selector, double right, double down);
  /// Taps there with a finger.
  void tap(const std::string& selector);
  /// Drops a file there, as from a window of the system.
  void drop(const std::string& selector, const std::string& path);
  /// The size of the window in pixels.
  void window(int width, int height);
  /// The features of media queries, such as {{"prefers-color-scheme", "dark"}}; type "print" or "".
  /// Motion is little unless "prefers-reduced-motion" is given: it draws whole pages 60 times a second.
  void media(const std::vector<std::pair<std::string, std::string>>& features,
             const std::string& type = "");

  /// Since the page was opened: events of the console and of the browser's log, exceptions, and
  /// issues (of Content-Security-Policy, for example), of the page and of its workers, as JSON, a
  /// line each; then the addresses of all requests.
  std::string messages();
  const std::vector<std::string>& requests() const { return requests_; }
  /// The bytes of all objects and buffers after a collection: of the page, then of each worker.
  std::vector<double> memory();

 private:
  int send(const std::string& session, std::string_view method, const Params& params);
  std::string read_message(double deadline);
  void note_event(const std::string& message);
  std::pair<double, double> middle_of(const std::string& selector);

  Folder profile_;
  BrowserProcess process_;
  std::string bytes_;  // what is read and is not yet a whole message
  std::string session_, messages_;
  int last_id_ = 0;
  bool is_loaded_ = false;
  std::vector<std::string> requests_, workers_;  // workers: the sessions of those that run
};

}  // namespace testing
