// The built-in text: its form, the situations in it, and that who was named decides what comes.
#include "examples/birds/corpus.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "nn/text/words.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::birds;

namespace {

/// Whether these words stand in a sentence, one after the other.
bool is_in_text(const std::string& part) {
  const std::string between_spaces = " " + part + " ";
  const auto holds = [&](std::string_view sentence) {
    std::string spaced(1, ' ');
    spaced += sentence;
    return spaced.find(between_spaces) != spaced.npos;
  };
  return std::any_of(sentences().begin(), sentences().end(), holds);
}

/// In sentences "<before> NAME <between> WORD ...": which words come, name by name.
std::map<std::string, std::set<std::string>> words_by_name(
    const std::vector<std::string>& before, const std::vector<std::string>& between) {
  std::map<std::string, std::set<std::string>> found;
  for (const std::string_view sentence : sentences()) {
    const std::vector<std::string> words = split_words(sentence);
    const std::size_t word_at = before.size() + 1 + between.size();
    if (words.size() <= word_at) continue;
    const auto name = words.begin() + static_cast<std::ptrdiff_t>(before.size());
    if (std::equal(before.begin(), before.end(), words.begin()) &&
        std::equal(between.begin(), between.end(), name + 1))
      found[*name].insert(words[word_at]);
  }
  return found;
}

}  // namespace

TEST_CASE("birds corpus: at least 60 sentences, none of them twice") {
  CHECK(sentences().size() >= 60);
  CHECK(std::set<std::string_view>(sentences().begin(), sentences().end()).size() ==
        sentences().size());
}

TEST_CASE("birds corpus: words in lower case, a space between two, the last one is a full stop") {
  for (const std::string_view sentence : sentences()) {
    CAPTURE(sentence);
    CHECK(sentence.size() > 2);
    CHECK_THAT(std::string(sentence), EndsWith(" ."));
    CHECK(std::count(sentence.begin(), sentence.end(), '.') == 1);
    CHECK(sentence.find("  ") == sentence.npos);
    CHECK(sentence.front() != ' ');
    const auto known = [](char c) { return (c >= 'a' && c <= 'z') || c == ' ' || c == '.'; };
    CHECK(std::all_of(sentence.begin(), sentence.end(), known));
    CHECK(split_words(sentence).size() >= 4);
  }
}

TEST_CASE("birds corpus: the situations of the notes are in it") {
  for (const char* situation :
       {"birds sometimes walk", "for walking birds", "but birds do not only walk they fly",
        "but birds are good at flying"}) {
    CAPTURE(situation);
    CHECK(is_in_text(situation));
  }
  for (const char* verb : {"walk", "fly", "swim", "sing"}) {
    CAPTURE(verb);
    CHECK(is_in_text(verb));
  }
  CHECK_FALSE(is_in_text("birds sometimes fly"));  // walk is what completes "birds sometimes"
}

TEST_CASE("birds corpus: how someone walks and what someone is good at hang on who it is") {
  for (const auto& found :
       {words_by_name({}, {"sometimes", "walk"}), words_by_name({"but"}, {"are", "good", "at"})}) {
    CHECK(found.size() >= 10);
    std::set<std::string> different;
    for (const auto& [name, words] : found) {
      CAPTURE(name);
      CHECK(words.size() == 1);
      different.insert(words.begin(), words.end());
    }
    CHECK(different.size() >= 10);
    CHECK(found.contains("birds"));
  }
  CHECK(words_by_name({"but"}, {"are", "good", "at"})["birds"] == std::set<std::string>{"flying"});
}

TEST_CASE("birds corpus: after 'NAME sometimes' comes walk, whoever it is") {
  const auto found = words_by_name({}, {"sometimes"});
  CHECK(found.size() >= 10);
  for (const auto& [name, words] : found) CHECK(words == std::set<std::string>{"walk"});
}
