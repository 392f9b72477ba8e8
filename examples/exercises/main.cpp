// The program behind `make exercises`: an overview of all exercises, or one of them with its question,
// the present answer in numbers, the verdict and hints.
//
// Not here: questions (the files beside this one) and checks (graders/). A learner edits only the
// numbered files. Next: graders/exercise_list.h.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/support/options.h"
#include "examples/support/run_main.h"
#include "examples/support/table.h"

namespace {

using exercises::Exercise, exercises::Grading, exercises::State;
using support::Lesson, support::Paint;

const std::string folder = "examples/exercises/";

void print(const std::string& line) { std::printf("%s\n", line.c_str()); }

std::string path_of(const Exercise& exercise) { return folder + exercise.file + ".cpp"; }

State graded_silently(const Exercise& exercise) {
  Lesson lesson(Paint{}, [](const std::string&) {});
  Grading grading(lesson);
  exercise.grade(grading);
  return grading.state();
}

std::string word_of(State state, Paint paint) {
  switch (state) {
    case State::solved:
      return paint.good("solved");
    case State::open:
      return "open";
    default:
      return paint.bad("not yet");
  }
}

int show_all(const std::vector<Exercise>& all, Paint paint) {
  support::Table table({{"N", support::Table::Align::right}, {"exercise"}, {"state"}, {"file"}});
  std::size_t solved = 0, next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const State state = graded_silently(all[i]);
    solved += state == State::solved ? 1 : 0;
    if (state != State::solved && next == 0) next = i + 1;
    table.row({std::to_string(i + 1), all[i].title, word_of(state, paint), all[i].file + ".cpp"});
  }
  print("Exercises on attention. The files to edit are in " + folder + ".\n");
  print(table.text());
  print(std::to_string(solved) + " of " + std::to_string(all.size()) + " solved.");
  if (next > 0) {
    const std::string number = std::to_string(next);
    print("Next: make exercises N=" + number + "     (a hint: make exercises N=" + number +
          " HINT=1)");
  }
  return 0;
}

/// The comment at the top of the learner's file, without its first line, which is the title.
void show_question(const Exercise& exercise) {
  std::ifstream file(FLEDGE_EXERCISES "/" + exercise.file + ".cpp");
  std::string line;
  std::getline(file, line);
  if (!file) print("\n   The question stands at the top of " + path_of(exercise) + ".");
  while (std::getline(file, line) && line.rfind("//", 0) == 0)
    print(line.size() > 3 ? "   " + line.substr(3) : "");
}

void show_hints(const Exercise& exercise, std::int64_t count) {
  const std::size_t all = exercise.hints.size();
  for (std::size_t i = 0; i < all && i < static_cast<std::size_t>(count); ++i)
    print("\n" + support::wrapped("   Hint " + std::to_string(i + 1) + " of " +
                                      std::to_string(all) + ". " + exercise.hints[i],
                                  80, 3));
  if (count >= static_cast<std::int64_t>(all)) print("\n   That was the last hint.");
}

int show_one(const Exercise& exercise, std::size_t number, std::int64_t hints, Paint paint) {
  print(paint.bold("Exercise " + std::to_string(number) + ". " + exercise.title) + "   (" +
        exercise.source + ")");
  show_question(exercise);
  print("\n" + paint.bold("Your answer") + "\n");
  Lesson lesson(paint);
  Grading grading(lesson);
  exercise.grade(grading);
  show_hints(exercise, hints);
  const State state = grading.state();
  print("\nExercise " + std::to_string(number) + ": " + word_of(state, paint) + ".");
  if (state == State::solved) return 0;
  const std::string again = "make exercises N=" + std::to_string(number);
  print((state == State::open ? "Replace FILL in " : "Change ") + path_of(exercise) + ".");
  print("Then type:     " + again);
  const auto all_hints = static_cast<std::int64_t>(exercise.hints.size());
  if (hints < all_hints)
    print((hints == 0 ? "A hint:        " : "The next hint: ") + again +
          " HINT=" + std::to_string(hints + 1));
  return 1;
}

/// The exercise that the user names, from 1.
std::size_t number_from(const std::string& word, std::size_t count) {
  std::size_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || rest != end || number < 1 || number > count)
    support::refuse_usage("there is no exercise " + support::quoted(word),
                          "the exercises are numbered 1 to " + std::to_string(count));
  return number;
}

/// The options; a message about wrong ones also says what `make exercises` takes.
void parse(support::Options& options, int argc, const char* const* argv) {
  try {
    options.parse(argc, argv);
  } catch (const support::UsageError& error) {
    const std::string advice = error.advice.empty() ? "" : error.advice + "; ";
    support::refuse_usage(error.what(), advice + "with make: make exercises N=3 HINT=1");
  }
}

/// How many hints the user asks for; 0 without the option.
std::int64_t hints_from(const std::string& word) {
  if (word.empty()) return 0;
  if (word.size() != 1 || word[0] < '1' || word[0] > '9')
    support::refuse_usage(
        "HINT (--hint) must be a whole number from 1 to 9, not " + support::quoted(word),
        "HINT=1 prints the first hint: make exercises N=3 HINT=1");
  return word[0] - '0';
}

int show(int argc, const char* const* argv) {
  std::string hint;
  support::Options options{"exercises", "Exercises on attention that check themselves."};
  options.arguments("N", 0, 1);
  options.add("--hint", "H", hint, "print the first H hints of exercise N, 1 to 9");
  options.exit_statuses("0 done, 1 exercise N is not solved, 2 wrong usage");
  options.example("exercises", "all exercises, a line each");
  options.example("exercises 3 --hint 1", "exercise 3 and its first hint");
  parse(options, argc, argv);
  const std::int64_t hints = hints_from(hint);
  const std::vector<Exercise> all = exercises::all_exercises();
  const Paint paint{support::colour_wanted(stdout)};
  if (options.arguments().empty()) {
    if (hints > 0)
      support::refuse_usage("a hint belongs to one exercise",
                            "name it: make exercises N=1 HINT=1, or exercises 1 --hint 1");
    return show_all(all, paint);
  }
  const std::size_t number = number_from(options.arguments()[0], all.size());
  return show_one(all[number - 1], number, hints, paint);
}

}  // namespace

int main(int argc, char** argv) {
  return support::run_main("exercises", [&] { return show(argc, argv); });
}
