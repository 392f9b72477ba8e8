#include "tests/page/browser/chromium.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;  // NOLINT: POSIX leaves it to the program, glibc declares it as well

namespace testing {

namespace {

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

void pause_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// A pipe whose ends have numbers from 10 up: 3 and 4 are the browser's.
struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("chromium: pipe failed");
    reader = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    writer = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[0]);
    close(ends[1]);
  }
  int reader, writer;
};

/// What a message of the console says: the values or descriptions of its arguments.
std::string console_text(const StrictJson& params) {
  std::string text = "console." + params["type"].string() + ":";
  for (const StrictJson& argument : params["args"].array())
    for (const char* key : {"value", "description"})
      if (argument.contains(key)) {
        const auto& value = argument[key];
        text += " ";
        try {
          text += value.string();
        } catch (const JsonError&) {
          text += "(not a text)";
        }
        break;
      }
  return text;
}

std::string exception_text(const StrictJson& details) {
  const StrictJson* exception = details.contains("exception") ? &details["exception"] : nullptr;
  if (exception && exception->contains("description")) return (*exception)["description"].string();
  return details["text"].string();
}

/// The code of an issue, and which one of this code it is.
std::string issue_text(const StrictJson& issue) {
  std::string text = issue["code"].string();
  for (const auto& [name, details] : issue["details"].object())
    for (const char* key : {"errorType", "contentSecurityPolicyViolationType"})
      if (details.contains(key)) text += " " + details[key].string();
  return text;
}

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
  const std::string program = chromium_program();
  if (program.empty()) throw std::runtime_error("chromium: no program was found");
  std::signal(SIGPIPE, SIG_IGN);  // a browser that has ended is an error of write()
  start(program);
  try {
    attach();
  } catch (...) {
    kill(-process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    throw;
  }
}

