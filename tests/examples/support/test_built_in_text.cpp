// The built-in text: its form, the situations in it, and that the animal decides the next word.
#include "examples/support/built_in_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "nn/text/corpus.h"
#include "tests/support/catch.h"

namespace {

/// In sentences "<before>NAME<between>WORD ...": which words come, name by name.
std::map<std::string, std::set<std::string>> words_by_name(const std::string& before,
                                                           const std::string& between) {
  std::map<std::string, std::set<std::string>> found;
  for (const std::string_view line : fledge::lines_of(support::built_in_text())) {
    const std::string sentence(line);
    const std::size_t end = sentence.find(' ', before.size());
    if (!sentence.starts_with(before) || sentence.compare(end, between.size(), between) != 0)
      continue;
    const std::size_t word = end + between.size();
    found[sentence.substr(before.size(), end - before.size())].insert(
        sentence.substr(word, sentence.find(' ', word) - word));
  }
  return found;
}

}  // namespace

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

TEST_CASE("built-in text: the situations of the notes; what comes next depends on the animal") {
  for (const char* part :
       {"birds sometimes walk ", "for walking birds ", "but birds do not only walk they fly ",
        "but birds are good at flying ", " swim ", " sing "})
    CHECK_THAT(std::string(support::built_in_text()), ContainsSubstring(part));
  const auto walks = words_by_name("", " sometimes walk "),
             arts = words_by_name("but ", " are good at ");
  for (const auto* found : {&walks, &arts}) {
    CHECK(found->size() >= 10);
    std::set<std::string> different;
    for (const auto& [name, words] : *found) {
      CHECK(words.size() == 1);
      different.insert(words.begin(), words.end());
    }
    CHECK(different.size() >= 10);
  }
  CHECK(arts.at("birds") == std::set<std::string>{"flying"});
  const auto next = words_by_name("", " sometimes ");
  CHECK(next.size() >= 10);
  for (const auto& [name, words] : next) CHECK(words == std::set<std::string>{"walk"});
}
