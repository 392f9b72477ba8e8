// The course as it is printed: what each lesson opens and ends with, what may be tried, the words
// that it introduces, and what the READMEs, NOTES.md and GLOSSARY.md say of it. That no claim is
// false and no name without a value is what the tests lessons/* show, which keep the outputs.
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <regex>

#include "examples/support/text.h"
#include "nn/io/json.h"
#include "tests/examples/lessons/course.h"
#include "tests/support/process.h"

namespace course_tests {
namespace {

using namespace testing;
namespace fs = std::filesystem;

/// The lines of the output behind this title, up to an empty line.
Lines lines_behind(const std::string& title, const Lines& output) {
  const auto begin = std::find(output.begin(), output.end(), title);
  if (begin == output.end()) return {};
  return {begin + 1, std::find(begin + 1, output.end(), "")};
}

const std::string& birds_story() {
  static const std::string story =
      run({(fs::path(FLEDGE_BINARY_DIR) / "birds").string()}, {{"LC_ALL", "C.UTF-8"}}).out;
  return story;
}

// -- Quotations ------------------------------------------------------------------------------------

/// What the first brackets of a regular expression match, each time that it matches in the text.
Lines found_in(const std::string& text, const std::string& pattern) {
  const std::regex what(pattern);
  return {std::sregex_token_iterator(text.begin(), text.end(), what, 1), {}};
}

// A number as it is printed: its value, and one unit in its last place.
struct Printed {
  double value, unit;
};

bool read_number(std::string word, Printed& number) {
  while (!word.empty() && has("(,;:", word.substr(0, 1))) word.erase(0, 1);
  while (!word.empty() && has("),;:.%", word.substr(word.size() - 1))) word.pop_back();
  char* end = nullptr;
  number.value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0' || !std::isfinite(number.value)) return false;
  const std::size_t e = std::min(word.find_first_of("eE"), word.size()), point = word.find('.');
  const double places = point == word.npos ? 0 : static_cast<double>(e - point - 1);
  number.unit = std::pow(10, (e < word.size() ? std::atof(word.c_str() + e + 1) : 0) - places);
  return true;
}

// Processors round sums in different orders: three units of the last place that is printed. What is
// itself a rounding error (2.1e-14) may be ten times another, and what a trained model says may
// differ by `slack`. Counts are equal. A sparkline or a map has no letters; it may be a step darker.
bool same_word(const std::string& quoted, const std::string& printed, double slack) {
  const auto is_picture = [](const std::string& word) {
    return std::none_of(word.begin(), word.end(), [](char c) { return c > ' ' && c < 127; });
  };
  Printed a{}, b{};
  if (quoted == printed || (is_picture(quoted) && is_picture(printed))) return true;
  if (!read_number(quoted, a) || !read_number(printed, b)) return false;
  if (!has(quoted, ".") && !has(quoted, "e")) return false;
  if (has(quoted, "e-") && has(printed, "e-"))
    return a.value > 0 && b.value > 0 && a.value / b.value < 10 && b.value / a.value < 10;
  return std::abs(a.value - b.value) <= std::max(slack, 3.001 * a.unit);
}

bool same_line(const std::string& quoted, const std::string& printed, double slack = 0) {
  std::istringstream a(quoted), b(printed);
  std::string word, other;
  while (a >> word)
    if (!(b >> other) || !same_word(word, other, slack)) return false;
  return !(b >> other);
}

/// The first line of a quotation that does not stand in the output behind the lines before it; ""
/// if all do. "..." stands for any number of lines.
std::string missing_in(const Lines& output, const Lines& quotation, double slack = 0) {
  auto from = output.begin();
  for (auto part = quotation.begin(); part != quotation.end();) {
    const auto end = std::find(part, quotation.end(), "...");
    const auto found = std::search(
        from, output.end(), part, end,
        [&](const std::string& a, const std::string& b) { return same_line(b, a, slack); });
    if (found == output.end()) return part->empty() ? "an empty line" : *part;
    from = found + (end - part);
    part = end == quotation.end() ? end : end + 1;
  }
  return "";
}

/// The blocks of a page that begin with this mark, by what stands behind it: "```lesson NAME".
std::map<std::string, Lines> quotations(const char* page, const std::string& mark) {
  std::map<std::string, Lines> all;
  Lines* inside = nullptr;
  for (const std::string& line : lines_in(source_root / page)) {
    if (line == "```") inside = nullptr;
    if (inside != nullptr) inside->push_back(line);
    if (line.starts_with(mark)) inside = &all[line.substr(mark.size())];
  }
  return all;
}

// -- Terms -----------------------------------------------------------------------------------------

struct Term {
  std::string name, meaning, lesson;
};

/// Those that a lesson introduces: a row "| term | meaning | `lesson` |" each.
std::vector<Term> terms_of_the_lessons() {
  std::vector<Term> terms;
  for (const std::string& line : lines_in(source_root / "examples/GLOSSARY.md")) {
    const Lines cells = line.starts_with("| ") ? cells_of(line) : Lines{};
    if (cells.size() != 3 || !has(cells[2], "/")) continue;
    terms.push_back({cells[0], cells[1], cells[2].substr(1, cells[2].rfind('`') - 1)});
  }
  return terms;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// "Adam, AdamW" has two forms, and so has "layer norm (LayerNorm)".
Lines forms_of(const std::string& term) {
  Lines forms;
  std::istringstream stream(std::regex_replace(lower(term), std::regex(" ?[,(] ?|\\)"), "\n"));
  for (std::string form; std::getline(stream, form);)
    if (!form.empty()) forms.push_back(form);
  return forms;
}

bool is_letter(const std::string& text, std::size_t at) {
  return at < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || has("_-", text.substr(at, 1)));
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
  const auto end = std::find(output.begin(), output.end(), "Read in the code");
  const std::string text = joined({output.begin(), end});
  std::string prose;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = text[i] == '\'' && (i == 0 || !is_letter(text, i - 1));
    const std::size_t close = opens ? text.find('\'', i + 1) : text.npos;
    if (close != text.npos && close - i < 60)
      i = close;
    else
      prose += text[i];
  }
  return lower(prose);
}

/// Terms of later lessons that a lesson explains where it uses them.
const std::set<std::pair<std::string, std::string>> explained_here{
    {"engine/newest_first", "node"},
    {"engine/same_in_fledge", "node"},
    {"engine/same_in_fledge", "edge"},
    {"engine/gradient_check", "finite difference"}};

/// Whether who reads `lesson` has read `other`, or has it open: the track on the engine wants only
/// the lessons on attention up to this one.
bool was_read_before(const std::string& other, const std::string& lesson) {
  static const Lines all = lessons_of_the_course();
  const auto place = [&](const std::string& name) {
    return std::find(all.begin(), all.end(), name);
  };
  const bool is_other_track = lesson.starts_with("engine/") && other.starts_with("attention/");
  return place(other) <= place(is_other_track ? "attention/what_can_be_raised" : lesson);
}

// -- Notes -----------------------------------------------------------------------------------------

/// The lines of each item; an item begins with "**000.1 ".
std::map<std::string, Lines> items_of_the_notes() {
  std::map<std::string, Lines> items;
  std::string name;
  for (const std::string& line : lines_in(source_root / "examples/NOTES.md")) {
    if (line.starts_with("**00")) name = line.substr(2, line.find(' ') - 2);
    if (line.starts_with("## ")) name.clear();
    if (!name.empty()) items[name].push_back(line);
  }
  return items;
}

/// The numbers with a point in this text, without signs: each with one unit of its last place. Not
/// the numbers of items: "000.13".
std::vector<Printed> decimals_in(const std::string& text) {
  std::vector<Printed> found;
  for (const std::string& decimal : found_in(text, "([0-9]+\\.[0-9]+)")) {
    Printed number{};
    if (!decimal.starts_with("00") && read_number(decimal, number)) found.push_back(number);
  }
  return found;
}

/// Whether it was printed, with as many digits or more; its last digit may differ by one.
bool is_among(const Printed& number, const std::vector<Printed>& printed) {
  return std::any_of(printed.begin(), printed.end(), [&](const Printed& other) {
    return other.unit < 1.5 * number.unit &&
           std::abs(other.value - number.value) < 1.505 * number.unit;
  });
}

}  // namespace

