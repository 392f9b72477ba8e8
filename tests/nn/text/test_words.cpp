// builds: f64
#include "nn/text/words.h"

#include "engine/base/errors.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {
using Words = std::vector<std::string>;
using Ids = std::vector<Dim>;
}  // namespace

TEST_CASE("split_words: every kind of white space, alone and in rows") {
  CHECK(split_words("birds walk") == Words{"birds", "walk"});
  CHECK(split_words("a b\tc\nd\re\vf\fg") == Words{"a", "b", "c", "d", "e", "f", "g"});
  CHECK(split_words(" \t\r\n\v\f birds \n\n  walk\t ") == Words{"birds", "walk"});
  CHECK(split_words("one") == Words{"one"});
}

TEST_CASE("split_words: a text of nothing has no words") {
  CHECK(split_words("").empty());
  CHECK(split_words(" \t\r\n\v\f").empty());
  CHECK(split_words(std::string_view()).empty());
}

TEST_CASE("split_words: what is no white space belongs to the word, byte by byte") {
  CHECK(split_words("Birds, walk. don't") == Words{"Birds,", "walk.", "don't"});
  CHECK(split_words("vögel\u00a0gehen 鳥") == Words{"vögel\u00a0gehen", "鳥"});
  using namespace std::string_literals;
  CHECK(split_words("a\0b c"s) == Words{"a\0b"s, "c"});
}

TEST_CASE("Vocabulary: words are numbered in the order of first appearance") {
  Vocabulary vocabulary;
  CHECK(vocabulary.size() == 0);
  CHECK(vocabulary.add("birds") == 0);
  CHECK(vocabulary.add("walk") == 1);
  CHECK(vocabulary.add("birds") == 0);
  CHECK(vocabulary.add("Birds") == 2);
  CHECK(vocabulary.size() == 3);
  CHECK(vocabulary.word(0) == "birds");
  CHECK(vocabulary.word(2) == "Birds");
}

TEST_CASE("Vocabulary: find answers for words it has, and no others") {
  Vocabulary vocabulary;
  vocabulary.add("birds");
  CHECK(vocabulary.find("birds") == std::optional<Dim>(0));
  CHECK_FALSE(vocabulary.find("bird").has_value());
  CHECK_FALSE(vocabulary.find("").has_value());
  CHECK(vocabulary.size() == 1);
}

TEST_CASE("Vocabulary: a text goes to numbers and back") {
  const std::string text = "birds sometimes walk but birds are good at flying";
  Vocabulary vocabulary;
  for (const std::string& word : split_words(text)) vocabulary.add(word);
  CHECK(vocabulary.encode(text) == Ids{0, 1, 2, 3, 0, 4, 5, 6, 7});
  std::string back;
  for (const Dim id : vocabulary.encode(text))
    back += (back.empty() ? "" : " ") + vocabulary.word(id);
  CHECK(back == text);
  CHECK(vocabulary.encode("\n walk\tbirds ") == Ids{2, 0});
  CHECK(vocabulary.encode("").empty());
}

TEST_CASE("Vocabulary: a word it does not know is named") {
  Vocabulary vocabulary;
  vocabulary.add("birds");
  CHECK(refusal<ValueError>([&] { vocabulary.encode("birds swim or fly"); }) ==
        "Vocabulary: the word 'swim' is not in the text");
  CHECK(refusal<ValueError>([] { Vocabulary().encode("birds"); }) ==
        "Vocabulary: the word 'birds' is not in the text");
}

TEST_CASE("Vocabulary: a number that no word has is refused") {
  Vocabulary vocabulary;
  vocabulary.add("birds");
  CHECK(refusal<ValueError>([&] { vocabulary.word(1); }) ==
        "Vocabulary: no word has number 1; there are 1");
  CHECK(refusal<ValueError>([&] { vocabulary.word(-1); }) ==
        "Vocabulary: no word has number -1; there are 1");
}

TEST_CASE("Vocabulary: a copy has words of its own") {
  Vocabulary one;
  one.add("birds");
  Vocabulary two = one;
  two.add("walk");
  CHECK(one.size() == 1);
  CHECK(two.word(1) == "walk");
}
