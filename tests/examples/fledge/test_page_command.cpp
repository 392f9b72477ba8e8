// Pages of runs: fledge train --page, fledge page, birds --page.
#include <filesystem>

#include "examples/birds/page_recorder.h"
#include "examples/birds/story.h"
#include "tests/examples/fledge/training.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

/// The data of a page.
StrictJson data_of(const std::string& path) {
  const std::string file = text_of(path), begin = "id=\"data\">";
  const std::size_t at = file.find(begin) + begin.size();
  return strict_json(file.substr(at, file.find("</script>", at) - at));
}

/// The part of a page that has the snapshots, and what the page computes with.
std::string numbers_of(const std::string& path) {
  const std::string file = text_of(path);
  const std::size_t begin = file.find("\"snapshots\":");
  return file.substr(begin, file.find("\"glossary\":") - begin);
}

const std::string birds_program = FLEDGE_BINARY_DIR "/birds";

}  // namespace

TEST_CASE("fledge train --page: the snapshots of the run, and the same bytes for the same run") {
  const Desk desk;
  const Words line{desk.poems(), "--tokens", "word", "--watch", "birds:small"};
  const Result said = trained(line + Words{"--page", desk / "a.html"});
  const std::string first = text_of(desk / "a.html");
  trained(line + Words{"--page", desk / "a.html"});  // writes over its own page
  CHECK(text_of(desk / "a.html") == first);
  trained(line + Words{"--page", desk / "b.html", "--threads", "2"});
  CHECK(numbers_of(desk / "b.html") == numbers_of(desk / "a.html"));
  CHECK(said.err.find("The page is in ") != std::string::npos);
  const StrictJson run = data_of(desk / "a.html")["run"];
  CHECK(run["title"].string() == "poems.txt");
  CHECK(first.find(desk.path()) == std::string::npos);  // no path of this machine
  std::vector<double> steps;
  for (const StrictJson& snapshot : run["snapshots"].array())
    steps.push_back(snapshot["step"].number());
  CHECK(steps.front() == 0);
  CHECK(steps.back() == 20);
  CHECK(steps.size() == 21);
  CHECK(run["losses"]["train"].array().size() == 20);
  CHECK(run["sentences"].array().size() == 3);
  CHECK(run["watch"].array().size() == 1);
  CHECK(run["in_words"].string().find("slider") != std::string::npos);
}

TEST_CASE("fledge page: the run in a folder, resumed or not, gives the page that training gave") {
  const Desk desk;
  const Words line{desk.poems(), "--valid", "0", "-o", desk / "run"};
  trained(line + Words{"--page", desk / "a.html"});
  CHECK(fledge_says({"page", desk / "run"}).status == 0);
  CHECK(numbers_of(desk / "run/page.html") == numbers_of(desk / "a.html"));
  const Files over = files_in(desk / "run");
  trained({"--resume", desk / "run", "--page", desk / "again.html"});
  CHECK(numbers_of(desk / "again.html") == numbers_of(desk / "a.html"));
  CHECK((files_in(desk / "run") == over));
  trained({"--resume", desk / "run", "--steps", "25", "--page", desk / "b.html"});
  CHECK(data_of(desk / "b.html")["run"]["snapshots"].array().back()["step"].number() == 25);
  CHECK(data_of(desk / "b.html")["run"]["snapshots"].array().front()["step"].number() == 0);

  trained({"--resume", desk / "run", "--steps", "30"});  // goes on recording
  CHECK(fledge_says({"page", desk / "run"}).status == 0);
  CHECK(data_of(desk / "run/page.html")["run"]["snapshots"].array().back()["step"].number() == 30);
  CHECK(data_of(desk / "run/page.html")["run"]["snapshots"].array().size() > 28);

  trained({desk.poems(), "-o", desk / "plain"});  // without snapshots: its last model alone
  const Result plain = fledge_says({"page", desk / "plain", "-o", desk / "c.html"});
  CHECK(plain.status == 0);
  CHECK(data_of(desk / "c.html")["run"]["snapshots"].array().size() == 1);
  CHECK(plain.err.find("recorded no snapshots") != std::string::npos);
}

TEST_CASE("fledge train --resume: a run that is over shows the model that it kept") {
  const Desk desk;
  const Words sentence{"--probe", "birds walk"};
  const Words line{desk.poems(), "-o", desk / "run",   "--lr", "0.3",
                   "--min-lr",   "1",  "--eval-every", "2"};
  const auto shown = [](const Result& run) {
    const std::size_t at = run.err.find("Attention in 'birds walk'");
    REQUIRE(at != std::string::npos);
    return run.err.substr(at, run.err.find("The page is in") - at);
  };
  const Result first = trained(line + sentence + Words{"--page", desk / "a.html"});
  CHECK_THAT(first.err, ContainsSubstring("of the last step score"));
  const Result again =
      trained(Words{"--resume", desk / "run", "--page", desk / "b.html"} + sentence);
  CHECK(numbers_of(desk / "b.html") == numbers_of(desk / "a.html"));
  CHECK(shown(again) == shown(first));
}

