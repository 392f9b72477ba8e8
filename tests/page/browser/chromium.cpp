#include "tests/page/browser/chromium.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <thread>

#include "tests/support/process.h"

extern char** environ;  // NOLINT: POSIX leaves it to the program, glibc declares it as well

namespace testing {

namespace {

double clock_seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string program_along_path(const char* variable, const std::string& names) {
  if (const char* chosen = std::getenv(variable)) return chosen;
  const std::string found =
      run({"sh", "-c", "for name in " + names + "; do command -v $name && break; done"}).out;
  return found.substr(0, found.find('\n'));
}

BrowserProcess::BrowserProcess(std::vector<std::string> words, const std::string& log) {
  std::signal(SIGPIPE, SIG_IGN);  // a browser that has ended is an error of write()
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
    throw std::runtime_error("browser: pipe failed");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_adddup2(&files, to[0], 3);  // to[0] < to[1] < from[0] < from[1]
  posix_spawn_file_actions_adddup2(&files, from[1], 4);
  posix_spawnattr_t group;  // of its own, which can be ended as a whole
  posix_spawnattr_init(&group);
  posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
  if (posix_spawn(&process, argv[0], &files, &group, argv.data(), environ) != 0)
    throw std::runtime_error("browser: cannot start " + words[0]);
  close(to[0]);
  close(from[1]);
  commands = to[1];
  answers = from[0];
}

BrowserProcess::~BrowserProcess() {
  kill(process, SIGTERM);
  close(commands);
  close(answers);
  int ended = 0;
  for (int i = 0; i < 250 && ended == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended = waitpid(process, nullptr, WNOHANG);
  }
  kill(-process, SIGKILL);  // what is left of the group
  if (ended == 0) waitpid(process, nullptr, 0);
}

Chromium::Chromium()
    : process_(
          {program_along_path("CHROMIUM",
                              "chromium-headless-shell chromium chromium-browser google-chrome"),
           "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
           "--no-first-run", "--disable-background-networking", "--disable-component-update",
           "--disable-extensions", "--hide-scrollbars",
           "--disable-ipc-flooding-protection",  // of addresses that change often
           "--remote-debugging-pipe", "--user-data-dir=" + (profile_ / "profile"), "about:blank"},
          profile_ / "log") {
  std::string target;
  for (int i = 0; i < 1000 && target.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const StrictJson targets = call("Target.getTargets");
    for (const StrictJson& info : targets["targetInfos"].array())
      if (info["type"].string() == "page") target = info["targetId"].string();
  }
  session_ = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}})["sessionId"]
                 .string();
  for (const char* domain : {"Page", "Runtime", "Log", "Network", "Audits"})
    call(std::string(domain) + ".enable");
  media({});
  call("Target.setAutoAttach",
       {{"autoAttach", true}, {"waitForDebuggerOnStart", false}, {"flatten", true}});
}

int Chromium::send(const std::string& session, std::string_view method, const Params& params) {
  const int id = ++last_id_;
  Params members{{"id", id}, {"method", method}, {"params", fledge::Json::object(params)}};
  if (!session.empty() && !method.starts_with("Browser."))
    members.emplace_back("sessionId", session);
  const std::string command = fledge::Json::object(members).text() + '\0';
  for (std::size_t at = 0; at < command.size();) {
    const ssize_t count = write(process_.commands, command.data() + at, command.size() - at);
    if (count < 0 && errno != EINTR) throw std::runtime_error("chromium: it has ended");
    at += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return id;
}

StrictJson Chromium::call(std::string_view method, const Params& params, double seconds,
                          const std::string& session) {
  const int id = send(session.empty() ? session_ : session, method, params);
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
    pollfd ready{process_.answers, POLLIN, 0};
    const double left = deadline - clock_seconds();
    if (left <= 0) throw std::runtime_error("chromium: no answer in time");
    if (poll(&ready, 1, static_cast<int>(left * 1000) + 1) <= 0) continue;
    char block[1 << 16];
    const ssize_t count = read(process_.answers, block, sizeof block);
    if (count == 0) throw std::runtime_error("chromium: it has ended");
    if (count > 0) bytes_.append(block, static_cast<std::size_t>(count));
  }
}

void Chromium::note_event(const std::string& message) {
  const StrictJson event = strict_json(message);
  const std::string& method = event["method"].string();
  const StrictJson& params = event["params"];
  if (method == "Page.loadEventFired") is_loaded_ = true;
  if (method == "Network.requestWillBeSent") requests_.push_back(params["request"]["url"].string());
  if (method == "Target.attachedToTarget" && params["targetInfo"]["type"].string() == "worker") {
    workers_.push_back(params["sessionId"].string());
    for (const char* domain : {"Runtime.enable", "Log.enable"}) send(workers_.back(), domain, {});
  }
  if (method == "Target.detachedFromTarget") std::erase(workers_, params["sessionId"].string());
  for (const char* noted : {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
                            "Audits.issueAdded"})
    // An empty id is advice for a browser that fills in addresses. Nothing of a page is sent.
    if (method == noted && message.find("FormEmptyIdAndName") == message.npos)
      messages_ += message + "\n";
}

