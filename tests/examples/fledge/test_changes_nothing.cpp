// A command that refuses has changed nothing: each option of each table, with values that cannot
// be, and each pair of options. The bytes of all files and folders are compared before and after.
#include "examples/fledge/commands.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

bool expects(const OptionRow& row, const char* part) {
  return row.argument.find(part) != std::string::npos;
}
bool is_output(const OptionRow& row) { return row.name == "--out" || row.name == "--svg"; }

/// A value that the option takes.
std::string good_value(const OptionRow& row) {
  if (row.argument.empty()) return "";
  if (is_output(row)) return "=new" + row.name;
  if (expects(row, "|")) return "=" + row.argument.substr(row.argument.rfind('|') + 1);
  if (expects(row, "FILE")) return "=poems.txt";
  if (expects(row, "DIR")) return "=run";
  if (row.argument == "A=B:W,...") return "=small=the:1";
  if (row.argument == "TEXT") return "=the small";
  return row.argument == "WORD" ? "=the" : "=1";
}

/// Values that it refuses, for itself or for what is there.
Words wrong_values(const OptionRow& row) {
  if (row.argument.empty()) return {"yes"};
  Words values{""};
  if (is_output(row)) {
    values = values + Words{"mine", "poems.txt/new", "/dev/null", "run/run.safetensors", "run"};
  } else if (expects(row, "FILE") || expects(row, "DIR")) {
    values.emplace_back("nowhere");
  }
  if (expects(row, "|")) values.emplace_back("neither");
  if (row.argument == "N" || row.argument == "X") values = values + Words{"x", "-1e300"};
  return values;
}

/// A run, its text, a run with damaged files and files of the user's; the program in this folder,
/// and what it must not do when it refuses.
struct Walk : Desk {
  Files before;
  int refused = 0, done = 0;

  Walk() {
    fs::copy(run("run", {"--tokens", "word"}), *this / "damaged");
    fs::resize_file(*this / "damaged/run.safetensors", 1000);
    write_file(*this / "damaged/events.jsonl", "{\"type\":\"snapshot\"}\n");
    write_file(*this / "mine", "mine\n");
    write_file(*this / "mine.html", "<p>mine</p>");
    fs::create_directory(*this / "full");
    write_file(*this / "full/thesis", "mine");
    before = files_in(path());
  }
  Result result_of(const Words& arguments) const {
    return testing::run(
        Words{"sh", "-c", "cd '" + path() + "' && exec \"$0\" \"$@\"", fledge_program} + arguments);
  }
  /// Whether the command was refused.
  bool call(const Words& arguments) {
    CAPTURE(arguments);
    const Result result = result_of(arguments);
    INFO(result.err);
    if (result.status == 0)
      for (const auto& [name, bytes] : files_in(path()))
        if (!before.contains(name)) fs::remove_all(*this / name);
    REQUIRE((files_in(path()) == before));  // but for what it was to make
    ++(result.status == 0 ? done : refused);
    if (result.status == 0) return false;
    CHECK((result.status >= 1 && result.status <= 3));
    CHECK(result.out.empty());
    CHECK_FALSE(refusal_of(result).starts_with("not two lines"));
    return true;
  }
};

/// What stands after the options. `train` has a test of its own, help writes no file.
const std::map<std::string, Words> arguments_of{{"generate", {"run", "the small"}},
                                                {"eval", {"run"}},
                                                {"inspect", {"run"}},
                                                {"export", {"run"}},
                                                {"plot", {"run", "run"}},
                                                {"page", {"run"}},
                                                {"gradcheck", {"add"}},
                                                {"bench", {"gemm", "2", "2", "2"}}};

}  // namespace

