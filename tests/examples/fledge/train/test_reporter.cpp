// What happens in a run, as lines for people and as JSON.
#include "examples/fledge/train/reporter.h"

#include "tests/examples/fledge/training.h"

using namespace fledge::train;
using testing::Result;
using testing::run_here;

namespace {

const WordPair walk_and_birds{"walk", "birds"};

/// What the reporter of such a config writes about some events.
Result reported(const TrainConfig& config) {
  return run_here([&] {
    Reporter report(config);
    report.say("a message");
    report.warn("a warning");
    const Metrics row{1, 1.5, 0.001, 0.25, {}};
    report.event(as_json(row));
    report.watched({1,
                    walk_and_birds,
                    true,
                    "fly",
                    {.pairs = 3, .attention = 0.5},
                    {.pairs = 2, .attention = 0.25}});
    report.sample(1, "the \x1b[31m\n");
    report.progress({1, 20, 1.5, fledge::infinity, 0.001, 0.25, 32, ""});
    report.finish();
    return 0;
  });
}

}  // namespace

TEST_CASE("reporter: the screen writes lines to stderr, with users' text made printable") {
  const Result shown = reported({});
  CHECK(shown.out.empty());
  CHECK_THAT(
      shown.err,
      StartsWith("a message\na warning\n  step 1: walk gives birds 50 % of its attention. An "
                 "even split would give 0 %;\n    the control word 'fly' gets 25 %. Mean "
                 "over 3 places.\n  step 1: the "));
  CHECK(shown.err.find('\x1b') == std::string::npos);
  CHECK_THAT(shown.err, ContainsSubstring("\nstep=1 of=20 loss=1.5000 "));
}

TEST_CASE("reporter: with --json each event that programs need is one object a line") {
  TrainConfig config;
  config.json = true;
  const Result shown = reported(config);
  CHECK(shown.err == reported({}).err);
  const auto rows = testing::json_lines(shown.out);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["loss"].number() == 1.5);
  CHECK(rows[1]["places"].number() == 3);
  CHECK(rows[1]["control_attention"].number() == 0.25);
  CHECK(rows[2]["text"].string() == "the \x1b[31m\n");
}

TEST_CASE("reporter: --quiet leaves warnings and JSON") {
  TrainConfig config;
  config.json = config.quiet = true;
  const Result shown = reported(config);
  CHECK(shown.err == "a warning\n");
  CHECK(testing::json_lines(shown.out).size() == 3);
}