TEST_CASE("fledge page: a run without snapshots is shown by excerpts of its text") {
  const Desk desk;
  const auto run_of = [&] { return data_of(desk / "a.html")["run"]; };
  const auto first_sentence = [&](const StrictJson& run) {
    std::string text;
    for (const StrictJson& id : run["sentences"][0]["ids"].array())
      text += run["words"][static_cast<std::size_t>(id.number())].string();
    return text;
  };
  trained({desk.poems(), "-o", desk / "run"});
  const Words page{"page", desk / "run", "-o", desk / "a.html"};
  CHECK(fledge_says(page).status == 0);
  CHECK(run_of()["sentences"].array().size() == 3);
  std::string beginning = small_text().substr(0, 16);
  for (std::size_t at = 0; (at = beginning.find(' ', at)) != beginning.npos;)
    beginning.replace(at, 1, "␣");
  CHECK(first_sentence(run_of()) == beginning);
  CHECK(run_of()["prompts"][0].string() == small_text().substr(0, 8));
  CHECK(run_of()["in_words"].string().find("slider") == std::string::npos);  // there is one step

  write_text(desk.poems(), "another text\n");  // then the model draws a text, and the page says why
  CHECK(fledge_says(page).status == 0);
  CHECK_THAT(run_of()["notices"][0].string(), ContainsSubstring("is not the text of this run"));
  std::filesystem::remove(desk.poems());
  const Result drawn = fledge_says(page);
  CHECK(drawn.status == 0);
  CHECK_THAT(run_of()["notices"][0].string(),
             StartsWith("The page shows a text that the model drew: the text of the run must be "
                        "here or beside the run"));
  CHECK(run_of()["sentences"].array().size() == 1);
  const std::string sentence = first_sentence(run_of());
  CHECK(sentence.starts_with("⏎"));
  CHECK(sentence.find_first_not_of("⏎") != std::string::npos);
  const std::string once = text_of(desk / "a.html");
  CHECK(fledge_says(page).status == 0);
  CHECK(text_of(desk / "a.html") == once);
}

TEST_CASE("fledge page: refuses what it cannot use, and writes over nothing of the user's") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  write_text(desk / "mine.html", "<p>mine</p>");
  const Result taken = fledge_says({"page", desk / "run", "-o", desk / "mine.html"});
  CHECK(taken.status == 1);
  CHECK(text_of(desk / "mine.html") == "<p>mine</p>");
  CHECK(fledge_says({"train", desk.poems(), "--no-save", "--page", desk / "mine.html"}).status ==
        1);
  CHECK(fledge_says({"page", desk / "nothing"}).status == 3);
  CHECK(fledge_says({"page"}).status == 2);
  const std::string events = text_of(desk / "run/metrics.jsonl");
  for (const char* line :
       {"{\"type\":\"page\"}\n", "{\"type\":\"snapshot\",\"step\":3}\n", "not json\n", "not json",
        "\n", "{\"type\":\"step\",,}\n",
        "{\"type\":\"page\",\"sentences\":[{\"ids\":[9999],\"next\":null}],\"prompts\":[],"
        "\"continued\":1,\"end\":null,\"watch\":[],\"map\":[]}\n"}) {
    CAPTURE(line);
    write_text(desk / "run/metrics.jsonl", events + line);
    const Result damaged = fledge_says({"page", desk / "run", "-o", desk / "d.html"});
    // A last line without its end is of a run that was killed; snapshots need a plan.
    const std::string damage = line;
    const bool is_skipped =
        damage == "not json" || damage == "\n" || damage.find("snapshot") != damage.npos;
    CHECK(damaged.status == (is_skipped ? 0 : 3));
    if (is_skipped) continue;
    CHECK_THAT(two_lines(damaged.err),
               ContainsSubstring("metrics.jsonl': line " +
                                 std::to_string(lines_of(events + line).size()) + ", column "));
    CHECK_THAT(damaged.err, ContainsSubstring("restore the file"));
  }
}