TEST_CASE("course: a question, a prediction, places in the sources that exist, 80 columns") {
  CHECK(lessons_of_the_course().size() == 38);
  for (const std::string& lesson : lessons_of_the_course()) {
    INFO(lesson);
    const Lines output = output_of(lesson);
    check_layout(output);
    REQUIRE(output.size() > 10);
    CHECK(output[2].starts_with("   question: "));
    CHECK(texts_behind("   predict:  ", output).size() == 1);
    int places = 0;
    for (const std::string& line : lines_behind("Read in the code", output)) {
      std::smatch found;
      if (!std::regex_match(line, found, std::regex("   (\\S[^,]*), ([^:]*):.*"))) continue;
      INFO(line);
      REQUIRE(fs::exists(source_root / found[1].str()));
      CHECK(has(joined(lines_in(source_root / found[1].str())), found[2]));
      ++places;
    }
    CHECK(places > 0);
  }
}

TEST_CASE("course: what the lessons say to try runs, in 80 columns") {
  int commands = 0;
  const std::string folder = "   build/lessons/";
  for (const std::string& lesson : lessons_of_the_course())
    for (const std::string& line : lines_behind("Try", output_of(lesson))) {
      if (!line.starts_with(folder)) continue;
      INFO(line);
      const std::string command = (lesson_programs / line.substr(folder.size())).string();
      const Result result = run({"/bin/sh", "-c", command}, {{"LC_ALL", "C.UTF-8"}});
      CHECK(result.status == 0);
      CHECK(result.err.empty());
      CHECK(lines_of(result.out).size() >= 2);
      check_layout(lines_of(result.out));
      ++commands;
    }
  CHECK(commands == 2);
  CHECK(run({(lesson_programs / "attention/mask").string(), "3"}).status == 2);  // takes none
  const std::string position = (lesson_programs / "attention/attention_position_effect").string();
  CHECK(run({position, "101"}).status == 2);
  const Result other = run({(lesson_programs / "dual").string()});  // no lesson has this name
  CHECK(other.status == 2);
  CHECK(has(other.err, "lessons/dual: no LessonProgram has this name"));
}

