// The data of pages: fledge train --page and birds --page. tests/command/pages.txt has the rest.
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

const std::string birds_program = FLEDGE_BINARY_DIR "/birds";

}  // namespace

TEST_CASE("fledge train --page: the snapshots of the run") {
  const Desk desk;
  const Words line{desk.poems(), "--tokens", "word", "--watch", "birds:small"};
  trained(line + Words{"--page", desk / "a.html"});
  const StrictJson run = data_of(desk / "a.html")["run"];
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
