#include "tests/faults/world.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/folder.h"

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
const Words small{"-o", "DIR",       "-q", "--layers", "1", "--heads",      "1", "--batch",
                  "1",  "--context", "8",  "--width",  "8", "--eval-every", "1"};
const Words new_run = small + Words{"--steps", "6"};
const Words other_run = small + Words{"--steps", "4", "--seed", "2"};
const Words resumed{"train", "--resume", "DIR", "-q"};
const Words generated{"generate", "DIR", "--tokens-out", "12", "--seed", "1"};

// Files of the user's that look as if fledge had left them behind.
const Tree foreign{
    {".lock", "my notes\n"}, {"notes.txt", "mine\n"}, {"thesis.tmp-999999-1", "draft"}};

// Twelve words in an order that a small generator draws.
std::string poems() {
  static constexpr const char* words[] = {"the",  "small", "birds", "sometimes", "walk", "over",
                                          "blue", "lake",  "and",   "often",     "fly",  "at"};
  std::string text;
  unsigned draw = 3;
  for (int word = 1; word <= 420; ++word) {
    draw = draw * 1664525u + 1013904223u;
    text += std::string(words[(draw >> 16) % 12]) + (word % 7 == 0 ? "\n" : " ");
  }
  return text;
}

// The program, with its folder in place of DIR.
Words with_program(Words words, const std::string& folder) {
  std::replace(words.begin(), words.end(), std::string("DIR"), folder);
  return Words{FLEDGE_BINARY_DIR "/fledge"} + words;
}
Words environment(const std::string& library) {
  return {"FLEDGE_THREADS=1", "LD_PRELOAD=" + library};
}

// Where the folder cannot be locked there is a file ".lock", which means nothing.
Tree without_lock(Tree tree, const Tree& like = {}) {
  if (!like.contains(".lock")) tree.erase(".lock");
  return tree;
}

std::string shortened(const std::string& text) {
  return text.size() <= 400 ? text : text.substr(0, 400) + "...";
}

}  // namespace

Process::Process(Words argv, Words environment) {
  const auto pointers = [](Words& words) {
    std::vector<char*> result;
    for (std::string& word : words) result.push_back(word.data());
    result.push_back(nullptr);
    return result;
  };
  const std::vector<char*> words = pointers(argv), variables = pointers(environment);
  if (!out_ || !err_) throw std::runtime_error("tmpfile failed");
  for (const File* file : {&out_, &err_}) fcntl(fileno(file->get()), F_SETFD, FD_CLOEXEC);
  child_ = fork();
  if (child_ < 0) throw std::runtime_error("fork failed");
  if (child_ > 0) return;
  // Only calls that are safe after fork() in a program with threads.
  dup2(fileno(out_.get()), STDOUT_FILENO);
  dup2(fileno(err_.get()), STDERR_FILENO);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGALRM}) signal(number, SIG_DFL);
  alarm(120);  // outlives exec
  execve(words[0], words.data(), variables.data());
  _exit(127);
}

bool Process::stops() {
  while (waitpid(child_, &status_, WUNTRACED) < 0)
    if (errno != EINTR) throw std::runtime_error("waitpid failed");
  if (WIFSTOPPED(status_)) return true;
  child_ = 0;
  return false;
}

void Process::go_on() const {
  if (child_ > 0) kill(child_, SIGCONT);
}

Ending Process::end(bool is_killed) {
  if (is_killed && child_ > 0) kill(child_, SIGKILL);
  while (child_ > 0 && stops()) go_on();
  const int status = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return {status, contents(out_.get()), contents(err_.get())};
}

std::string Process::contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  return text;
}

bool RecordedCall::creates() const {
  return record.kind == Kind::open && (record.flags & O_CREAT) != 0;
}

std::vector<RecordedCall> read_calls(const std::string& log) {
  std::ifstream file(log, std::ios::binary);
  std::vector<RecordedCall> calls;
  RecordedCall call;
  while (file.read(reinterpret_cast<char*>(&call.record), sizeof call.record)) {
    for (const auto& [text, size] : {std::pair{&call.path, std::size_t{call.record.path_bytes}},
                                     {&call.to, call.record.to_bytes},
                                     {&call.data, call.record.data_bytes}}) {
      text->resize(size);
      if (!file.read(text->data(), static_cast<std::streamsize>(size)))
        throw std::runtime_error(log + " ends in the middle of a call");
    }
    calls.push_back(call);
  }
  return calls;
}

Tree read_tree(const std::string& folder) {
  Tree tree;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_directory())
      tree[name + "/"] = "";
    else
      tree[name] = testing::text_of(entry.path());
  }
  return tree;
}

void write_tree(const std::string& folder, const Tree& tree) {
  std::filesystem::create_directory(folder);
  for (const auto& [name, bytes] : tree) {  // a folder's name comes before those in it
    const std::string path = folder + "/" + name;
    if (name.ends_with('/'))
      std::filesystem::create_directory(path);
    else
      testing::write_file(path, bytes);
  }
}

