// Samples of a model as people see them, and how much of them is copied from the text.
#include "examples/fledge/train/report.h"

#include "tests/examples/fledge/training.h"

using namespace fledge::train;
using fledge::Corpus;
using testing::Words;

namespace {

Corpus read(const std::string& text, bool in_lines) {
  return fledge::read_corpus(
      text, {.reading = in_lines ? fledge::Reading::lines : fledge::Reading::stream, .valid = 0});
}

}  // namespace

TEST_CASE("samples: rows are broken between words, with a mark for each line break") {
  CHECK(sample_rows("birds walk", 80, 2, 3, true) == "  birds walk");
  CHECK(sample_rows("birds sometimes walk", 12, 0, 3, true) == "birds\nsometimes\nwalk");
  CHECK(sample_rows("birds\nwalk\n", 80, 0, 3, true) == "birds⏎walk⏎");
  CHECK(sample_rows("birds\nwalk", 80, 0, 3, false) == "birds\\nwalk");
  CHECK(sample_rows("the \x1b[31m", 80, 0, 1, true) == "the \\x1b[31m");
  CHECK(sample_rows("", 80, 2, 3, true) == "  ");
  // A word that is wider than a row is broken; wide characters count two columns.
  CHECK(sample_rows("aaaaaaaaaa", 4, 0, 3, true) == "aaaa\naaaa\naa");
  CHECK(sample_rows("床前明月光", 6, 2, 3, true) == "  床前\n  明月\n  光");
}

TEST_CASE("samples: what has no room is cut, and the cut is marked") {
  CHECK(sample_rows("birds sometimes walk", 14, 0, 1, true) == "birds somet…");
  CHECK(sample_rows("birds sometimes walk", 14, 0, 1, false) == "birds somet...");
  const std::string shown = sample_rows(std::string(500, 'x'), 80, 2, 4, false);
  for (const std::string& row : testing::lines_of(shown)) CHECK(row.size() <= 80);
  CHECK(testing::lines_of(shown).size() == 4);
}

TEST_CASE(
    "samples: the share that is copied, in characters; for lines how many stand in the text") {
  const std::string poem = "but birds are good at flying, and sometimes they walk over the lake";
  const Corpus stream = read(poem + poem, false);
  CHECK(copied_report({"birds are good at flying", "no no no no no"}, stream) ==
        "60 % of these samples are copies from your text (counted: passages of at least 20 "
        "characters). The longest passage that also occurs in your text has 24 characters.");
  const Corpus names = read("anna\nemma\nlena\n", true);
  CHECK(copied_report({"anna", "anne", "lena"}, names) ==
        "2 of the 3 sampled lines stand in the training text as they are.");
  CHECK(copied_report({"emma", "anne"}, names) ==
        "1 of the 2 sampled lines stands in the training text as it is.");
  const Corpus lines = read(poem + "\n" + "another line\n", true);
  CHECK(copied_report({poem.substr(0, 49), poem.substr(0, 49)}, lines) ==
        "0 of the 2 sampled lines stand in the training text as they are.\n98 % of these samples "
        "are copies from your text (counted: passages of at least 20 characters). The longest "
        "passage that also occurs in your text has 49 characters.");
}
