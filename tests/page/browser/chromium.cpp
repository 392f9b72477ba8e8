#include "tests/page/browser/chromium.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace testing {

namespace {

double clock_seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

void pause_shortly() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

}  // namespace

std::string chromium_program() {
  if (const char* chosen = std::getenv("CHROMIUM")) return chosen;
  const char* path = std::getenv("PATH");
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
      if (const std::string file = folder + "/" + name; access(file.c_str(), X_OK) == 0)
        return file;
  }
  return "";
}

Chromium::Chromium() {
  std::signal(SIGPIPE, SIG_IGN);  // a browser that has ended is an error of write()
  std::vector<std::string> words{
      chromium_program(),
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-extensions",
      "--hide-scrollbars",
      "--disable-ipc-flooding-protection",  // of addresses that change often
      "--remote-debugging-pipe",
      "--user-data-dir=" + (profile_ / "profile"),
      "about:blank"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string log = profile_ / "log";
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
    throw std::runtime_error("chromium: pipe failed");
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("chromium: fork failed");
  if (process_ == 0) {
    setpgid(0, 0);  // a group of its own, which can be ended as a whole
    const int commands = fcntl(to[0], F_DUPFD, 10), answers = fcntl(from[1], F_DUPFD, 10);
    dup2(commands, 3);
    dup2(answers, 4);
    dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(::open(log.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    close(commands);
    close(answers);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  commands_ = to[1];
  answers_ = from[0];

  std::string target;
  for (const double limit = clock_seconds() + 30; target.empty(); pause_shortly()) {
    if (clock_seconds() > limit) throw std::runtime_error("chromium: it has no page");
    const StrictJson targets = call("Target.getTargets");
    for (const StrictJson& info : targets["targetInfos"].array())
      if (info["type"].string() == "page") target = info["targetId"].string();
  }
  session_ = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}})["sessionId"]
                 .string();
  for (const char* domain : {"Page", "Runtime", "Log", "Network", "Audits"})
    call(std::string(domain) + ".enable");
}

Chromium::~Chromium() {
  try {
    call("Browser.close", {}, 5);
  } catch (const std::exception&) {  // the process is killed
  }
  close(commands_);
  close(answers_);
  int ended = 0;
  for (const double limit = clock_seconds() + 5; ended == 0 && clock_seconds() < limit;
       pause_shortly())
    ended = waitpid(process_, nullptr, WNOHANG);
  kill(-process_, SIGKILL);  // what is left of the group
  if (ended == 0) waitpid(process_, nullptr, 0);
}

StrictJson Chromium::call(std::string_view method, const Params& params, double seconds) {
  const int id = ++last_id_;
  Params members{{"id", id}, {"method", method}, {"params", fledge::Json::object(params)}};
  if (!session_.empty() && !method.starts_with("Browser."))
    members.emplace_back("sessionId", session_);
  const std::string command = fledge::Json::object(members).text() + '\0';
  for (std::size_t at = 0; at < command.size();) {
    const ssize_t count = write(commands_, command.data() + at, command.size() - at);
    if (count < 0 && errno != EINTR) throw std::runtime_error("chromium: it has ended");
    at += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  for (const double deadline = clock_seconds() + seconds;;) {
    const std::string text = read_message(deadline);
    const StrictJson message = strict_json(text);
    if (!message.contains("id")) {
      note_event(text);
    } else if (message["id"].number() == id) {
      if (message.contains("error"))
        throw std::runtime_error(std::string(method) + ": " + message["error"]["message"].string());
      return message["result"];
    }
  }
}

std::string Chromium::read_message(double deadline) {
  for (std::size_t searched = 0;;) {
    if (const std::size_t end = bytes_.find('\0', searched); end != bytes_.npos) {
      std::string text = bytes_.substr(0, end);
      bytes_.erase(0, end + 1);
      return text;
    }
    searched = bytes_.size();
    pollfd ready{answers_, POLLIN, 0};
    const double left = deadline - clock_seconds();
    if (left <= 0) throw std::runtime_error("chromium: no answer in time");
    if (poll(&ready, 1, static_cast<int>(left * 1000) + 1) <= 0) continue;
    char block[1 << 16];
    const ssize_t count = read(answers_, block, sizeof block);
    if (count == 0) throw std::runtime_error("chromium: it has ended");
    if (count > 0) bytes_.append(block, static_cast<std::size_t>(count));
  }
}

void Chromium::note_event(const std::string& message) {
  const StrictJson event = strict_json(message);
  const std::string& method = event["method"].string();
  if (method == "Page.loadEventFired") is_loaded_ = true;
  if (method == "Network.requestWillBeSent")
    requests_.push_back(event["params"]["request"]["url"].string());
  for (const char* noted : {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
                            "Audits.issueAdded"})
    // An empty id is advice for a browser that fills in addresses. Nothing of a page is sent.
    if (method == noted && message.find("FormEmptyIdAndName") == message.npos)
      messages_ += message + "\n";
}

double Chromium::load(const std::string& address) {
  is_loaded_ = false;
  const double begin = clock_seconds();
  const StrictJson result = call("Page.navigate", {{"url", address}});
  if (result.contains("errorText"))
    throw std::runtime_error("open " + address + ": " + result["errorText"].string());
  while (!is_loaded_) note_event(read_message(begin + 60));
  return clock_seconds() - begin;
}

double Chromium::open(const std::string& path, const std::string& fragment) {
  load("about:blank");  // a change of the fragment alone would not load the file again
  messages_.clear();
  requests_.clear();
  const std::string address = "file://" + std::filesystem::absolute(path).string();
  return load(fragment.empty() ? address : address + "#" + fragment);
}

StrictJson Chromium::evaluate(const std::string& script) {
  const StrictJson answer = call("Runtime.evaluate", {{"expression", script},
                                                      {"returnByValue", true},
                                                      {"awaitPromise", true},
                                                      {"userGesture", true}});
  if (answer.contains("exceptionDetails")) {
    const StrictJson& details = answer["exceptionDetails"];
    throw std::runtime_error(
        "evaluate(" + script.substr(0, 200) + "): " +
        (details.contains("exception") && details["exception"].contains("description")
             ? details["exception"]["description"]
             : details["text"])
            .string());
  }
  const StrictJson& result = answer["result"];
  return result.contains("value") ? result["value"] : StrictJson(nullptr);
}

void Chromium::press(const std::string& key, bool with_shift) {
  static const std::map<std::string, int> codes{
      {"Tab", 9},   {"Enter", 13},     {"Escape", 27},  {" ", 32},          {"End", 35},
      {"Home", 36}, {"ArrowLeft", 37}, {"ArrowUp", 38}, {"ArrowRight", 39}, {"ArrowDown", 40}};
  Params params{{"key", key},
                {"code", key == " "       ? "Space"
                         : key.size() > 1 ? key
                                          : ""},
                {"windowsVirtualKeyCode", codes.contains(key) ? codes.at(key) : 0},
                {"modifiers", with_shift ? 8 : 0},
                {"type", "keyUp"}};
  Params down = params;
  down.back().second = "keyDown";
  if (key == "Enter") down.emplace_back("text", "\r");
  if (key.size() == 1) down.emplace_back("text", key);
  for (const Params& half : {down, params}) call("Input.dispatchKeyEvent", half);
}

void Chromium::media(const std::vector<std::pair<std::string, std::string>>& features,
                     const std::string& type) {
  std::vector<fledge::Json> list;
  for (const auto& [name, value] : features)
    list.push_back(fledge::Json::object({{"name", name}, {"value", value}}));
  call("Emulation.setEmulatedMedia", {{"media", type}, {"features", list}});
}

std::string Chromium::messages() {
  wait(50);  // for events that are under way
  return messages_;
}

const std::vector<std::string>& Chromium::requests() {
  evaluate("0");
  return requests_;
}

}  // namespace testing
