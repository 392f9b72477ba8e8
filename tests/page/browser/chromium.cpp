#include "tests/page/browser/chromium.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace testing {

namespace {

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
  process_ = std::make_unique<BrowserProcess>(program, profile_ / "profile", profile_ / "log");
  attach();
}

Chromium::~Chromium() {
  try {
    send("Browser.close", {}, 5);
  } catch (const std::exception&) {  // the process is killed
  }
}

void Chromium::attach() {
  std::string target;
  for (const double limit = clock_seconds() + 30; target.empty() && clock_seconds() < limit;
       sleep_for(0.05)) {
    const StrictJson targets = send("Target.getTargets", {}, 60);
    for (const StrictJson& info : targets["targetInfos"].array())
      if (info["type"].string() == "page") target = info["targetId"].string();
  }
  if (target.empty()) throw std::runtime_error("chromium: it has no page\n" + process_->log());
  session_ =
      send("Target.attachToTarget", {{"targetId", target}, {"flatten", true}}, 30)["sessionId"]
          .string();
  for (const char* domain : {"Page", "Runtime", "Log", "Network", "Audits"})
    call(std::string(domain) + ".enable");
}

StrictJson Chromium::call(std::string_view method, const Params& params, double seconds) {
  return send(method, params, seconds);
}

StrictJson Chromium::send(std::string_view method, const Params& params, double seconds) {
  const int id = ++last_id_;
  Params members{{"id", id}, {"method", method}, {"params", fledge::Json::object(params)}};
  if (!session_.empty() && !method.starts_with("Browser."))
    members.emplace_back("sessionId", session_);
  process_->write_message(fledge::Json::object(members).text());
  const double deadline = clock_seconds() + seconds;
  for (;;) {
    const StrictJson message = strict_json(process_->read_message(deadline));
    if (!message.contains("id")) {
      note_event(message);
    } else if (message["id"].number() == id) {
      if (message.contains("error"))
        throw std::runtime_error(std::string(method) + ": " + message["error"]["message"].string());
      return message["result"];
    }
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
  const double begin = clock_seconds();
  const StrictJson result = call("Page.navigate", {{"url", address}});
  if (result.contains("errorText"))
    throw std::runtime_error("open " + address + ": " + result["errorText"].string());
  while (!is_loaded_) note_event(strict_json(process_->read_message(begin + 60)));
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
