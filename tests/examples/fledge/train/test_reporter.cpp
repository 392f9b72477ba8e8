// What happens in a run, as lines for people and as JSON.
#include "examples/fledge/train/reporter.h"

#include "nn/inspect/ngram_losses.h"
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

TEST_CASE(
    "baselines: of a long text, the tables are counted and measured on a part, which is said") {
  using fledge::Dim, fledge::TokenText, fledge::ngram_losses;
  const fledge::Corpus whole = fledge::read_corpus(testing::small_text(), {});
  const std::vector<Dim>&train = whole.train.tokens, &valid = whole.valid.tokens;
  const Dim V = whole.tokenizer.size();
  const Baselines all = baselines_of(whole);
  CHECK(all.counting == ngram_losses(whole.train, whole.valid, V, 3));
  CHECK(all.counted + all.measured == 0);
  CHECK_THAT(baseline_report(all, "character"), !ContainsSubstring("long"));

  const TokenText last{{train.end() - 700, train.end()}, {}};
  const Baselines part = baselines_of(whole, {}, 700, 50);
  CHECK(part.counting == ngram_losses(last, {{valid.begin(), valid.begin() + 50}, {}}, V, 3));
  CHECK_THAT(baseline_report(part, "character"),
             EndsWith("The text is long: these tables are counted on 700 of its characters and "
                      "measured on 50."));
  CHECK(baselines_of(whole, {}, 700, 1'000'000).counting == ngram_losses(last, whole.valid, V, 3));
  CHECK(baselines_of(whole, {}, whole.train.size(), whole.valid.size()).counted == 0);

  const fledge::Corpus alone = fledge::read_corpus(testing::small_text(), {.valid = 0});
  const std::vector<Dim>& text = alone.train.tokens;
  CHECK(baselines_of(alone, {}, 700, 50).counting ==
        ngram_losses({{text.end() - 700, text.end()}, {}}, {{text.end() - 50, text.end()}, {}}, V,
                     3));

  // Of lines whole ones, from all of the text: here every third.
  const fledge::Corpus lines =
      fledge::read_corpus(testing::small_text(), {.reading = fledge::Reading::lines});
  std::vector<std::string_view> kept;
  std::string third;
  const std::string decoded = lines.tokenizer.decode(lines.train.tokens);
  for (const std::string_view line : fledge::lines_of(decoded)) kept.push_back(line);
  for (std::size_t i = 0; i < kept.size(); i += 3) third += std::string(kept[i]) + "\n";
  const TokenText expected =
      fledge::read_corpus(third, {.reading = fledge::Reading::lines, .valid = 0}, lines.tokenizer)
          .train;
  const Baselines of_lines = baselines_of(lines, {}, (lines.train.size() + 2) / 3);
  CHECK(of_lines.counted == expected.size());
  CHECK(of_lines.counting == ngram_losses(expected, lines.valid, V, 3));
}

TEST_CASE("reporter: repeated lines with their share; a warning above a tenth") {
  fledge::CorpusFacts facts;
  CHECK(split_report(facts, "character", "run").empty());
  facts.repeated = 1, facts.repeated_share = 0.002;
  CHECK(split_report(facts, "character", "run") ==
        "1 held-out line also occurs in the training text: less than 1 % of the held-out "
        "characters.");
  facts.repeated = 33, facts.repeated_share = 0.1;
  CHECK(split_report(facts, "character", "run") ==
        "33 held-out lines also occur in the training text: 10 % of the held-out characters.");
  facts.repeated = 632, facts.repeated_share = 1;
  CHECK(split_report(facts, "character", "run") ==
        "632 held-out lines also occur in the training text: 100 % of the held-out "
        "characters. So the held-out loss is too optimistic. Remove repeated lines, or "
        "judge the model by another text: fledge eval run FILE.");
  CHECK_THAT(split_report(facts, "character", ""), EndsWith("Remove repeated lines."));
}
