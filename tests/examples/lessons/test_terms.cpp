// A term is explained before it is used. GLOSSARY.md says which lesson introduces it; that lesson
// prints the meaning, and no lesson before it uses the term.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/examples/lessons/course.h"
#include "tests/support/catch.h"

using namespace testing;

namespace {

struct Term {
  std::string name, meaning, lesson;
};

/// Those that a lesson introduces.
std::vector<Term> terms_of_the_lessons() {
  std::vector<Term> terms;
  for (const std::string& line : lines_in(source_root / "examples/GLOSSARY.md")) {
    if (line.rfind("| ", 0) != 0) continue;
    const Lines cells = cells_of(line);
    if (cells.size() != 3) continue;
    const std::string lesson =
        cells[2].substr(0, cells[2].rfind('`')).substr(std::min<std::size_t>(1, cells[2].size()));
    if (lesson.find('/') != lesson.npos) terms.push_back({cells[0], cells[1], lesson});
  }
  return terms;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// "Adam, AdamW" has two forms, and so has "layer norm (LayerNorm)".
Lines forms_of(const std::string& term) {
  Lines forms(1);
  for (const char c : lower(term)) {
    if (c == ',' || c == '(')
      forms.emplace_back();
    else if (c != ')' && !(c == ' ' && forms.back().empty()))
      forms.back() += c;
  }
  for (std::string& form : forms) form.erase(form.find_last_not_of(' ') + 1);
  forms.erase(std::remove(forms.begin(), forms.end(), ""), forms.end());
  return forms;
}

bool is_letter(const std::string& text, std::size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                              text[at] == '_' || text[at] == '-');
}

/// Whether the text has the word, or its plural. Both in lower case.
bool has_word(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    std::size_t end = at + word.size();
    if (end < text.size() && text[end] == 's') ++end;
    if ((at == 0 || !is_letter(text, at - 1)) && !is_letter(text, end)) return true;
  }
  return false;
}

/// What the reader reads: without words in quotation marks, which belong to the example text, and
/// without the list of sources at the end.
std::string prose_of(const Lines& output) {
  std::string text, prose;
  for (const std::string& line : output) {
    if (line == "Read in the code") break;
    text += line + "\n";
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end =
        text[i] == '\'' && (i == 0 || !is_letter(text, i - 1)) ? text.find('\'', i + 1) : text.npos;
    if (end != text.npos && end - i < 60)
      i = end;
    else
      prose += text[i];
  }
  return lower(joined(split_lines(prose)));
}

/// Terms of later lessons on attention that a lesson on the engine explains where it uses them.
const std::set<std::pair<std::string, std::string>> explained_here{
    {"engine/02_same_in_fledge", "node"},
    {"engine/02_same_in_fledge", "edge"},
    {"engine/03_gradient_check", "finite difference"}};

/// Whether who reads `lesson` has read `other`, or has it open: the track on the engine wants only
/// the lessons on attention up to 08.
bool was_read_before(const std::string& other, const std::string& lesson) {
  if (lesson.starts_with("engine/") && other.starts_with("attention/"))
    return other < "attention/09";
  return other <= lesson;
}

}  // namespace

TEST_CASE("terms: the search for words can fail") {
  CHECK(has_word("the softmax of scores", "softmax"));
  CHECK(has_word("two heads.", "head"));
  CHECK_FALSE(has_word("ahead", "head"));
  CHECK_FALSE(has_word("head-on", "head"));
  CHECK(forms_of("layer norm (LayerNorm)") == Lines{"layer norm", "layernorm"});
  CHECK(forms_of("Adam, AdamW") == Lines{"adam", "adamw"});
  CHECK(prose_of({"It says 'the mask', v3' is", "a Head", "Read in the code", "softmax"}) ==
        "it says , v3' is a head");
}

TEST_CASE("terms: a lesson prints the meaning of each term that it introduces, as GLOSSARY.md") {
  std::map<std::string, Lines> printed;
  for (const std::string& lesson : lessons_of_the_course())
    printed[lesson] = texts_behind("   new word: ", output_of(lesson));
  std::size_t introduced = 0, all = 0;
  for (const auto& [lesson, words] : printed) all += words.size();
  for (const Term& term : terms_of_the_lessons()) {
    INFO(term.lesson << ": " << term.name);
    REQUIRE(printed.contains(term.lesson));
    const Lines& words = printed[term.lesson];
    CHECK(std::count(words.begin(), words.end(), term.name + ". " + term.meaning) == 1);
    ++introduced;
  }
  CHECK(introduced == all);
  CHECK(introduced > 90);
}

TEST_CASE("terms: no lesson uses a term before the lesson that introduces it") {
  const std::vector<Term> terms = terms_of_the_lessons();
  for (const std::string& lesson : lessons_of_the_course()) {
    const std::string prose = prose_of(output_of(lesson));
    for (const Term& term : terms) {
      if (was_read_before(term.lesson, lesson) || explained_here.contains({lesson, term.name}))
        continue;
      for (const std::string& form : forms_of(term.name)) {
        INFO(lesson << " uses \"" << form << "\", which " << term.lesson << " introduces");
        CHECK_FALSE(has_word(prose, form));
      }
    }
  }
}
