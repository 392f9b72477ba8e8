// A command that refuses has changed nothing: each option of each table, with values that cannot be,
// and each pair of options. The bytes of all files and folders are compared before and after.
#include <filesystem>

#include "examples/fledge/commands.h"
#include "examples/fledge/train/run.h"
#include "examples/support/options.h"
#include "tests/examples/fledge/models.h"

using namespace testing;
namespace fs = std::filesystem;

namespace {

/// A run, its text, a run with damaged files and a file of the user's.
struct FullDesk : Desk {
  FullDesk() {
    trained({poems(), "-o", *this / "run", "--tokens", "word"});
    write_text(*this / "mine", "mine\n");
    fs::copy(*this / "run", *this / "damaged");
    fs::resize_file(*this / "damaged/run.safetensors", 1000);
    write_text(*this / "damaged/events.jsonl", "{\"type\":\"page\"}\n");
  }
};

/// What stands at each path below a folder; of a folder nothing but its name.
Files all_below(const std::string& folder) {
  Files found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    found[entry.path().string()] =
        entry.is_regular_file() ? text_of(entry.path().string()) : "no regular file";
  return found;
}

bool expects(const OptionRow& row, const char* part) {
  return row.argument.find(part) != std::string::npos;
}

bool is_output(const OptionRow& row) { return row.name == "--out" || row.name == "--svg"; }

/// A value that the option takes.
std::string good_value(const OptionRow& row) {
  if (is_output(row)) return "new" + row.name;
  if (expects(row, "|")) return support::words_of_choice(row.argument).back();
  if (expects(row, "FILE")) return "poems.txt";
  if (expects(row, "DIR")) return "run";
  if (row.argument == "A=B:W,...") return "small=the:1";
  if (row.argument == "TEXT") return "the small";
  return row.argument == "WORD" ? "the" : "1";
}

/// Values that it refuses, for itself or for what is there.
Words wrong_values(const OptionRow& row) {
  if (row.argument.empty()) return {"yes"};
  Words values{""};
  if (is_output(row)) {
    for (const char* place : {"mine", "poems.txt/new", "/dev/null", "run/run.safetensors", "run"})
      values.emplace_back(place);
  } else if (expects(row, "FILE") || expects(row, "DIR")) {
    values.emplace_back("nowhere");
  }
  if (expects(row, "|")) values.emplace_back("neither");
  if (row.argument == "N" || row.argument == "X") values.insert(values.end(), {"x", "-1e300"});
  return values;
}

std::string given(const OptionRow& row, const std::string& value) {
  return row.argument.empty() && value.empty() ? row.name : row.name + "=" + value;
}

/// The program in this folder, and what it must not do when it refuses.
struct Walk {
  FullDesk desk;
  Files before = all_below(desk.path());
  int refused = 0, done = 0;

