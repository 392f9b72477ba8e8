// The part of Chromium that acts as a reader does: keys, sizes, colours, printing.
#include <fstream>
#include <map>
#include <stdexcept>

#include "examples/page/base64.h"
#include "tests/page/browser/chromium.h"

namespace testing {

std::string Chromium::text_of(const std::string& selector) {
  return text("document.querySelector(" + fledge::Json(selector).text() + ").textContent");
}

bool Chromium::wait_until(const std::string& condition, double seconds) {
  return is_true("(async () => { const end = performance.now() + " +
                 std::to_string(1000 * seconds) + ";\nfor (;;) { const met = Boolean(" + condition +
                 ");\n  if (met || performance.now() > end) return met;\n"
                 "  await new Promise((done) => setTimeout(done, 20)); } })()");
}

void Chromium::press(const std::string& key, bool with_shift) {
  static const std::map<std::string, int> codes{
      {"Tab", 9},   {"Enter", 13},     {"Escape", 27},  {" ", 32},          {"End", 35},
      {"Home", 36}, {"ArrowLeft", 37}, {"ArrowUp", 38}, {"ArrowRight", 39}, {"ArrowDown", 40}};
  const auto known = codes.find(key);
  const int code = known != codes.end() ? known->second : 0;
  Params params{{"type", "keyDown"},
                {"key", key},
                {"code", key == " "       ? "Space"
                         : key.size() > 1 ? key
                                          : ""},
                {"windowsVirtualKeyCode", code},
                {"modifiers", with_shift ? 8 : 0}};
  if (key == "Enter") params.emplace_back("text", "\r");
  if (key.size() == 1) params.emplace_back("text", key);
  call("Input.dispatchKeyEvent", params);
  params[0].second = "keyUp";
  if (params.back().first == "text") params.pop_back();
  call("Input.dispatchKeyEvent", params);
}

void Chromium::size(int width, int height) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void Chromium::media(const std::vector<std::pair<std::string, std::string>>& features,
                     const std::string& type) {
  std::vector<fledge::Json> list;
  for (const auto& [name, value] : features)
    list.push_back(fledge::Json::object({{"name", name}, {"value", value}}));
  call("Emulation.setEmulatedMedia", {{"media", type}, {"features", list}});
}

void Chromium::go_offline() {
  call("Network.emulateNetworkConditions",
       {{"offline", true}, {"latency", 0}, {"downloadThroughput", 0}, {"uploadThroughput", 0}});
}

void Chromium::disable_script() { call("Emulation.setScriptExecutionDisabled", {{"value", true}}); }

void Chromium::download_into(const std::string& folder) {
  call("Browser.setDownloadBehavior", {{"behavior", "allow"}, {"downloadPath", folder}});
}

void Chromium::screenshot(const std::string& path) {
  const StrictJson result =
      call("Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", true}}, 60);
  std::ofstream file(path, std::ios::binary);
  file << fledge::page::base64_decoded(result["data"].string());
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string Chromium::pdf() {
  const StrictJson result =
      call("Page.printToPDF",
           {{"paperWidth", 8.27}, {"paperHeight", 11.69}, {"printBackground", true}}, 60);
  return fledge::page::base64_decoded(result["data"].string());
}

std::vector<StrictJson> Chromium::accessibility() {
  call("Accessibility.enable");
  const StrictJson tree = call("Accessibility.getFullAXTree", {}, 60);
  std::vector<StrictJson> nodes;
  for (const StrictJson& node : tree["nodes"].array())
    if (!node["ignored"].boolean()) nodes.push_back(node);
  call("Accessibility.disable");
  return nodes;
}

}  // namespace testing