TEST_CASE("course: each lesson leaves JSON for the page") {
  std::string figures;
  for (const auto& file : fs::directory_iterator(source_root / "examples/page/figures"))
    figures += text_of(file.path());
  for (const std::string& lesson : lessons_of_the_course()) {
    INFO(lesson);
    const Lines output = output_of(lesson);
    const std::string text = text_of(lesson_programs / (lesson + ".json"));
    CHECK_FALSE(has(text, "{{"));
    const fledge::JsonValue json = fledge::read_json(text);
    CHECK(json["name"].string() == lesson);
    CHECK(json["title"].string() == output.at(0));
    const std::string figure = json["figure"].is_null() ? "" : json["figure"]["name"].string();
    CHECK((figure.empty() || has(figures, "." + figure + " =") || has(figures, figure + ": {")));
    std::int64_t claims = 0;
    json["blocks"].each_item([&](const fledge::JsonValue& block) {
      if (block["kind"].string() != "claim") return;
      CHECK(block["holds"].boolean());
      ++claims;
    });
    CHECK(has(output.back(), ": " + support::counted(claims, "claim")));
  }
}

TEST_CASE("course: on a terminal --ask takes the guess, and goes on part by part") {
  const Result result =
      run_on_terminal({(lesson_programs / "engine/scalar_tape").string(), "--ask"},
                      {{"NO_COLOR", "1"}}, 80, 24, "up\n" + std::string(20, '\n'));
  CHECK(result.status == 0);
  const std::regex wait("Press return to go on\\.\n[2-9]\\. "), guess("   > \n");
  const auto count = [&](const std::regex& what) {
    return std::distance(std::sregex_iterator(result.out.begin(), result.out.end(), what), {});
  };
  const Lines output = output_of("engine/scalar_tape");
  CHECK(count(guess) == 1);
  CHECK(count(wait) + 1 == std::count_if(output.begin(), output.end(), [](const std::string& line) {
          return std::regex_search(line, std::regex("^[1-9]\\. "));
        }));
  CHECK(has(joined(lines_of(result.out)), "You guessed up; it is down: a larger query makes"));
}

