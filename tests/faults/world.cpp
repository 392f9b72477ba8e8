#include "tests/faults/world.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fledge::faults {

namespace {

Words operator+(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
Tree operator+(Tree first, const Tree& second) {
  first.insert(second.begin(), second.end());
  return first;
}

// Both have the same shape, so that a mixture of both is not refused for its shape.
const Words small{"-o", "DIR",          "-q", "--layers",     "1", "--heads",
                  "1",  "--batch",      "1",  "--context",    "8", "--width",
                  "8",  "--eval-every", "2",  "--save-every", "0"};
const Words new_run = small + Words{"--steps", "6"};
const Words other_run = small + Words{"--steps", "4", "--seed", "2"};
const Words resumed{"train", "--resume", "DIR", "-q", "--save-every", "0"};

// Files of the user's that look as if fledge had left them behind.
const Tree foreign{
    {".lock", "my notes\n"}, {"notes.txt", "mine\n"}, {"thesis.tmp-999999-1", "draft"}};

// Twelve words in an order that a small generator draws, in small or in large letters.
std::string poems(bool in_capitals) {
  static constexpr const char* words[] = {"the",  "small", "birds", "sometimes", "walk", "over",
                                          "blue", "lake",  "and",   "often",     "fly",  "at"};
  std::string text;
  unsigned draw = 3;
  for (int word = 1; word <= 420; ++word) {
    draw = draw * 1664525u + 1013904223u;
    text += std::string(words[(draw >> 16) % 12]) + (word % 7 == 0 ? "\n" : " ");
  }
  if (in_capitals)
    for (char& c : text)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

// Where the folder cannot be locked there is a file ".lock", which means nothing.
Tree run_tree(const std::string& folder, const Tree& like) {
  Tree tree = read_tree(folder);
  if (!like.contains(".lock")) tree.erase(".lock");
  return tree;
}

std::string shortened(const std::string& text) {
  return text.size() <= 400 ? text : text.substr(0, 400) + "...";
}

}  // namespace

Tree read_tree(const std::string& folder) {
  Tree tree;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_directory()) {
      tree[name + "/"] = "";
    } else {
      std::ifstream file(entry.path(), std::ios::binary);
      tree[name] = {std::istreambuf_iterator<char>(file), {}};
    }
  }
  return tree;
}

void write_tree(const std::string& folder, const Tree& tree) {
  std::filesystem::create_directory(folder);
  for (const auto& [name, bytes] : tree) {  // a folder's name comes before those in it
    const std::string path = folder + "/" + name;
    if (name.ends_with('/')) {
      std::filesystem::create_directory(path);
    } else {
      std::ofstream(path, std::ios::binary) << bytes;
    }
  }
}

std::string difference(const Tree& expected, const Tree& found) {
  for (const auto& [name, bytes] : expected) {
    const auto place = found.find(name);
    if (place == found.end()) return name + " is missing";
    if (place->second == bytes) continue;
    return name + " has other bytes (" + std::to_string(place->second.size()) + " instead of " +
           std::to_string(bytes.size()) + ")";
  }
  for (const auto& entry : found)
    if (!expected.contains(entry.first)) return entry.first + " was left behind";
  return "";
}

void check_ending(const Ending& ending, const std::vector<int>& statuses) {
  const std::string what =
      "exit " + std::to_string(ending.status) + ", stderr: " + shortened(ending.err);
  expect(std::find(statuses.begin(), statuses.end(), ending.status) != statuses.end(), what);
  expect(ending.err.find("terminate called") == std::string::npos, what);
  std::istringstream lines(ending.err);
  int messages = 0;
  for (std::string line; std::getline(lines, line);) messages += line.starts_with("fledge");
  expect(messages <= 1, std::to_string(messages) + " messages: " + what);
  const bool explains = ending.status == 0 || ending.status > 128 || messages == 1;
  expect(explains, "no message: " + what);
}

