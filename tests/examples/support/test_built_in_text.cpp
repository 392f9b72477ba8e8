// The form of the built-in text. What is in it, the lessons and the story of the birds claim.
#include "examples/support/built_in_text.h"

#include <algorithm>
#include <set>

#include "nn/text/corpus.h"
#include "tests/support/catch.h"

TEST_CASE("built-in text: sixty sentences or more, each once, a line of words and a full stop") {
  CHECK(support::built_in_text().starts_with("birds sometimes walk slowly .\n"));
  const auto sentences = fledge::lines_of(support::built_in_text());
  CHECK(sentences.size() >= 60);
  CHECK(std::set<std::string_view>(sentences.begin(), sentences.end()).size() == sentences.size());
  for (const std::string_view sentence : sentences) {
    CAPTURE(sentence);
    CHECK(sentence.ends_with(" ."));
    CHECK(std::count(sentence.begin(), sentence.end(), '.') == 1);
    CHECK(std::count(sentence.begin(), sentence.end(), ' ') >= 3);
    CHECK(sentence.find("  ") == sentence.npos);
    CHECK(sentence.front() != ' ');
    CHECK(sentence.find_first_not_of("abcdefghijklmnopqrstuvwxyz .") == sentence.npos);
  }
}
