// A real Chromium without a window, driven over its debugging pipe.
//
// The protocol is the Chrome DevTools Protocol: JSON messages, each followed by a NUL. The browser
// reads commands from its file descriptor 3 and writes answers and events to 4. Its profile is a
// temporary folder. The destructor ends the browser, also when a test throws.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "nn/io/json.h"
#include "tests/support/folder.h"
#include "tests/support/json_reader.h"

namespace testing {

/// The browser's program: the environment variable CHROMIUM, or chromium, chromium-browser or
/// google-chrome along PATH. "" if there is none.
std::string chromium_program();

class Chromium {
 public:
  using Params = fledge::Json::Members;

  /// Starts the browser with one empty page. Throws std::runtime_error when it does not start.
  Chromium();
  ~Chromium();
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;

  /// Sends a command and waits for its result. Throws std::runtime_error when the browser answers
  /// with an error, ends, or needs more than `seconds`.
  StrictJson call(std::string_view method, const Params& params = {}, double seconds = 60);

  /// Loads a file and waits until its load event. `fragment` is the part of the address after "#".
  /// Returns the seconds that this took. Forgets earlier messages and requests.
  double open(const std::string& path, const std::string& fragment = "");

  /// The value of an expression. A promise is awaited. Throws when the expression throws.
  StrictJson evaluate(const std::string& script);
  bool is_true(const std::string& script) { return evaluate(script).boolean(); }
  std::string text(const std::string& script) { return evaluate(script).string(); }
  double number(const std::string& script) { return evaluate(script).number(); }
  /// The text of the first element of a CSS selector; throws when there is none.
  std::string text_of(const std::string& selector) {
    return text("document.querySelector(" + fledge::Json(selector).text() + ").textContent");
  }
  void wait(int milliseconds) {
    evaluate("new Promise((done) => setTimeout(done, " + std::to_string(milliseconds) + "))");
  }

  /// Presses and releases a key by its DOM name: "Tab", "Enter", "ArrowLeft", "Escape", "a".
  void press(const std::string& key, bool with_shift = false);
  /// The features of media queries, such as {{"prefers-color-scheme", "dark"}}; type "print" or "".
  void media(const std::vector<std::pair<std::string, std::string>>& features,
             const std::string& type = "");

  /// Since the page was opened: events of the console and of the browser's log, exceptions, and
  /// issues (of Content-Security-Policy, for example), as JSON, a line each; the addresses of all
  /// requests.
  std::string messages();
  const std::vector<std::string>& requests();

 private:
  std::string read_message(double deadline);
  void note_event(const std::string& message);
  double load(const std::string& address);

  Folder profile_;
  pid_t process_ = 0;
  int commands_ = -1, answers_ = -1;
  std::string bytes_;  // what is read and is not yet a whole message
  std::string session_, messages_;
  int last_id_ = 0;
  bool is_loaded_ = false;
  std::vector<std::string> requests_;
};

}  // namespace testing