TEST_CASE("course: make lesson goes on where the reader was, and names the lesson behind it") {
  const testing::Folder folder;
  const fs::path root = folder.path();
  const Lines all = lessons_of_the_course();
  fs::create_directories(root / "examples/lessons");
  fs::create_directories(root / ".ci");
  fs::copy(source_root / "examples/README.md", root / "examples");
  fs::copy(source_root / "examples/lessons", root / "examples/lessons",
           fs::copy_options::recursive);
  fs::copy(source_root / ".ci/read", root / ".ci");
  write_file(root / ".ci/build", "#!/bin/sh\n");
  for (const std::string& lesson : all) {
    fs::create_directories((root / "b/lessons" / lesson).parent_path());
    write_file(root / "b/lessons" / lesson, "#!/bin/sh\nexit ${STATUS:-0}\n");
  }
  run({"/bin/sh", "-c", "chmod -R +x \"$0\"", root});
  const auto here_after = [&](const std::string& number, const char* status = "0") {
    const Result result = run({root / ".ci/read", root / "b", "", number}, {{"STATUS", status}});
    CHECK(result.status == (number == "0" || number == "x" ? 2 : std::atoi(status)));
    const std::string here = joined(lines_in(root / "b/lessons/here"));
    const bool goes_on = result.status == 0 && !here.empty();
    CHECK(joined(lines_of(result.out)) ==
          (goes_on ? "Next: " + here + ": " + output_of(here).at(0) : ""));
    return here;
  };
  CHECK(here_after("") == all[1]);
  CHECK(here_after("", "1") == all[1]);  // it was left: it is opened again
  CHECK(here_after("") == all[2]);
  CHECK(here_after("7") == all[7]);
  CHECK(here_after("0") == all[7]);
  CHECK(here_after("x") == all[7]);
  CHECK(here_after(std::to_string(all.size())) == "");
  CHECK(here_after("") == all[1]);
}

TEST_CASE("course: without UTF-8 tables, maps and curves are ASCII, in 80 columns") {
  for (const char* name :
       {"attention/one_head", "attention/what_can_be_raised", "attention/noisy_keys",
        "attention/residual_and_block", "engine/gradient_check"}) {
    const Result result = run({(lesson_programs / name).string()}, {{"LC_ALL", "C"}});
    INFO(name);
    CHECK(result.status == 0);
    check_layout(lines_of(result.out), true);
  }
}

TEST_CASE("course: the README quotes what lessons print, lists all of them, shows all pictures") {
  const auto all = quotations("examples/README.md", "```lesson ");
  CHECK(all.size() >= 5);
  for (const auto& [lesson, lines] : all) {
    INFO(lesson);
    CHECK_FALSE(lines.empty());
    CHECK(missing_in(output_of(lesson), lines) == "");
  }
  const Lines readme = lines_in(source_root / "examples/README.md");
  Lines listed = lessons_of_the_course(), there;
  for (const auto& entry : fs::recursive_directory_iterator(source_root / "examples/lessons"))
    if (const fs::path path = entry.path(); path.extension() == ".md")
      there.push_back(path.parent_path().filename().string() + "/" + path.stem().string());
  std::sort(listed.begin(), listed.end());
  std::sort(there.begin(), there.end());
  CHECK(listed == there);
  for (const auto& entry : fs::recursive_directory_iterator(source_root / "examples/pictures")) {
    const fs::path path = entry.path().lexically_relative(source_root / "examples");
    INFO(path);
    CHECK((!entry.is_regular_file() || has(joined(readme), "(" + path.string() + ")")));
  }
}

TEST_CASE("course: what READMEs quote of make run is what birds prints, one of them all of it") {
  Lines printed = lines_of(birds_story());
  check_layout(printed);
  while (!printed.empty() && printed.back().empty()) printed.pop_back();
  CHECK((has(birds_story(), "█") && !has(birds_story(), "\x1b[")));
  CHECK(missing_in(printed, quotations("README.md", "```birds").at(""), 0.1) == "");
  const Lines all = quotations("examples/birds/README.md", "```birds").at("");
  REQUIRE(all.size() == printed.size());
  double slack = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].starts_with("3. ")) slack = 0.1;  // from here on a trained model speaks
    INFO("quoted:  " << all[i] << "\nprinted: " << printed[i]);
    CHECK(same_line(all[i], printed[i], slack));
  }
}

