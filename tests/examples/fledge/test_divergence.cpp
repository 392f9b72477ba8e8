// A run whose numbers stop being finite: said so, with status 4, and the last good state kept.
#include "tests/examples/fledge/training.h"

using namespace fledge::testing;

namespace {

const Words too_fast{"--lr", "1e6", "--clip", "0", "--warmup", "4"};

}  // namespace

TEST_CASE("fledge train: a run that diverges ends with status 4, the step and the culprit") {
  const Desk desk;
  const Words line = Words{"train", desk.poems(), "-o", desk / "run"} + tiny + too_fast;
  const Result result = fledge_says(line + Words{"--json"});
  CHECK(result.status == 4);
  const Words lines = lines_of(result.err);
  REQUIRE(lines.size() > 2);
  const std::string &what = lines[lines.size() - 2], &advice = lines.back();
  const std::vector<Json> rows = json_lines(result.out);
  const Json& end = rows.back();
  CHECK(end["type"].string() == "end");
  CHECK(end["status"].string() == "diverged");
  const auto step = static_cast<int>(end["step"].number());
  CHECK(step >= 1);
  CHECK(step < 20);
  CHECK_THAT(what, StartsWith("fledge train: "));
  CHECK_THAT(what, ContainsSubstring(" at step " + std::to_string(step + 1) + ": "));
  CHECK((what.find(".weight") != what.npos || what.find(".bias") != what.npos ||
         what.find("'") != what.npos));
  CHECK(advice ==
        "              the rate may be too large: try --lr 1e+05, or --clip 1; the last "
        "good state, of step " +
            std::to_string(step) + ", is in " + (desk / "run"));
  CHECK(result.err.find("done:") == std::string::npos);
  CHECK(lines_of(text_of(desk / "run/metrics.csv")).size() == static_cast<std::size_t>(step) + 1);
}

TEST_CASE("fledge train: what diverged can be gone on with, and diverges again") {
  const Desk desk;
  const Words line = Words{"train", desk.poems(), "-o", desk / "run", "-q"} + tiny + too_fast;
  const Result first = fledge_says(line);
  CHECK(first.status == 4);
  CHECK(lines_of(first.err).size() == 2);
  const auto files = files_in(desk / "run");
  const Result again = fledge_says({"train", "--resume", desk / "run", "-q"});
  CHECK(again.status == 4);
  CHECK(again.err == first.err);
  CHECK((files_in(desk / "run") == files));
  trained({desk.poems(), "-o", desk / "run", "--force"});
}

TEST_CASE("fledge train: the bar does not end happily, and nothing is claimed to be kept") {
  const Desk desk;
  const Result shown =
      run_on_terminal(with_program(Words{"train", desk.poems()} + tiny + too_fast));
  CHECK(shown.status == 4);
  CHECK(shown.out.find("100%") == shown.out.npos);
  CHECK_THAT(shown.out, EndsWith("try --lr 1e+05, or --clip 1\n"));
}
