// fledge train: a command that refuses has changed nothing, whatever it refuses and however it begins.
#include "examples/fledge/commands.h"
#include "examples/fledge/train/train_run.h"
#include "tests/examples/fledge/training.h"

using namespace testing;
namespace fs = std::filesystem;

namespace {

/// All that is in a folder and below: the bytes of files, by path; of folders "/".
Files tree_of(const std::string& folder) {
  Files all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().filename() != ".lock")
      all[entry.path().string()] = entry.is_directory() ? "/" : text_of(entry.path().string());
  return all;
}

/// All that the command does before its first step.
void begin(const Words& arguments) {
  std::vector<const char*> argv{"train"};
  for (const std::string& word : arguments) argv.push_back(word.c_str());
  const int argc = static_cast<int>(argv.size());
  fledge::train::TrainRun run(fledge::train::train_config(argc, argv.data()));
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
        desk / "new.html/", desk / "mine.html", run + "/model.safetensors",
        run + "/state.safetensors", run + "/metrics.csv",
        // of this very run: a file, one that it has not, its folder, and what is in the way of it
        folder + "/config.json", folder + "/vocab.json", folder + "/.lock", folder, folder + "/",
        fs::path(folder).parent_path().string()}}};
  std::vector<Words> values;
  if (const auto found = texts.find(row.name); found != texts.end()) {
    for (const std::string& value : found->second) values.push_back({row.name, value});
  } else {
    values.push_back({row.name + "=nonsense"});
  }
  return values;
}

}  // namespace

TEST_CASE("fledge train: what is refused has changed nothing, for each option and way to begin") {
  const Desk desk;
  const std::string poems = desk.poems(), run = desk / "run", fresh = desk / "above/new";
  trained({poems, "-o", run, "--eval-every", "5", "--page", desk / "page.html"});
  fs::copy(run, desk / "damaged");
  write_text(desk / "damaged/config.json", "{");
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
  const Files before = tree_of(desk.path());
  const auto try_with = [&](const Way& way, const Words& more) {
    CAPTURE(way.arguments, more);
    const Words line = way.arguments + more + (more[0] == "--quiet" ? Words{} : Words{"-q"});
    CHECK_THROWS(begin(line));
    const Files after = tree_of(desk.path());
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
  const Files before = tree_of(desk.path());
  const Words tokens{desk / "many.txt", "--tokens", "word",     "-q", "--width", "2",
                     "--heads",         "1",        "--layers", "1",  "--page",  desk / "x.html"};
  for (const Words& way : {Words{"-o", desk / "run", "--force"}, Words{"-o", desk / "new"}}) {
    const Result result = fledge_says(Words{"train"} + tokens + way);
    CHECK(refusal_of(result, desk.path()) ==
          "3: a page shows at most 65,535 different tokens: this text has 66,000 | train a new "
          "model with --tokens bpe or --tokens char");
    CHECK((tree_of(desk.path()) == before));
  }
}

TEST_CASE("fledge train --page: a page in the run's own folder, which is made with it") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "a/run", "--page", desk / "a/run/page.html"});
  trained({desk.poems(), "-o", desk / "b/run", "--page", desk / "b/page.html"});
  CHECK(text_of(desk / "a/run/page.html") == text_of(desk / "b/page.html"));
}
