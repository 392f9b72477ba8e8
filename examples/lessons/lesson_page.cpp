#include "examples/lessons/lesson_page.h"

#include <strings.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "examples/support/options.h"

namespace support {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw InputError("cannot read " + path, "run the lesson where it was built");
  return text.str();
}

/// A line of stdin without blanks around it. On a terminal the reader sees the prompt.
std::string line_of_stdin(const char* prompt) {
  if (is_terminal(stdin)) std::printf("%s", prompt), std::fflush(stdout);
  std::string line;
  for (int c = std::getchar(); c != '\n' && c != EOF; c = std::getchar())
    if (c > ' ' || !line.empty()) line += static_cast<char>(c);
  return line.erase(line.find_last_not_of(" \r\t") + 1);
}

/// The shortest choice that begins like the line, or else that has its words; else a number without its
/// blanks, or the first word.
std::string chosen(const Guess& guess, std::string line) {
  std::string best;
  for (const std::string& choice : guess.choices)
    if (!line.empty() && strncasecmp(choice.c_str(), line.c_str(), line.size()) == 0 &&
        (best.empty() || choice.size() < best.size()))
      best = choice;
  for (const std::string& choice : guess.choices)
    if (best.empty() && (" " + choice + " ").find(" " + line + " ") != std::string::npos)
      best = choice;
  if (!best.empty()) return best;
  if (line.find_first_not_of("0123456789.,-/% ") == std::string::npos) std::erase(line, ' ');
  return line.substr(0, line.find(' '));
}

/// Returns the guesses; none without `ask`.
std::vector<std::string> print_opening(const LessonText& text, const Lesson& to, bool ask) {
  to.print(to.paint().bold(text.title()) + "\n");
  to.print_labelled("   question: ", without_links(text.question()));
  to.print_labelled("   predict:  ", without_links(text.prediction()));
  std::vector<std::string> given;
  for (const Guess& guess : text.guesses()) {
    std::string choices = ask && guess.choices.empty() ? " (0.5 or 0,5" : "";
    for (const std::string& choice : guess.choices)
      choices += (choices.empty() ? " (" : " | ") + choice;
    to.print_labelled("   guess:    ", guess.question + choices + (choices.empty() ? "" : ")"));
    given.push_back(ask ? chosen(guess, line_of_stdin("   > ")) : "");
  }
  to.print("");
  return given;
}

void print_closing(const LessonText& text, const Lesson& to,
                   const std::vector<std::string>& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Guess& guess = text.guesses()[i];
    to.print_labelled(i == 0 ? "\n   answer: " : "   answer: ",
                      guess.question + (guess.question.ends_with('?') ? " " : ": ") +
                          text.verdict(guess, given[i]));
  }
  to.print("\n" + to.paint().bold("Read in the code"));
  for (const SourcePlace& place : text.reading())
    to.print_labelled("   " + place.file + ", " + place.name + ": ", without_links(place.what));
  if (const Trial& trial = text.trial(); !trial.arguments.empty()) {
    to.print("\n" + to.paint().bold("Try") + "\n   " + text.command());
    to.print_labelled("      ", without_links(trial.what));
  }
  const Pointer& exercise = text.exercise();
  if (!exercise.name.empty())
    to.print_labelled("\nExercise: ",
                      "make exercises N=" + exercise.name + ": " + without_links(exercise.what));
}

int print_verdict(const std::string& name, const Lesson& to, bool needs_claims) {
  const int wrong = to.false_claims(), claims = to.claims();
  std::string verdict = counted(claims, "claim") + (claims == 1 ? " holds" : " hold");
  if (wrong > 0) verdict = std::to_string(wrong) + " of " + counted(claims, "claim") + " FALSE";
  if (claims == 0) verdict = "nothing was claimed";
  if (claims > 0 || needs_claims) to.print("\n" + name + ": " + verdict);
  return wrong == 0 && (claims > 0 || !needs_claims) ? 0 : 1;
}

/// The last two parts, without an ending: attention/softmax.
std::string lesson_name(const std::filesystem::path& path) {
  return path.parent_path().filename().string() + "/" + path.stem().string();
}

}  // namespace

LessonProgram::LessonProgram(std::vector<Part> parts_of_text, WithArguments run_with_arguments,
                             const char* source)
    : parts(std::move(parts_of_text)), with_arguments(run_with_arguments) {
  all[lesson_name(source)] = this;
}

int run_lesson(int argc, const char* const* argv, const std::string& in_folder) {
  const std::string name = lesson_name(std::filesystem::absolute(argv[0]).lexically_normal());
  const std::string folder = in_folder.empty() ? FLEDGE_LESSONS : in_folder;
  return run_main(name, [&] {
    const auto found = LessonProgram::all.find(name);
    if (found == LessonProgram::all.end())
      refuse_usage("no LessonProgram has this name", "call it as build/lessons/attention/softmax");
    const auto& [parts, with_arguments] = *found->second;
    Lesson lesson(Paint{colour_wanted(stdout)});
    LessonText text(name, contents(folder + "/" + name + ".md"),
                    contents(folder + "/../GLOSSARY.md"), lesson);
    text.require_targets(folder);
    Options options(name, text.title());
    bool ask = false;
    std::string json;
    options.add("--ask", "", ask, "takes your guess, and waits between the parts");
    options.add("--json", "FILE", json, "also writes the lesson as JSON, for the page");
    if (with_arguments != nullptr) options.arguments("WORDS", 0, 64);
    options.exit_statuses("0 every claim holds, 1 one does not, 2 wrong usage");
    options.parse(argc, argv);
    const std::vector<std::string>& given = options.arguments();
    if (options.given().size() + given.size() > 1 && (ask || !json.empty()))
      refuse_usage("--ask and --json stand alone", "leave out the other options and arguments");
    if (!given.empty()) {
      std::string arguments;
      for (const std::string& word : given) arguments += (arguments.empty() ? "" : " ") + word;
      text.begin_trial();
      with_arguments(text, arguments);
      text.finish();
      return print_verdict(name, lesson, false);
    }
    const std::vector<std::string> guesses = print_opening(text, lesson, ask);
    if (ask && is_terminal(stdin) && is_terminal(stdout))
      text.before_part = [] { line_of_stdin("\n   Press return to go on."); };
    text.print_known();
    for (const Part part : parts) part(text);
    text.finish();
    print_closing(text, lesson, guesses);
    if (std::ofstream out(json, std::ios::binary); !json.empty() && !(out << text.json() << '\n'))
      throw InputError("cannot write " + json, "name a file that can be written");
    return print_verdict(name, lesson, true);
  });
}

}  // namespace support