World::World(std::string program_path, std::string calls_library, std::string root_path)
    : program(std::move(program_path)),
      library(std::move(calls_library)),
      root(std::move(root_path)) {
  std::filesystem::current_path(root);  // a run keeps the name of its text alone
  std::ofstream(root + "/poems.txt") << poems(false);
  std::ofstream(root + "/others.txt") << poems(true);
  const Words begin = Words{"train", root + "/poems.txt"} + new_run;
  const auto undisturbed = [&](const Words& words, const std::string& name) {
    check_ending(run(words, root + "/" + name), {0});
    Tree tree = read_tree(root + "/" + name);
    tree.erase(".lock");
    return tree;
  };
  const Tree finished = undisturbed(begin, "finished");
  const Tree old = undisturbed(Words{"train", root + "/others.txt"} + other_run, "other");
  add({"begin", begin, {}, {finished}});

  // A run that Ctrl-C stopped about half-way.
  const std::size_t half_way = scenarios[0].calls.size() * 6 / 10;
  Process half(with_program(begin, root + "/half"),
               environment(std::to_string(half_way) + ":interrupt", ""));
  const Ending stopped = half.end();
  expect(stopped.status == 130, "Ctrl-C at half-way: exit " + std::to_string(stopped.status));
  Tree half_done = read_tree(root + "/half");
  half_done.erase(".lock");

  add({"resume", resumed, half_done + foreign, {finished + foreign}});
  add({"force", begin + Words{"--force"}, old + foreign, {old + foreign, finished + foreign}});
  const Tree kept = finished + foreign;
  add({"eval", {"eval", "DIR"}, kept, {kept}, false});
  add({"plot", {"plot", "DIR", "--csv"}, kept, {kept}, false});
  add({"generate", {"generate", "DIR", "--tokens-out", "12", "--seed", "1"}, kept, {kept}, false});
}

std::string without_folder(std::string out, const std::string& folder) {
  for (std::size_t at = 0; (at = out.find(folder, at)) != out.npos;)
    out.replace(at, folder.size(), "DIR");
  return out;
}

void World::add(Scenario scenario) {
  const std::string place = root + "/" + scenario.name, log = place + "/calls";
  std::filesystem::create_directory(place);
  set_up(scenario, place);
  const Ending ending = start(scenario, place, "", log).end();
  try {
    check_ending(ending, {0});
    check_finished(scenario, place + "/run");
  } catch (const Broken& error) {
    throw Broken("with no fault at all, " + scenario.name + ": " + error.what());
  }
  scenario.calls = read_calls(log);
  scenario.out = without_folder(ending.out, place + "/run");
  scenarios.push_back(std::move(scenario));
}

const Scenario& World::scenario(const std::string& name) const {
  return *std::find_if(scenarios.begin(), scenarios.end(),
                       [&](const Scenario& one) { return one.name == name; });
}

Words World::environment(const std::string& failure, const std::string& log) const {
  Words variables{"FLEDGE_THREADS=1", "LD_PRELOAD=" + library};
  if (!failure.empty()) variables.push_back("FLEDGE_CALLS_FAIL=" + failure);
  if (!log.empty()) variables.push_back("FLEDGE_CALLS_LOG=" + log);
  return variables;
}

Words World::with_program(Words words, const std::string& folder) const {
  std::replace(words.begin(), words.end(), std::string("DIR"), folder);
  words.insert(words.begin(), program);
  return words;
}

Process World::start(const Scenario& scenario, const std::string& place, const std::string& failure,
                     const std::string& log) const {
  return {with_program(scenario.words, place + "/run"), environment(failure, log)};
}

Ending World::run(Words words, const std::string& folder) const {
  return Process(with_program(std::move(words), folder), environment("", "")).end();
}

void World::set_up(const Scenario& scenario, const std::string& place) {
  if (!scenario.before.empty()) write_tree(place + "/run", scenario.before);
}

void World::check_finished(const Scenario& scenario, const std::string& folder) {
  const Tree& expected = scenario.after.back();
  const std::string found = difference(expected, run_tree(folder, expected));
  expect(found.empty(), "exit 0, but " + found);
}

void World::check_run(const Scenario& scenario, const std::string& folder) const {
  const bool exists = std::filesystem::exists(folder);
  const Tree tree = exists ? read_tree(folder) : Tree{};
  const Ending read = run({"eval", "DIR"}, folder);
  const bool has_run = read.status == 0;
  if (!has_run) {
    check_ending(read, {1, 3});
    expect(scenario.before.empty(), "no run is left: " + shortened(read.err));
    expect(!tree.contains("run.safetensors"),
           "there is a run and eval fails: " + shortened(read.err));
  } else {
    const Ending generated = run({"generate", "DIR", "--tokens-out", "12", "--seed", "1"}, folder);
    expect(generated.status == 0, "eval works and generate fails: " + shortened(generated.err));
    const Ending plot = run({"plot", "DIR"}, folder);
    expect(plot.status == 0 || plot.err.find("has no step of the run") != plot.err.npos,
           "eval works and plot fails: " + shortened(plot.err));
  }
  Ending ending = run(has_run || !scenario.before.empty() ? resumed : scenario.words, folder);
  if (ending.status != 0 && !has_run) ending = run(resumed, folder);
  expect(ending.status == 0, "the run cannot go on: " + shortened(ending.err));
  std::string found;
  for (const Tree& end : scenario.after) {
    found = difference(end, run_tree(folder, end));
    if (found.empty()) return;
  }
  expect(false, "resumed to another end: " + found);
}

}  // namespace fledge::faults
