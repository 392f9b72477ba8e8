// The built-in text: its form, the situations in it, and that the animal decides the next word.
#include "examples/support/built_in_text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "nn/text/corpus.h"
#include "tests/support/catch.h"

namespace {

const std::vector<std::string_view>& sentences() {
  static const auto all = fledge::lines_of(support::built_in_text());
  return all;
}

std::vector<std::string> words_of(std::string_view sentence) {
  std::istringstream words{std::string(sentence)};
  return {std::istream_iterator<std::string>(words), {}};
}

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
    const std::vector<std::string> words = words_of(sentence);
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

TEST_CASE("built-in text: 60 sentences or more, each once, a line of words and a full stop") {
  CHECK(support::built_in_text().starts_with("birds sometimes walk slowly .\n"));
  CHECK(sentences().size() >= 60);
  CHECK(std::set<std::string_view>(sentences().begin(), sentences().end()).size() ==
        sentences().size());
  for (const std::string_view sentence : sentences()) {
    CAPTURE(sentence);
    CHECK(sentence.ends_with(" ."));
    CHECK(std::count(sentence.begin(), sentence.end(), '.') == 1);
    CHECK(sentence.find("  ") == sentence.npos);
    CHECK(sentence.front() != ' ');
    CHECK(sentence.find_first_not_of("abcdefghijklmnopqrstuvwxyz .") == sentence.npos);
    CHECK(words_of(sentence).size() >= 4);
  }
}

TEST_CASE("built-in text: the situations of the notes are in it") {
  for (const char* part :
       {"birds sometimes walk", "for walking birds", "but birds do not only walk they fly",
        "but birds are good at flying", "walk", "fly", "swim", "sing"}) {
    CAPTURE(part);
    CHECK(is_in_text(part));
  }
  CHECK_FALSE(is_in_text("birds sometimes fly"));  // walk is what completes "birds sometimes"
}

TEST_CASE("built-in text: how an animal walks and what it is good at depend on the animal") {
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

TEST_CASE("built-in text: after 'NAME sometimes' comes walk, for every animal") {
  const auto found = words_by_name({}, {"sometimes"});
  CHECK(found.size() >= 10);
  for (const auto& [name, words] : found) CHECK(words == std::set<std::string>{"walk"});
}
