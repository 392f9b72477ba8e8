// fledge plot: the losses of a run are those of its metrics.jsonl.
#include <cmath>

#include "examples/fledge/plot/run_curves.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

/// What `fledge plot` prints.
Result plotted(const Words& arguments, const Environment& extra = {}) {
  return run(with_program(Words{"plot"} + arguments), extra);
}

}  // namespace

TEST_CASE("fledge plot: the points are the numbers of metrics.jsonl") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run", "--eval-every", "5"});
  std::vector<double> steps, losses, held_out;
  for (const StrictJson& event : json_lines(text_of(desk / "run/metrics.jsonl"))) {
    if (event["type"].string() == "step") losses.push_back(event["loss"].number());
    if (event["type"].string() != "eval") continue;
    steps.push_back(event["step"].number());
    held_out.push_back(event["held_out_loss"].number());
  }
  REQUIRE(losses.size() == 20);
  REQUIRE(steps == std::vector<double>{5, 10, 15, 20});
  const Result json = plotted({desk / "run", "--json"});
  REQUIRE(json.status == 0);
  const StrictJson run = strict_json(json.out)["runs"][0];
  CHECK(run["folder"].string() == desk / "run");
  const auto& training = run["training"].array();
  REQUIRE(training.size() == losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    CHECK(training[i][0].number() == static_cast<double>(i + 1));
    CHECK(training[i][1].number() == losses[i]);
  }
  for (std::size_t i = 0; i < steps.size(); ++i)
    CHECK(run["held_out"][i][1].number() == held_out[i]);
  CHECK(run["best_loss"].number() == *std::min_element(held_out.begin(), held_out.end()));
  CHECK_THAT(plotted({desk / "run", "--csv"}).out,
             StartsWith("folder,curve,step,loss\n" + desk / "run" + ",training,1,"));
}

TEST_CASE("fledge plot: in characters, within the width, and as a picture") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run", "--eval-every", "5"});
  for (const char* columns : {"60", "80", "120"})
    for (const char* language : {"C", "C.UTF-8"}) {
      const Result shown = plotted({desk / "run"}, {{"COLUMNS", columns}, {"LC_ALL", language}});
      CHECK(shown.status == 0);
      CHECK_THAT(shown.out, ContainsSubstring("held-out loss"));
      CHECK_THAT(shown.out, ContainsSubstring("best counting table"));
      CHECK_THAT(shown.out, ContainsSubstring("best"));
      for (const std::string& line : lines_of(shown.out))
        CHECK(support::display_width(line) <= std::stoi(columns));
      CHECK((shown.out.find("●") == shown.out.npos) == (std::string(language) == "C"));
    }
  CHECK(plotted({desk / "run", "--svg", desk / "losses.svg"}).status == 0);
  CHECK_THAT(text_of(desk / "losses.svg"), StartsWith("<svg "));
}

TEST_CASE("fledge plot --svg: files of the user stay, also with the endings that fledge uses") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  const auto refused = [&](const std::string& path) {
    const Result result = plotted({desk / "run", "--svg", path});
    CHECK(result.status == 1);
    CHECK(result.out.empty());
    return result.err;
  };
  CHECK_THAT(refused(desk.poems()), ContainsSubstring("it exists and was not written by fledge"));
  CHECK(text_of(desk.poems()) == small_text());
  write_text(desk / "own.svg", "<svg>my drawing</svg>");
  CHECK_THAT(refused(desk / "own.svg"), ContainsSubstring("was not written by fledge"));
  CHECK(text_of(desk / "own.svg") == "<svg>my drawing</svg>");
  CHECK_THAT(refused(desk / "none/l.svg"), ContainsSubstring("make it first: mkdir -p "));
  CHECK_THAT(refused(desk / "run"), ContainsSubstring("it is a folder"));
  write_text(desk / "l.svg.part", "my notes");
  for (int again = 0; again < 2; ++again)  // fledge's own picture is replaced
    CHECK(plotted({desk / "run", "--svg", desk / "l.svg"}).status == 0);
  CHECK(text_of(desk / "l.svg.part") == "my notes");
  CHECK(files_in(desk.path()).size() == 4);  // no file stays beside these
}

TEST_CASE("fledge plot: several runs stand side by side") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "one"});
  trained({desk.poems(), "-o", desk / "two", "--lr", "0.01"});
  const Result shown = plotted({desk / "one", desk / "two"});
  CHECK(shown.status == 0);
  CHECK_THAT(shown.out, ContainsSubstring("best loss"));
  CHECK(shown.out.find("\na  ") != shown.out.npos);
  CHECK(shown.out.find("\nb  ") != shown.out.npos);
}

TEST_CASE("fledge plot: a folder without a loss is refused") {
  const Desk desk;
  std::filesystem::create_directory(desk / "empty");
  const Result none = plotted({desk / "empty"});
  CHECK(none.status == 3);
  CHECK_THAT(none.err, ContainsSubstring("there is no loss in "));
  CHECK(plotted({desk / "nothing"}).status == 3);
  CHECK(plotted({}).status == 2);
  CHECK(plotted({desk / "empty", "--json", "--csv"}).status == 2);
}

TEST_CASE("curves_of_events: losses that are not finite and foreign lines are skipped") {
  const auto run = fledge::curves_of_events(
      "{\"type\":\"step\",\"step\":1,\"loss\":3}\n{\"type\":\"step\",\"step\":2,\"loss\":null}\n"
      "no json\n{\"type\":\"eval\",\"step\":2,\"held_out_loss\":2}\n"
      "{\"type\":\"eval\",\"step\":3,\"held_out_loss\":2.5}\n"
      "{\"type\":\"overfitting\",\"step\":3,\"since\":2}\n{\"type\":\"step\",\"step\":3");
  CHECK(run.training == fledge::RunCurves::Points{{1, 3}});
  CHECK(run.held_out.size() == 2);
  CHECK(run.best()->second == 2);
  CHECK(run.is_overfitting());
  CHECK(fledge::plot_of(run).is_worse_after);
  auto better = run;
  better.held_out.emplace_back(4, 1);
  CHECK_FALSE(better.is_overfitting());
}

TEST_CASE("fledge train: the plot at the end has the numbers of the run, also after --resume") {
  const Desk desk;
  const Result first = trained({desk.poems(), "-o", desk / "run", "--eval-every", "5"});
  const std::string plot = plotted({desk / "run"}).out;
  CHECK(first.err.find(plot) != first.err.npos);
  const Result second = trained({"--resume", desk / "run", "--steps", "40"});
  CHECK(second.err.find(plotted({desk / "run"}).out) != second.err.npos);
}

TEST_CASE("fledge train: on a tall terminal the plot is redrawn in place, on another it is not") {
  const Desk desk;
  const Words line = with_program(Words{"train", desk.poems(), "--no-save", "--eval-every", "50"} +
                                  tiny + Words{"--steps", "400", "--pace", "200"});
  Words tiny_once = line;  // --steps twice is refused: the one of `tiny` goes
  tiny_once.erase(tiny_once.end() - 6, tiny_once.end() - 4);
  const Result tall = run_on_terminal(tiny_once, {}, 80, 50);
  CHECK(tall.status == 0);
  CHECK_THAT(tall.out, ContainsSubstring("\x1b[15A\r\x1b[J"));
  const Result low = run_on_terminal(tiny_once, {}, 80, 24);
  CHECK(low.out.find("A\r\x1b[J") == low.out.npos);
  CHECK_THAT(low.out, ContainsSubstring("held-out"));
}
