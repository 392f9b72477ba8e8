// What a run says of its text before the first step: counting tables, and lines that are repeated.
#include "examples/fledge/train/report.h"

#include "nn/inspect/ngram_losses.h"
#include "tests/examples/fledge/training.h"

using namespace fledge::train;

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