  void call(const std::string& command, const Words& arguments, const Words& options) {
    const Words words = Words{"sh", "-c", "cd '" + desk.path() + "' && exec \"$0\" \"$@\"",
                              fledge_program, command} +
                        options + arguments;
    CAPTURE(words);
    const Result result = run(words);
    INFO(result.err);
    const Files after = all_below(desk.path());
    if (result.status == 0) {
      ++done;
      for (const auto& [path, bytes] : after)
        if (!before.contains(path)) fs::remove_all(path);
      REQUIRE(all_below(desk.path()) == before);  // it wrote nothing else
      return;
    }
    ++refused;
    CHECK((result.status >= 1 && result.status <= 3));
    CHECK(result.out.empty());
    CHECK_FALSE(two_lines(result.err).starts_with("not two lines"));
    CHECK(after == before);
  }
};

/// The commands that are not walked: `train` has a test of its own, help writes no file.
const Words not_walked{"help", "train"};

/// What stands behind the options.
const std::map<std::string, Words> arguments_of{{"generate", {"run", "the small"}},
                                                {"eval", {"run"}},
                                                {"inspect", {"run"}},
                                                {"export", {"run"}},
                                                {"plot", {"run", "run"}},
                                                {"page", {"run"}},
                                                {"gradcheck", {"add"}},
                                                {"bench", {"gemm", "2", "2", "2"}}};

/// All that the command does before its first step.
void begin(const Words& arguments) {
  std::vector<const char*> argv{"train"};
  for (const std::string& word : arguments) argv.push_back(word.c_str());
  const int argc = static_cast<int>(argv.size());
  fledge::train::set_up(fledge::train::train_config(argc, argv.data()));
}

/// What an option of this table is refused with: texts by their option, for the others any word that
/// is no number and no choice.
std::vector<Words> refused_values(const Desk& desk, const std::string& folder,
                                  const OptionRow& row) {
  const std::string poems = desk.poems(), run = desk / "run", none = desk / "none";
  const std::map<std::string, Words> texts{
      {"--from", {none, poems, desk / "damaged"}},
      {"--out", {poems, poems + "/below", desk / "full"}},
      {"--resume", {none, poems, desk / "damaged"}},
      {"--watch", {"b", "b:", "nobody:b", "b:Q"}},
      {"--probe", {" ", "a | ", "Q", std::string(2000, 'b')}},
      {"--page",
       {none + "/x.html", "/proc/x.html", folder + "/p.html/", poems, desk.path(),
        desk / "new.html/", desk / "mine.html", run + "/run.safetensors",
        // of this very run: its files, its folder, and what is in the way of it
        folder + "/run.safetensors", folder + "/events.jsonl", folder + "/.lock", folder,
        folder + "/", fs::path(folder).parent_path().string()}}};
  std::vector<Words> values;
  if (const auto found = texts.find(row.name); found != texts.end()) {
    for (const std::string& value : found->second) values.push_back({row.name, value});
  } else {
    values.push_back({row.name + "=nonsense"});
  }
  return values;
}

}  // namespace

TEST_CASE("fledge: a command that refuses has changed nothing") {
  Walk walk;
  for (const fledge::Command& row_of_command : fledge::commands()) {
    const std::string& command = row_of_command.name;
    CAPTURE(command);
    const bool is_exception =
        std::find(not_walked.begin(), not_walked.end(), command) != not_walked.end();
    REQUIRE(arguments_of.contains(command) != is_exception);
    if (is_exception) continue;
    const Words& arguments = arguments_of.at(command);
    const std::vector<OptionRow> rows = options_of(command);
    REQUIRE(!rows.empty());
    Words outputs;
    for (const OptionRow& row : rows)
      if (is_output(row)) outputs.push_back(given(row, good_value(row)));
    if (command == "generate") outputs.insert(outputs.end(), {"--attention", "--tokens-out=3"});
    const auto others = [&](const Words& without) {
      Words kept;
      for (const std::string& output : outputs) {
        const std::string name = output.substr(0, output.find('='));
        if (std::find(without.begin(), without.end(), name) == without.end())
          kept.push_back(output);
      }
      return kept;
    };
    for (const OptionRow& row : rows)
      for (const std::string& value : wrong_values(row)) {
        const int before = walk.refused;
        walk.call(command, arguments, others({row.name}) + Words{row.name + "=" + value});
        CHECK(walk.refused == before + 1);
      }
    for (std::size_t a = 0; a < rows.size() && !outputs.empty(); ++a)
      for (std::size_t b = a + 1; b < rows.size(); ++b) {
        const OptionRow &one = rows[a], &two = rows[b];
        const auto value = [](const OptionRow& row) {
          return row.argument.empty() ? "" : good_value(row);
        };
        walk.call(
            command, arguments,
            others({one.name, two.name}) + Words{given(one, value(one)), given(two, value(two))});
      }
    for (const char* name : {"nowhere", "damaged"}) {
      const int before = walk.refused;
      walk.call(command, {name}, outputs);
      CHECK(walk.refused == before + 1);
    }
  }
  CHECK(walk.done > 50);
  CHECK(walk.refused > 200);
}