TEST_CASE("course: NOTES.md and GLOSSARY.md name only lessons that exist") {
  const Lines there = lessons_of_the_course();
  for (const char* page : {"examples/NOTES.md", "examples/GLOSSARY.md"}) {
    const std::string text = joined(lines_in(source_root / page));
    const Lines named = found_in(text, "`((attention|engine)/[a-z_]+)`");
    for (const std::string& name : named) {
      INFO(page << ": " << name);
      CHECK(std::count(there.begin(), there.end(), name) == 1);
    }
    CHECK(named.size() > 20);
  }
}

TEST_CASE("course: the items of each note are numbered from 1, and note 004's remarks are judged") {
  std::map<std::string, int> items;
  for (const std::string& line : lines_in(source_root / "examples/NOTES.md")) {
    if (!line.starts_with("**00")) continue;
    INFO(line);
    const std::string note = line.substr(2, 3);
    CHECK(line.starts_with("**" + note + "." + std::to_string(++items[note]) + " "));
  }
  CHECK(items == std::map<std::string, int>{
                     {"000", 39}, {"001", 22}, {"002", 21}, {"003", 10}, {"004", 14}});
  const auto notes = items_of_the_notes();
  CHECK(has(joined(notes.at("004.9")), "anything in the brain"));
  CHECK(has(joined(notes.at("004.10")), "current task at hand"));
  CHECK(has(joined(notes.at("004.10")), "descriptions of the kinds of prediction tasks"));
}

TEST_CASE("course: the numbers of a note's table stand in the output of a program that it names") {
  int compared = 0;
  for (const auto& [name, lines] : items_of_the_notes()) {
    const std::string text = joined(lines);
    const std::string programs = text.substr(std::min(text.find("Runs in: "), text.size()));
    std::vector<Printed> printed;
    for (const std::string& program : found_in(programs, "`(birds|(?:attention|engine)/[a-z_]+)`"))
      for (const Printed& number :
           decimals_in(program == "birds" ? birds_story() : joined(output_of(program))))
        printed.push_back(number);
    for (const std::string& line : lines) {
      if (!line.starts_with("| ") || !has(text, "Runs in: ")) continue;
      for (const Printed& number : decimals_in(line)) {
        INFO(name << ": " << line << ": " << number.value);
        CHECK(is_among(number, printed));
        ++compared;
      }
    }
  }
  CHECK(compared > 74);
}

TEST_CASE("course: a lesson prints the meaning of each term that it introduces, as GLOSSARY.md") {
  std::size_t printed = 0;
  for (const std::string& lesson : lessons_of_the_course())
    printed += texts_behind("   new word: ", output_of(lesson)).size();
  const std::vector<Term> terms = terms_of_the_lessons();
  for (const Term& term : terms) {
    INFO(term.lesson << ": " << term.name);
    const Lines words = texts_behind("   new word: ", output_of(term.lesson));
    CHECK(std::count(words.begin(), words.end(), term.name + ". " + term.meaning) == 1);
  }
  CHECK(terms.size() == printed);
  CHECK(printed > 90);
}

TEST_CASE("course: no lesson uses a term before the lesson that introduces it") {
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

// In README.md, at twenty lines a minute. Two minutes more or fewer are allowed, so that not every
// change of a file changes README.md.
TEST_CASE("course: the reading path's minutes are its lines, twenty a minute") {
  int rows = 0, table = 0, announced = 0;
  for (const std::string& line : lines_in(source_root / "README.md")) {
    std::smatch found;
    if (std::regex_search(line, found, std::regex(" takes? ([0-9]+) minutes"))) {
      CHECK(table == announced);
      announced = std::stoi(found[1]), table = 0;
    }
    if (announced == 0 || !std::regex_search(line, found, std::regex("^\\| ([0-9]+) \\|")))
      continue;
    INFO(line);
    const int minutes = std::stoi(found[1]);
    std::string folder;  // of a name without one: that of the file before it
    std::size_t lines = 0;
    for (std::string path : found_in(line, "`([a-z_/]+\\.(h|cpp))`")) {
      if (std::regex_search(path, std::regex("^(engine|nn|examples)/")))
        folder = path.substr(0, path.rfind('/') + 1);
      else
        path.insert(0, folder);
      REQUIRE(fs::exists(source_root / path));
      lines += lines_in(source_root / path).size();
    }
    CHECK(std::abs(minutes - static_cast<int>(lines + 19) / 20) <= 2);
    table += minutes;
    ++rows;
  }
  CHECK(table == announced);
  CHECK(rows == 15);
}

}  // namespace course_tests