void Chromium::start(const std::string& program) {
  const Pipe to_browser, from_browser;
  commands_ = to_browser.writer;
  answers_ = from_browser.reader;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_browser.reader, 3);
  posix_spawn_file_actions_adddup2(&actions, from_browser.writer, 4);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  const std::string log = profile_ / "log";
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;  // a process group of its own, which can be ended as a whole
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> words{program,
                                 "--headless=new",
                                 "--no-sandbox",
                                 "--disable-gpu",
                                 "--disable-dev-shm-usage",
                                 "--no-first-run",
                                 "--disable-background-networking",
                                 "--disable-component-update",
                                 "--disable-extensions",
                                 "--hide-scrollbars",
                                 "--remote-debugging-pipe",
                                 "--user-data-dir=" + profile_ / "profile",
                                 "about:blank"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int error =
      posix_spawnp(&process_, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(to_browser.reader);
  close(from_browser.writer);
  if (error != 0) {
    close(commands_);
    close(answers_);
    throw std::runtime_error("chromium: cannot start " + program);
  }
}

void Chromium::attach() {
  std::string target;
  for (const double limit = now() + 30; target.empty() && now() < limit; pause_for(0.05)) {
    const StrictJson targets = send("Target.getTargets", {}, 60);
    for (const StrictJson& info : targets["targetInfos"].array())
      if (info["type"].string() == "page") target = info["targetId"].string();
  }
  if (target.empty()) throw std::runtime_error("chromium: it has no page\n" + browser_log());
  session_ =
      send("Target.attachToTarget", {{"targetId", target}, {"flatten", true}}, 30)["sessionId"]
          .string();
  for (const char* domain : {"Page", "Runtime", "Log", "Network", "Audits"})
    call(std::string(domain) + ".enable");
}

Chromium::~Chromium() {
  try {
    send("Browser.close", {}, 5);
  } catch (const std::exception&) {  // it is killed below
  }
  close(commands_);
  close(answers_);
  int ended = 0;
  for (const double limit = now() + 5; ended == 0 && now() < limit; pause_for(0.01))
    ended = waitpid(process_, nullptr, WNOHANG);
  kill(-process_, SIGKILL);  // what is left of the group
  if (ended == 0) waitpid(process_, nullptr, 0);
}

std::string Chromium::browser_log() const {
  std::ifstream file(profile_ / "log", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

StrictJson Chromium::call(std::string_view method, const Params& params, double seconds) {
  return send(method, params, seconds);
}

StrictJson Chromium::send(std::string_view method, const Params& params, double seconds) {
  const int id = ++last_id_;
  Params members{{"id", id}, {"method", method}, {"params", fledge::Json::object(params)}};
  if (!session_.empty() && !method.starts_with("Browser."))
    members.emplace_back("sessionId", session_);
  const std::string text = fledge::Json::object(members).text() + '\0';
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = write(commands_, text.data() + at, text.size() - at);
    if (count < 0 && errno != EINTR)
      throw std::runtime_error("chromium: it has ended\n" + browser_log());
    at += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  const double deadline = now() + seconds;
  for (;;) {
    const StrictJson message = read_message(deadline);
    if (!message.contains("id")) {
      note_event(message);
    } else if (message["id"].number() == id) {
      if (message.contains("error"))
        throw std::runtime_error(std::string(method) + ": " + message["error"]["message"].string());
      return message["result"];
    }
  }
}

StrictJson Chromium::read_message(double deadline) {
  std::size_t searched = 0;
  for (;;) {
    if (const std::size_t end = bytes_.find('\0', searched); end != bytes_.npos) {
      const std::string text = bytes_.substr(0, end);
      bytes_.erase(0, end + 1);
      return strict_json(text);
    }
    searched = bytes_.size();
    pollfd ready{answers_, POLLIN, 0};
    const double left = deadline - now();
    if (left <= 0) throw std::runtime_error("chromium: no answer in time");
    if (poll(&ready, 1, static_cast<int>(left * 1000) + 1) <= 0) continue;
    char block[1 << 16];
    const ssize_t count = read(answers_, block, sizeof block);
    if (count == 0) throw std::runtime_error("chromium: it has ended\n" + browser_log());
    if (count > 0) bytes_.append(block, static_cast<std::size_t>(count));
  }
}

void Chromium::note_event(const StrictJson& event) {
  const std::string& method = event["method"].string();
  const StrictJson& params = event["params"];
  if (method == "Page.loadEventFired") is_loaded_ = true;
  if (method == "Network.requestWillBeSent") requests_.push_back(params["request"]["url"].string());
  if (method == "Runtime.consoleAPICalled") messages_.push_back(console_text(params));
  if (method == "Runtime.exceptionThrown")
    messages_.push_back("exception: " + exception_text(params["exceptionDetails"]));
  if (method == "Log.entryAdded") messages_.push_back("log: " + params["entry"]["text"].string());
  if (method == "Audits.issueAdded") {
    const std::string text = issue_text(params["issue"]);
    // Advice for a browser that fills in addresses and names. Nothing of a page is sent.
    if (!text.ends_with(" FormEmptyIdAndNameAttributesForInputError"))
      messages_.push_back("issue: " + text);
  }
}

double Chromium::load(const std::string& address) {
  is_loaded_ = false;
  const double begin = now();
  const StrictJson result = call("Page.navigate", {{"url", address}});
  if (result.contains("errorText"))
    throw std::runtime_error("open " + address + ": " + result["errorText"].string());
  while (!is_loaded_) note_event(read_message(begin + 60));
  return now() - begin;
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
  if (answer.contains("exceptionDetails"))
    throw std::runtime_error("evaluate(" + script.substr(0, 200) +
                             "): " + exception_text(answer["exceptionDetails"]));
  const StrictJson& result = answer["result"];
  return result.contains("value") ? result["value"] : StrictJson(nullptr);
}

const std::vector<std::string>& Chromium::messages() {
  evaluate("new Promise((done) => setTimeout(done, 50))");  // events that are under way
  return messages_;
}

const std::vector<std::string>& Chromium::requests() {
  evaluate("0");
  return requests_;
}

}  // namespace testing