TEST_CASE("fledge train --resume --page: a damaged event is named before the training") {
  const Desk desk;
  trained({desk.poems(), "--valid", "0", "-o", desk / "run", "--page", desk / "a.html"});
  const std::string whole = text_of(desk / "run/metrics.jsonl");
  const std::string file = "'" + (desk / "run/metrics.jsonl") + "': ";
  const auto refused = [&](const std::string& events, const Words& more) {
    write_text(desk / "run/metrics.jsonl", events);
    const Files before = files_in(desk / "run");
    const Result result =
        fledge_says(Words{"train", "--resume", desk / "run", "--steps", "25", "-q"} + more);
    CHECK(result.status == 3);
    CHECK((files_in(desk / "run") == before));
    CHECK_FALSE(std::filesystem::exists(desk / "b.html"));
    return two_lines(result.err);
  };
  const Words page{"--page", desk / "b.html"};
  const std::string snapshot = "{\"type\":\"snapshot\",\"step\":";
  CHECK_THAT(refused(replaced(whole, snapshot, "{\"type\":\"snapshot\",\"step\""), page),
             StartsWith("fledge train: " + file + "line 3, column "));
  // Of the plan, which a run without --page needs too; of a snapshot; of a step.
  const std::string plan = replaced(whole, "\"continued\":", "\"continued\":-");
  for (const Words& more : {page, Words{}})
    CHECK_THAT(refused(plan, more), StartsWith("fledge train: " + file + "line 2, column "));
  std::string block = whole;
  const std::size_t at = block.find(':', block.find("\"attention\":"));
  block.erase(block.find_first_not_of("[\"", at + 1), 4);  // the first digits of a block
  CHECK_THAT(refused(block, page), StartsWith("fledge train: " + file + "the snapshot of step 0"));
  CHECK_THAT(
      refused(replaced(whole, "\"step\":7,\"loss\":", "\"step\":7,\"cost\":"), page),
      StartsWith("fledge train: " + file + "line 19, column 1: the text must have a key 'loss'"));
}

TEST_CASE("fledge train --page: a run that diverges leaves a folder whose page can be made") {
  const Desk desk;
  const Result run = fledge_says(Words{"train", desk.poems(), "--lr", "1e6", "--clip", "0", "-o",
                                       desk / "run", "--page", desk / "a.html"} +
                                 tiny);
  CHECK(run.status == 4);
  CHECK_FALSE(std::filesystem::exists(desk / "a.html"));
  CHECK(run.err.find("No page was written") != std::string::npos);
  CHECK(fledge_says({"page", desk / "run"}).status == 0);
}

TEST_CASE("fledge page: a snapshot that does not fit the model and the plan is refused") {
  const Desk desk;
  trained({desk.poems(), "--valid", "0", "-o", desk / "run", "--page", desk / "a.html"});
  const std::string events = text_of(desk / "run/metrics.jsonl");
  for (const char* key : {"attention", "top", "d_mixed", "d_scores", "stats", "bins", "vectors"}) {
    CAPTURE(key);
    std::string other = events;
    const std::size_t at = other.find(':', other.find("\"" + std::string(key) + "\":"));
    other.erase(other.find_first_not_of("[\"", at + 1), 4);  // the first digits of a block
    write_text(desk / "run/metrics.jsonl", other);
    const Result damaged = fledge_says({"page", desk / "run", "-o", desk / "d.html"});
    CHECK(damaged.status == 3);
    CHECK(two_lines(damaged.err).find("characters of base64") != std::string::npos);
  }
}

TEST_CASE("fledge train --page: a hostile text stays data") {
  const Desk desk;
  std::string text;
  for (int i = 0; i < 40; ++i)
    text +=
        "</script><script>window.__xss=1</script> <!-- ${x} \"quotes' \xE2\x80\xAE rtl "
        "\xF0\x9F\x90\xA6 end\n";
  write_text(desk / "hostile.txt", text);
  trained({desk / "hostile.txt", "--tokens", "word", "--page", desk / "h.html"});
  const std::string file = text_of(desk / "h.html");
  std::size_t scripts = 0;
  for (std::size_t at = file.find("<script"); at != file.npos; at = file.find("<script", at + 1))
    ++scripts;
  CHECK(scripts == 2);
  CHECK(file.find("<!-- $") == file.npos);
}

TEST_CASE("birds --page: at most 200 kB, the same bytes, and the digits of the story") {
  if (sanitized) {
    fledge::birds::PageRecorder recorder;  // the program also proves its gradients, a minute's work
    fledge::birds::tell_text(1, &recorder);
    CHECK(recorder.file().size() <= 200'000);
    return;
  }
  const testing::Folder folder;
  const Result first = run({birds_program, "--json", "--page", folder / "birds.html"});
  REQUIRE(first.status == 0);
  const std::string file = text_of(folder / "birds.html");
  CHECK(file.size() <= 200'000);
  CHECK(run({birds_program, "--page", folder / "other.html"}).status == 0);
  CHECK(text_of(folder / "other.html") == file);
  const StrictJson page = data_of(folder / "birds.html")["run"];
  const StrictJson last = page["snapshots"].array().back();
  CHECK(last["step"].number() == 500);
  CHECK(page["losses"]["train"].array().size() == 500);
  CHECK(last["continuations"].array().size() == 3);
  CHECK(last["continuations"].array()[1].string().starts_with("slowly"));
  CHECK(last["continuations"].array()[2].string().starts_with("flying"));
}
