// The data of pages: fledge train --page and birds --page. tests/command/pages.txt has the rest.
#include "tests/examples/fledge/training.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

/// The data of a page.
StrictJson data_of(const std::string& path) {
  const std::string file = text_of(path), begin = "id=\"data\">";
  const std::size_t at = file.find(begin) + begin.size();
  return strict_json(file.substr(at, file.find("</script>", at) - at));
}

}  // namespace

TEST_CASE("fledge train --page: the snapshots of the run; a page in its own folder") {
  const Desk desk;
  const Words line{"--tokens", "word", "--watch", "birds:small", "--page"};
  desk.run("a/run", line + Words{desk / "a/run/page.html"});
  desk.run("b/run", line + Words{desk / "b/page.html"});
  CHECK((text_of(desk / "a/run/page.html") == text_of(desk / "b/page.html")));
  const StrictJson run = data_of(desk / "b/page.html")["run"];
  const auto& snapshots = run["snapshots"].array();
  REQUIRE(snapshots.size() == 21);
  for (std::size_t step = 0; step <= 20; ++step)
    CHECK(snapshots[step]["step"].number() == static_cast<double>(step));
  CHECK(run["losses"]["train"].array().size() == 20);
  CHECK(run["sentences"].array().size() == 3);
  CHECK(run["watch"].array().size() == 1);
  CHECK(run["in_words"].string().find("slider") != std::string::npos);
}

TEST_CASE("birds --page: at most 200 kB, the same bytes, and the digits of the story") {
  const testing::Folder folder;
  for (const char* name : {"a.html", "b.html"}) {
    const Result made = run({FLEDGE_BINARY_DIR "/birds", "--page", folder / name});
    REQUIRE(made.status == 0);
    if (sanitized) break;  // the program also proves its gradients, a minute's work
  }
  const std::string file = text_of(folder / "a.html");
  CHECK(file.size() <= 200'000);
  if (!sanitized) CHECK(text_of(folder / "b.html") == file);
  const StrictJson page = data_of(folder / "a.html")["run"];
  const StrictJson& last = page["snapshots"].array().back();
  CHECK(last["step"].number() == 500);
  CHECK(page["losses"]["train"].array().size() == 500);
  CHECK(last["continuations"].array().size() == 3);
  CHECK(last["continuations"][1].string().starts_with("slowly"));
  CHECK(last["continuations"][2].string().starts_with("flying"));
}