std::string difference(const Tree& expected, const Tree& found) {
  for (const auto& [name, bytes] : expected) {
    const auto place = found.find(name);
    if (place == found.end()) return name + " is missing";
    if (place->second != bytes)
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
  int messages = 0;
  for (std::size_t at = 0; at < ending.err.size(); at = ending.err.find('\n', at) + 1)
    messages += ending.err.compare(at, 6, "fledge") == 0;
  const bool needs_none = ending.status == 0 || ending.status > 128;
  expect(messages == 1 || (messages == 0 && needs_none),
         std::to_string(messages) + " messages: " + what);
}

void Scenario::set_up(const std::string& place) const {
  if (!before.empty()) write_tree(place + "/run", before);
}

void Scenario::check_finished(const std::string& folder) const {
  const std::string found = difference(after.back(), without_lock(read_tree(folder), after.back()));
  expect(found.empty(), "exit 0, but " + found);
}

World::World(std::string root_path) : root(std::move(root_path)) {
  std::filesystem::current_path(root);  // a run keeps the name of its text alone
  const std::string text = poems();
  std::ofstream(root + "/poems.txt") << text;
  std::ofstream others(root + "/others.txt");
  for (const char c : text) others << static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c);
  others.close();
  const Words begin = Words{"train", root + "/poems.txt"} + new_run;
  const auto undisturbed = [&](const Words& words, const std::string& name) {
    check_ending(run(words, root + "/" + name), {0});
    return without_lock(read_tree(root + "/" + name));
  };
  const Tree finished = undisturbed(begin, "finished");
  const Tree old = undisturbed(Words{"train", root + "/others.txt"} + other_run, "other");
  add({"begin", begin, {}, {finished}});

  // A run that Ctrl-C stopped about half-way.
  std::filesystem::create_directory(root + "/half");
  const std::string half_way = std::to_string(scenarios[0].calls.size() * 6 / 10);
  const Ending stopped = start(scenarios[0], root + "/half", half_way + ":interrupt").end();
  expect(stopped.status == 130, "Ctrl-C at half-way: exit " + std::to_string(stopped.status));
  const Tree half_done = without_lock(read_tree(root + "/half/run")), kept = finished + foreign;

  add({"resume", resumed, half_done + foreign, {kept}});
  add({"force", begin + Words{"--force"}, old + foreign, {old + foreign, kept}});
  add({"eval", {"eval", "DIR"}, kept, {kept}, false});
  add({"plot", {"plot", "DIR", "--csv"}, kept, {kept}, false});
  add({"generate", generated, kept, {kept}, false});
}

std::string without_folder(std::string out, const std::string& folder) {
  for (std::size_t at = 0; (at = out.find(folder, at)) != out.npos;)
    out.replace(at, folder.size(), "DIR");
  return out;
}

void World::add(Scenario scenario) {
  const std::string place = root + "/" + scenario.name, log = place + "/calls";
  std::filesystem::create_directory(place);
  scenario.set_up(place);
  const Ending ending = start(scenario, place, "", log).end();
  try {
    check_ending(ending, {0});
    scenario.check_finished(place + "/run");
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("with no fault at all, " + scenario.name + ": " + error.what());
  }
  scenario.calls = read_calls(log);
  scenario.out = without_folder(ending.out, place + "/run");
  scenarios.push_back(std::move(scenario));
}

const Scenario& World::scenario(const std::string& name) const {
  return *std::find_if(scenarios.begin(), scenarios.end(),
                       [&](const Scenario& one) { return one.name == name; });
}

Process World::start(const Scenario& scenario, const std::string& place, const std::string& failure,
                     const std::string& log) const {
  Words variables = environment(FLEDGE_CALLS_LIBRARY);
  if (!failure.empty()) variables.push_back("FLEDGE_CALLS_FAIL=" + failure);
  if (!log.empty()) variables.push_back("FLEDGE_CALLS_LOG=" + log);
  return {with_program(scenario.words, place + "/run"), variables};
}

Ending World::run_with_malloc(const Scenario& scenario, const std::string& place,
                              const std::string& variable) const {
  return Process(with_program(scenario.words, place + "/run"),
                 environment(FLEDGE_MALLOC_LIBRARY) + Words{variable})
      .end();
}

Ending World::run(const Words& words, const std::string& folder) const {
  return Process(with_program(words, folder), environment(FLEDGE_CALLS_LIBRARY)).end();
}

void World::check_run(const Scenario& scenario, const std::string& folder) const {
  const Tree tree = std::filesystem::exists(folder) ? read_tree(folder) : Tree{};
  const Ending read = run({"eval", "DIR"}, folder);
  const bool has_run = read.status == 0;
  if (!has_run) {
    check_ending(read, {1, 3});
    expect(scenario.before.empty(), "no run is left: " + shortened(read.err));
    expect(!tree.contains("run.safetensors"),
           "there is a run and eval fails: " + shortened(read.err));
  } else {
    const Ending text = run(generated, folder);
    expect(text.status == 0, "eval works and generate fails: " + shortened(text.err));
    const Ending plot = run({"plot", "DIR"}, folder);
    expect(plot.status == 0 || plot.err.find("has no step of the run") != plot.err.npos,
           "eval works and plot fails: " + shortened(plot.err));
  }
  Ending ending = run(has_run || !scenario.before.empty() ? resumed : scenario.words, folder);
  if (ending.status != 0 && !has_run) ending = run(resumed, folder);
  expect(ending.status == 0, "the run cannot go on: " + shortened(ending.err));
  std::string found;
  for (const Tree& end : scenario.after) {
    found = difference(end, without_lock(read_tree(folder), end));
    if (found.empty()) return;
  }
  expect(false, "resumed to another end: " + found);
}

}  // namespace fledge::faults
