// A real Firefox without a window: the page opens, trains, and the console has no error. Driven by
// Marionette: JSON over a socket, each message behind its length.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/page/browser/pages.h"
#include "tests/support/skipped.h"

namespace testing {

namespace {

class Firefox {
 public:
  explicit Firefox(const std::string& program)
      : process_({program, "--headless", "--no-remote", "--marionette",
                  "--remote-allow-system-access", "--profile", profile_.path(), "about:blank"},
                 profile_ / "log") {
    for (int i = 0; i < 1200 && port_ == 0; ++i) {
      usleep(100'000);
      std::ifstream(profile_ / "MarionetteActivePort") >> port_;
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("firefox: it does not listen: " + text_of(profile_ / "log"));
    message();
    call("WebDriver:NewSession", {});
  }
  ~Firefox() { close(socket_); }
  Firefox(const Firefox&) = delete;
  Firefox& operator=(const Firefox&) = delete;

  StrictJson call(const std::string& command, const fledge::Json::Members& params) {
    const std::string text = fledge::Json(std::vector<fledge::Json>{0, ++last_id_, command,
                                                                    fledge::Json::object(params)})
                                 .text(),
                      bytes = std::to_string(text.size()) + ":" + text;
    if (write(socket_, bytes.data(), bytes.size()) != std::ssize(bytes))
      throw std::runtime_error("firefox: it has ended");
    const StrictJson answer = strict_json(message());  // [1, id, error, result]
    if (!answer[2].is_null())
      throw std::runtime_error(command + ": " + answer[2]["message"].string());
    return answer[3];
  }
  /// What a script returns: in the page, or in the browser itself.
  StrictJson evaluate(const std::string& script, const char* context = "content") {
    call("Marionette:SetContext", {{"value", context}});
    return call("WebDriver:ExecuteScript",
                {{"script", script}, {"args", std::vector<int>{}}, {"sandbox", nullptr}})["value"];
  }
  void until(const std::string& condition) {
    for (int i = 0; i < 1200; ++i, usleep(100'000))
      if (evaluate("return Boolean(" + condition + ")").boolean()) return;
    throw std::runtime_error("it never became true: " + condition);
  }

 private:
  std::string message() {
    const auto get = [&](std::size_t count) {
      std::string bytes(count, '\0');
      for (std::size_t at = 0; at < count;) {
        const ssize_t some = read(socket_, bytes.data() + at, count - at);
        if (some <= 0) throw std::runtime_error("firefox: it has ended");
        at += static_cast<std::size_t>(some);
      }
      return bytes;
    };
    std::string size;
    for (std::string digit; (digit = get(1)) != ":";) size += digit;
    return get(std::stoul(size));
  }

  struct Profile : Folder {
    Profile() { write_file(*this / "user.js", "user_pref('marionette.port', 0);\n"); }
  };
  Profile profile_;
  BrowserProcess process_;
  std::uint16_t port_ = 0;
  int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), last_id_ = 0;
};

}  // namespace

TEST_CASE("page firefox: it opens, trains, and there is no error") {
  const std::string program = program_along_path("FIREFOX", "firefox-esr firefox");
  if (program.empty()) return report_skipped("no firefox-esr or firefox was found");
  Firefox browser(program);
  for (const std::string& path : {birds_page(), poem_page()}) {
    INFO(path);
    browser.call("WebDriver:Navigate", {{"url", "file://" + path}});
    browser.until("document.querySelector('#go') && document.querySelector('#next li')");
    browser.evaluate("document.querySelector('#go').click()");
    browser.until("/step (\\d+) of \\1$/.test(document.querySelector('#step').textContent)");
    browser.until("document.querySelector('#go').textContent !== 'Pause'");
    if (path == birds_page())
      CHECK_THAT(browser.evaluate("return document.querySelector('#say').textContent").string(),
                 ContainsSubstring("slowly"));
    CHECK(browser.evaluate("return window.fledgeErrors.join()").string() == "");
  }
  const std::string messages =
      "return Services.console.getMessageArray().map(String)"
      ".filter((text) => /file:\\/|blob:/.test(text)).join('\\n')";
  CHECK(browser.evaluate(messages, "chrome").string() == "");
}

}  // namespace testing