TEST_CASE("fledge: a command that refuses has changed nothing") {
  Walk walk;
  for (const fledge::Command& row_of_command : fledge::commands()) {
    const std::string& command = row_of_command.name;
    CAPTURE(command);
    REQUIRE(arguments_of.contains(command) == (command != "train" && command != "help"));
    if (!arguments_of.contains(command)) continue;
    const std::vector<OptionRow> rows = options_of(command);
    REQUIRE(!rows.empty());
    // Its outputs, but for options that are given otherwise.
    const auto call = [&](const Words& given, const Words& arguments) {
      Words words{command};
      const auto add = [&](const std::string& option) {
        const std::string name = option.substr(0, option.find('='));
        if (std::none_of(given.begin(), given.end(), [&](const std::string& other) {
              return other.substr(0, other.find('=')) == name;
            }))
          words.push_back(option);
      };
      for (const OptionRow& row : rows)
        if (is_output(row)) add(row.name + good_value(row));
      if (command == "generate") add("--attention"), add("--tokens-out=3");
      return walk.call(words + given + arguments);
    };
    for (const OptionRow& row : rows)
      for (const std::string& value : wrong_values(row))
        CHECK(call({row.name + "=" + value}, arguments_of.at(command)));
    const bool has_output = std::any_of(rows.begin(), rows.end(), is_output);
    for (std::size_t a = 0; a < rows.size() && (has_output || command == "generate"); ++a)
      for (std::size_t b = a + 1; b < rows.size(); ++b)
        call({rows[a].name + good_value(rows[a]), rows[b].name + good_value(rows[b])},
             arguments_of.at(command));
    for (const char* name : {"nowhere", "damaged"}) CHECK(call({}, {name}));
  }
  CHECK(walk.done > 50);
  CHECK(walk.refused > 130);
}

TEST_CASE("fledge train: what is refused has changed nothing, for each option and way to begin") {
  Walk walk;
  const std::string fresh = "above/new";
  struct Way {
    Words arguments;
    std::string folder;  // of the run; one that is never used if nothing is saved
  };
  const Way ways[] = {{{"poems.txt", "-o", fresh}, fresh},
                      {{"--resume", "run", "--steps", "40", "--lr", "0.003"}, "run"},
                      {{"poems.txt", "-o", fresh, "--from", "run"}, fresh},
                      {{"poems.txt", "--no-save"}, "none/above/run"},
                      {{"poems.txt", "-o", "run", "--force"}, "run"}};
  const std::vector<OptionRow> rows = options_of("train");
  REQUIRE(!rows.empty());
  for (const Way& way : ways) {
    const std::string above = fs::path(way.folder).parent_path().string();
    // What an option of this table is refused with: these texts, for the others any word that is no
    // number and no choice; and options that are refused together, or for this text.
    const std::map<std::string, Words> texts{
        {"--from", {"none", "poems.txt", "damaged"}},
        {"--out", {"poems.txt", "poems.txt/below", "full"}},
        {"--resume", {"none", "poems.txt", "damaged"}},
        {"--watch", {"b", "b:", "nobody:b", "b:Q"}},
        {"--page",
         {"none/x.html", "/proc/x.html", way.folder + "/p.html/", "poems.txt", ".", "new.html/",
          "mine.html", "run/run.safetensors",
          // of this very run: its files, its folder, and what is in the way of it
          way.folder + "/run.safetensors", way.folder + "/events.jsonl", way.folder + "/.lock",
          way.folder, way.folder + "/", above.empty() ? "." : above}}};
    std::vector<Words> refused{{"--width", "3", "--heads", "2"},
                               {"--context", "100000"},
                               {"--steps", "1", "--warmup", "2"},
                               {"--valid", "1.5"},
                               {"--valid", "1000000"},
                               {"--width", "1000000"},
                               {"--symbols", "300"},
                               {"--minutes", "1", "--steps", "5"},
                               {"--patience", "3", "--valid", "0"},
                               {"--without", "attention", "--watch", "b:i"},
                               {"--out", "a", "--resume", "run"},
                               {"--no-save", "--force"}};
    for (const OptionRow& row : rows)
      for (const std::string& value : texts.contains(row.name) ? texts.at(row.name) : Words{"?"})
        refused.push_back(texts.contains(row.name) ? Words{row.name, value}
                                                   : Words{row.name + "=nonsense"});
    for (const Words& options : refused)
      CHECK(walk.call(Words{"train"} + way.arguments + options +
                      (options[0] == "--quiet" ? Words{} : Words{"-q"})));
  }
  for (const Way& way : ways) {  // nothing but the option is in their way
    const bool resumes = way.arguments[0] == "--resume" || way.arguments.back() == "run";
    CAPTURE(way.arguments);
    CHECK(walk.result_of(Words{"train"} + way.arguments + Words{"-q"} + (resumes ? Words{} : tiny))
              .status == 0);
    fs::remove_all(walk / "above");
  }
}