TEST_CASE("fledge train: what is refused has changed nothing, for each option and way to begin") {
  const FullDesk desk;
  const std::string poems = desk.poems(), run = desk / "run", fresh = desk / "above/new";
  write_text(desk / "mine.html", "<p>mine</p>");
  fs::create_directory(desk / "full");
  write_text(desk / "full/thesis", "mine");
  struct Way {
    Words arguments;
    std::string folder;  // of the run; one that is never used if nothing is saved
  };
  const Way ways[] = {{{poems, "-o", fresh}, fresh},
                      {{"--resume", run, "--steps", "40", "--lr", "0.003"}, run},
                      {{poems, "-o", fresh, "--from", run}, fresh},
                      {{poems, "--no-save"}, desk / "none/above/run"},
                      {{poems, "-o", run, "--force"}, run}};  // the last: the others read this run
  // Options that are refused together, or for this text.
  const std::vector<Words> together{{"--width", "3", "--heads", "2"},
                                    {"--context", "100000"},
                                    {"--steps", "1", "--warmup", "2"},
                                    {"--valid", "1.5"},
                                    {"--valid", "1000000"},
                                    {"--width", "1000000"},
                                    {"--symbols", "300"},
                                    {"--minutes", "1", "--steps", "5"},
                                    {"--patience", "3", "--valid", "0"},
                                    {"--without", "attention", "--probe", "birds"},
                                    {"--out", desk / "a", "--resume", run},
                                    {"--no-save", "--force"}};
  const std::vector<OptionRow> rows = options_of("train");
  REQUIRE(!rows.empty());
  const Files before = all_below(desk.path());
  const auto try_with = [&](const Way& way, const Words& more) {
    CAPTURE(way.arguments, more);
    const Words line = way.arguments + more + (more[0] == "--quiet" ? Words{} : Words{"-q"});
    CHECK_THROWS(begin(line));
    const Files after = all_below(desk.path());
    CHECK((after == before));
    return after == before;
  };
  std::size_t tried = 0;
  for (const Way& way : ways) {
    for (const OptionRow& row : rows)
      for (const Words& value : refused_values(desk, way.folder, row)) {
        REQUIRE(try_with(way, value));
        ++tried;
      }
    for (const Words& options : together) REQUIRE(try_with(way, options));
  }
  CHECK(tried > 5 * rows.size());
  for (const Way& way : ways) {  // nothing but the option is in their way
    CAPTURE(way.arguments);
    CHECK_NOTHROW(begin(way.arguments + Words{"-q"}));
    fs::remove_all(desk / "above");
  }
}

TEST_CASE(
    "fledge train --page: more tokens than a page shows are refused before the old run goes") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  std::string many;
  for (int word = 0; word < 66'000; ++word) many += "w" + std::to_string(word) + " ";
  write_text(desk / "many.txt", many);
  const Files before = all_below(desk.path());
  const Words tokens{desk / "many.txt", "--tokens", "word",     "-q", "--width", "2",
                     "--heads",         "1",        "--layers", "1",  "--page",  desk / "x.html"};
  for (const Words& way : {Words{"-o", desk / "run", "--force"}, Words{"-o", desk / "new"}}) {
    const Result result = fledge_says(Words{"train"} + tokens + way);
    CHECK(refusal_of(result, desk.path()) ==
          "3: a page shows at most 65,535 different tokens: this text has 66,000 | train a new "
          "model with --tokens bpe or --tokens char");
    CHECK((all_below(desk.path()) == before));
  }
}

TEST_CASE("fledge train --page: a page in the run's own folder, which is made with it") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "a/run", "--page", desk / "a/run/page.html"});
  trained({desk.poems(), "-o", desk / "b/run", "--page", desk / "b/page.html"});
  CHECK(text_of(desk / "a/run/page.html") == text_of(desk / "b/page.html"));
}
