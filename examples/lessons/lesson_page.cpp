#include "examples/lessons/lesson_page.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "examples/support/run_main.h"

namespace support {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw InputError("cannot read " + path, "run the lesson where it was built");
  return text.str();
}

void print_opening(const LessonText& text, const Lesson& to, bool wait) {
  to.print(to.paint().bold(text.title()) + "\n");
  to.print_labelled("   question: ", text.question());
  to.print_labelled("   predict:  ", text.prediction());
  if (wait) {
    to.print_labelled("   ", "Write your prediction down, then press the return key.");
    for (int c = std::getchar(); c != '\n' && c != EOF; c = std::getchar()) {
    }
  }
  to.print("");
}

void print_closing(const std::string& name, const LessonText& text, const Lesson& to) {
  to.print("\n" + to.paint().bold("Read in the code"));
  for (const SourcePlace& place : text.reading())
    to.print_labelled("   " + place.file + ", " + place.name + ": ", place.what);
  if (!text.trials().empty()) to.print("\n" + to.paint().bold("Try"));
  for (const Trial& trial : text.trials()) {
    to.print("   build/lessons/" + name + " " +
             (trial.option.empty() ? trial.value : trial.option + " " + shell_word(trial.value)));
    to.print_labelled("      ", trial.what);
  }
}

int print_verdict(const std::string& name, const Lesson& to, bool needs_claims) {
  const int wrong = to.false_claims(), claims = to.claims();
  std::string verdict = counted(claims, "claim") + (claims == 1 ? " holds" : " hold");
  if (wrong > 0) verdict = std::to_string(wrong) + " of " + counted(claims, "claim") + " FALSE";
  if (claims == 0) verdict = "nothing was claimed";
  if (claims > 0 || needs_claims) to.print("\n" + name + ": " + verdict);
  return wrong == 0 && (claims > 0 || !needs_claims) ? 0 : 1;
}

/// The value of an option to play with: one of the three.
struct PlayValue {
  double number = 0;
  std::int64_t whole_number = 0;
  std::string text;
};

/// Adds the option of a play, or its arguments.
void add_play(Options& options, const Play& play, const Trial& trial, PlayValue& value) {
  if (play.option.empty()) {
    const auto blanks = std::count(trial.value.begin(), trial.value.end(), ' ');
    return options.arguments("NUMBERS", 0, static_cast<std::size_t>(blanks) + 1);
  }
  switch (play.run.index()) {
    case 0:
      options.add(play.option, "X", value.number, trial.what, play.limits);
      break;
    case 1:
      options.add(play.option, "N", value.whole_number, trial.what, play.limits);
      break;
    default:
      options.add(play.option, "TEXT", value.text, trial.what);
      options.is_text();
  }
  options.without_default();
}

/// Runs a play with its value.
struct RunPlay {
  LessonText& to;
  const PlayValue& value;
  void operator()(void (*run)(LessonText&, double)) const { run(to, value.number); }
  void operator()(void (*run)(LessonText&, std::int64_t)) const { run(to, value.whole_number); }
  void operator()(void (*run)(LessonText&, const std::string&)) const { run(to, value.text); }
};

}  // namespace

LessonProgram::LessonProgram(std::vector<Part> parts_of_text,
                             std::vector<Play> options_to_play_with, const char* source)
    : parts(std::move(parts_of_text)), plays(std::move(options_to_play_with)) {
  const std::filesystem::path path(source);
  name = path.parent_path().filename().string() + "/" + path.stem().string();
  of_this_program = this;
}

int run_lesson(int argc, const char* const* argv, const LessonProgram& program,
               const std::string& in_folder) {
  const std::string& name = program.name;
  const std::vector<Play>& plays = program.plays;
  const std::string folder = in_folder.empty() ? FLEDGE_LESSONS : in_folder;
  return run_main(name, [&] {
    Lesson lesson(Paint{colour_wanted(stdout)});
    LessonText text(name, contents(folder + "/" + name + ".md"),
                    contents(folder + "/../GLOSSARY.md"), lesson);
    Options options(name, text.title());
    bool ask = false;
    options.add("--ask", "", ask, "waits after the question, so that you can predict");
    std::vector<PlayValue> values(plays.size());
    for (std::size_t i = 0; i < plays.size(); ++i)
      add_play(options, plays[i], text.trial(plays[i].option), values[i]);
    options.exit_statuses("0 every claim holds, 1 one does not, 2 wrong usage");
    options.parse(argc, argv);
    const std::set<std::string> given = options.given();
    if (ask && given.size() + options.arguments().size() > 1)
      refuse_usage("--ask stands alone", "leave out the other options");
    bool played = false;
    for (std::size_t i = 0; i < plays.size(); ++i) {
      if (!given.contains(plays[i].option) &&
          (!plays[i].option.empty() || options.arguments().empty()))
        continue;
      for (const std::string& word : options.arguments())
        values[i].text += (values[i].text.empty() ? "" : " ") + word;
      text.begin_trial(plays[i].option);
      std::visit(RunPlay{text, values[i]}, plays[i].run);
      text.finish();
      played = true;
    }
    if (played) return print_verdict(name, lesson, false);
    print_opening(text, lesson, ask);
    text.print_known();
    for (const Part part : program.parts) part(text);
    text.finish();
    print_closing(name, text, lesson);
    return print_verdict(name, lesson, true);
  });
}

}  // namespace support
