// The program behind `make exercises`: an overview of all exercises, or one of them with its question,
// the present answer in numbers, the verdict and hints.
#include <cstdint>
#include <cstdio>

#include "examples/exercises/graders/grading.h"
#include "examples/support/options.h"

namespace {

using exercises::Exercise, exercises::Grading, exercises::State;
using support::Lesson, support::Paint;

const std::string folder = "examples/exercises/";

void print(const std::string& line) { std::printf("%s\n", line.c_str()); }

std::string word_of(State state, Paint paint) {
  if (state == State::open) return "open";
  return state == State::solved ? paint.good("solved") : paint.bad("not yet");
}

int show_all(const std::vector<Exercise>& all, Paint paint) {
  support::Table table({{"N", support::Table::Align::right}, {"exercise"}, {"state"}, {"file"}});
  std::size_t solved = 0, next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Lesson silent(Paint{}, [](const std::string&) {});
    const State state = Grading(silent, all[i]).grade();
    solved += state == State::solved ? 1 : 0;
    if (state != State::solved && next == 0) next = i + 1;
    table.row(
        {std::to_string(i + 1), all[i].question[0], word_of(state, paint), all[i].file + ".cpp"});
  }
  print("Exercises on attention and the engine. Edit the files in " + folder + ".\n");
  print(table.text());
  print(std::to_string(solved) + " of " + std::to_string(all.size()) + " solved.");
  const std::string command = "make exercises N=" + std::to_string(next);
  if (next > 0) print("Next: " + command + "     (a hint: " + command + " HINT=1)");
  return 0;
}

int show_one(const Exercise& exercise, const std::string& number, std::int64_t hints, Paint paint) {
  print(paint.bold("Exercise " + number + ". " + exercise.question[0]) + "   (" +
        exercise.sentences.at("source") + ")");
  for (std::size_t i = 1; i < exercise.question.size(); ++i)
    print((exercise.question[i].empty() ? "" : "   ") + exercise.question[i]);
  print("\n" + paint.bold("Your answer") + "\n");
  Lesson lesson(paint);
  const State state = Grading(lesson, exercise).grade();
  const auto all_hints = static_cast<std::int64_t>(exercise.hints.size());
  for (std::int64_t i = 0; i < hints && i < all_hints; ++i)
    lesson.say("\nHint " + std::to_string(i + 1) + " of " + std::to_string(all_hints) + ". " +
               exercise.hints[static_cast<std::size_t>(i)]);
  if (hints >= all_hints) print("\n   That was the last hint.");
  print("\nExercise " + number + ": " + word_of(state, paint) + ".");
  if (state == State::solved) return 0;
  const std::string again = "make exercises N=" + number;
  print((state == State::open ? "Replace FILL in " : "Change ") + folder + exercise.file + ".cpp.");
  print("Then type:     " + again);
  if (hints < all_hints)
    print((hints == 0 ? "A hint:        " : "The next hint: ") + again +
          " HINT=" + std::to_string(hints + 1));
  return 1;
}

int show(int argc, const char* const* argv) {
  std::int64_t hints = 0;
  support::Options options{"exercises",
                           "Exercises on attention and the engine that check themselves."};
  options.arguments("N", 0, 1);
  options.add("--hint", "H", hints, "print the first H hints of exercise N", {1, 9});
  options.without_default({"--hint"});
  options.exit_statuses("0 done, 1 exercise N is not solved, 2 wrong usage");
  options.example("exercises", "all exercises, a line each");
  options.example("exercises 3 --hint 1", "exercise 3 and its first hint");
  try {
    options.parse(argc, argv);
  } catch (const support::UsageError& error) {
    support::refuse_usage(error.what(), error.advice + "; with make: make exercises N=3 HINT=1");
  }
  const std::vector<Exercise> all = exercises::all_exercises(FLEDGE_EXERCISES);
  const Paint paint{support::colour_wanted(stdout)};
  if (options.arguments().empty()) {
    if (hints > 0)
      support::refuse_usage("a hint belongs to one exercise",
                            "name it: make exercises N=1 HINT=1, or exercises 1 --hint 1");
    return show_all(all, paint);
  }
  const std::string word = options.arguments()[0];
  std::int64_t number = 0;
  if (!support::number_variable(number, {1, static_cast<double>(all.size())}).set(word).empty())
    support::refuse_usage("there is no exercise " + support::quoted(word),
                          "the exercises are numbered 1 to " + std::to_string(all.size()));
  return show_one(all[static_cast<std::size_t>(number) - 1], std::to_string(number), hints, paint);
}

}  // namespace

int main(int argc, char** argv) {
  return support::run_main("exercises", [&] { return show(argc, argv); });
}