void Chromium::open(const std::string& path, const std::string& fragment) {
  const std::string file = "file://" + std::filesystem::absolute(path).string();
  // A change of the fragment alone would not load the file again.
  for (const std::string& address : {std::string("about:blank"), file + fragment}) {
    is_loaded_ = false;
    messages_.clear();
    requests_.clear();
    call("Page.navigate", {{"url", address}});
    while (!is_loaded_) note_event(read_message(clock_seconds() + 60));
  }
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

void Chromium::until(const std::string& script, double seconds) {
  for (const double limit = clock_seconds() + seconds; !is_true(script); wait(20))
    if (clock_seconds() > limit) throw std::runtime_error("it never became true: " + script);
}

void Chromium::press(const std::string& key) {
  static const std::map<std::string, int> codes{
      {"Tab", 9},   {"Enter", 13},     {"Escape", 27},  {" ", 32},          {"End", 35},
      {"Home", 36}, {"ArrowLeft", 37}, {"ArrowUp", 38}, {"ArrowRight", 39}, {"ArrowDown", 40}};
  Params params{{"key", key},
                {"code", key == " "       ? "Space"
                         : key.size() > 1 ? key
                                          : ""},
                {"windowsVirtualKeyCode", codes.contains(key) ? codes.at(key) : 0},
                {"type", "keyUp"}};
  Params down = params;
  down.back().second = "keyDown";
  if (key == "Enter" || key.size() == 1) down.emplace_back("text", key == "Enter" ? "\r" : key);
  for (const Params& half : {down, params}) call("Input.dispatchKeyEvent", half);
}

std::pair<double, double> Chromium::middle_of(const std::string& selector) {
  const StrictJson at = evaluate("(() => { const node = document.querySelector(`" + selector +
                                 "`); node.scrollIntoView({block: 'center', behavior: 'instant'}); "
                                 "const {x, y, width, height} = node.getBoundingClientRect(); "
                                 "return [x + width / 2, y + height / 2]; })()");
  return {at[0].number(), at[1].number()};
}

void Chromium::drag(const std::string& selector, double right, double down) {
  const auto from = middle_of(selector);
  const auto mouse = [&](const char* type, double share, int buttons) {
    call("Input.dispatchMouseEvent", {{"type", type},
                                      {"x", from.first + share * right},
                                      {"y", from.second + share * down},
                                      {"button", "left"},
                                      {"buttons", buttons},
                                      {"clickCount", 1}});
  };
  mouse("mousePressed", 0, 1);
  for (const double share : {0.25, 0.5, 0.75, 1.0}) mouse("mouseMoved", share, 1);
  mouse("mouseReleased", 1, 0);
}

void Chromium::tap(const std::string& selector) {
  const auto [x, y] = middle_of(selector);
  std::vector<fledge::Json> fingers{fledge::Json::object({{"x", x}, {"y", y}})};
  for (const char* type : {"touchStart", "touchEnd"}) {
    call("Input.dispatchTouchEvent", {{"type", type}, {"touchPoints", fingers}});
    fingers.clear();
  }
}

void Chromium::drop(const std::string& selector, const std::string& path) {
  const auto [x, y] = middle_of(selector);
  const fledge::Json data = fledge::Json::object({{"items", std::vector<int>{}},
                                                  {"files", std::vector<std::string>{path}},
                                                  {"dragOperationsMask", 1}});
  for (const char* type : {"dragEnter", "dragOver", "drop"})
    call("Input.dispatchDragEvent", {{"type", type}, {"x", x}, {"y", y}, {"data", data}});
}

void Chromium::window(int width, int height) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void Chromium::media(const std::vector<std::pair<std::string, std::string>>& features,
                     const std::string& type) {
  std::vector<fledge::Json> list;
  bool is_calm = true;
  for (const auto& [name, value] : features) {
    list.push_back(fledge::Json::object({{"name", name}, {"value", value}}));
    is_calm = is_calm && name != "prefers-reduced-motion";
  }
  if (is_calm)
    list.push_back(fledge::Json::object({{"name", "prefers-reduced-motion"}, {"value", "reduce"}}));
  call("Emulation.setEmulatedMedia", {{"media", type}, {"features", list}});
}

std::string Chromium::messages() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  evaluate("0");  // and with its answer, the events before it
  return messages_;
}

std::vector<double> Chromium::memory() {
  wait(300);  // for workers that are ending
  std::vector<double> bytes;
  std::vector<std::string> sessions = workers_;
  sessions.insert(sessions.begin(), session_);
  for (const std::string& session : sessions) {
    call("HeapProfiler.collectGarbage", {}, 60, session);
    const StrictJson usage = call("Runtime.getHeapUsage", {}, 60, session);
    bytes.push_back(usage["usedSize"].number() + usage["backingStorageSize"].number());
  }
  return bytes;
}

}  // namespace testing
